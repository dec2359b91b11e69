"""Moving an account to another stamp: all its catalogs and their forks, history and grants.

Files stay where they are, and so do all ids. The steps, and what a move finds that was cut short:

1. The account is frozen. Services that do not know yet have learnt it when the pause is over.
2. In the old stamp its catalogs are locked, in the new one all rows are written, in one
   transaction. Cut short before its end, nothing is there; after it, rows that nobody asks for,
   which the next try replaces.
3. The home metastore says that the account lives in the new stamp: from then on it does.
4. After another pause the rows in the old stamp are erased. Cut short, the next try does it.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from forklake.crucible.stamps import FRESH_SECONDS, Stamps
from forklake.errors import AlreadyExists, Conflict, InvalidInput
from forklake.model.ids import CatalogId
from forklake.store import moving as rows
from forklake.store import stamps as store
from forklake.store.catalogs import catalogs_of, find_catalogs, taken
from forklake.store.data_paths import claim_data_path
from forklake.store.database import Connection, Database
from forklake.store.phases import reached
from forklake.store.stamps import Account, State

# Long enough for every service to have learnt what the home metastore says.
PAUSE_SECONDS = 2 * FRESH_SECONDS


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved; nothing where the account lived there already."""

    account: str
    stamp: str
    catalogs: int = 0
    rows: int = 0


def move(stamps: Stamps, name: str, stamp: str, *, pause: float = PAUSE_SECONDS) -> Moved:
    """Move an account to a stamp; a move that was cut short is taken up again.

    To where it lives, it is only made sure that the account is whole and can be used.
    """
    stamps.metastore(stamp)
    with _alone(stamps, name) as is_alone:
        if not is_alone:
            raise Conflict(
                f"The account '{name}' is being moved by somebody else.", remedy="Wait for them."
            )
        mover = _Mover(stamps, name, pause)
        if mover.account.stamp == stamp:
            mover.settle()
            return Moved(name, stamp)
        if mover.account.state is State.CLEANING or mover.account.other_stamp not in {None, stamp}:
            mover.settle()
        return mover.to(stamp)


def settle(stamps: Stamps) -> list[str]:
    """Bring moves to an end that were cut short; which accounts. Those under way go on."""
    settled = []
    for account in stamps.accounts():
        if account.state is not State.READY:
            with _alone(stamps, account.name) as is_alone:
                if is_alone:
                    _Mover(stamps, account.name).settle()
                    settled.append(account.name)
    return settled


@contextmanager
def _alone(stamps: Stamps, name: str) -> Iterator[bool]:
    number = CatalogId(2**40 + zlib.crc32(name.encode()))  # no catalog has it
    with stamps.home.database.upkeep(number) as is_ours:
        yield is_ours


class _Mover:
    """Moves an account, or brings a move to an end."""

    def __init__(self, stamps: Stamps, name: str, pause: float = PAUSE_SECONDS) -> None:
        self.account = stamps.find_account(name)
        self._stamps = stamps
        self._pause = pause
        with stamps.home.database.reading() as connection:
            self._principals = store.principals_of_account(connection, name)

    def to(self, stamp: str) -> Moved:
        """Freeze, copy, switch, erase."""
        old, new = self.account.stamp, self._database(stamp)
        self._note(replace(self.account, state=State.MOVING, other_stamp=stamp))
        reached("move.frozen")
        time.sleep(self._pause)
        with self._database(old).writing() as source:
            with self._freed_if_refused():
                ids = self._locked(source)
                reached("move.locked")
                store.raise_ids(new, self._stamps.number(stamp), store.last_ids(source))
                count = self._copy(source, new, ids)
            reached("move.arrived")
            self._note(replace(self.account, stamp=stamp, state=State.CLEANING, other_stamp=old))
            reached("move.switched")
            time.sleep(self._pause)
            self._erase(source, ids)
        self._note(Account(self.account.name, stamp))
        reached("move.cleaned")
        return Moved(self.account.name, stamp, len(ids), count)

    def settle(self) -> None:
        """Erase what a move that was cut short has left in the stamp where the account is not."""
        if self.account.other_stamp is not None:
            with self._database(self.account.other_stamp).writing() as source:
                self._erase(source, self._locked(source))
        if self.account.state is not State.READY:
            self._note(Account(self.account.name, self.account.stamp))

    def _note(self, account: Account) -> None:
        """Let the home metastore know what happens."""
        store.write_account(self._stamps.home.database, account)
        self.account = account

    @contextmanager
    def _freed_if_refused(self) -> Iterator[None]:
        """What cannot be moved need not stay frozen; nothing was written by then."""
        try:
            yield
        except (InvalidInput, AlreadyExists):
            self._note(Account(self.account.name, self.account.stamp))
            raise

    def _database(self, stamp: str) -> Database:
        return self._stamps.metastore(stamp).database

    def _locked(self, source: Connection) -> list[CatalogId]:
        family = rows.lock_family(source, self._principals)
        if family.strangers:
            raise InvalidInput(
                f"The account '{self.account.name}' cannot move: of what it has, the catalog"
                f" '{family.strangers[0]}' was forked, or the other way round, and somebody else"
                " owns it.",
                remedy="Catalogs that share files stay together: drop it, or give it to them.",
                catalogs=family.strangers[:100],
            )
        return family.ids

    def _copy(self, source: Connection, new: Database, ids: Sequence[CatalogId]) -> int:
        with new.writing() as target:
            rows.erase_rows(target, ids, self._principals)  # of a try that was cut short
            self._require_names(source, target, ids)
            folders = self._folders(source, target, ids)
            count = rows.copy_rows(source, target, ids, self._principals, folders)
            reached("move.copied")
            target.commit()
        return count

    def _require_names(
        self, source: Connection, target: Connection, ids: Sequence[CatalogId]
    ) -> None:
        names = [row.catalog_name for row in catalogs_of(source, ids)]
        found = find_catalogs(target, names)
        if found:
            raise taken([row.catalog_name for row in found])

    def _folders(
        self, source: Connection, target: Connection, ids: Sequence[CatalogId]
    ) -> dict[CatalogId, str]:
        """Other folders for the new files of catalogs whose own one is in use in the new stamp.

        Beneath the same data path there is none: the clean-up of one would remove files of both.
        """
        own = rows.folders_of(source, ids)
        used = rows.paths_in_use(target, [path for _, _, path, _ in own], ids)
        for data_path in {data_path for *_, data_path in own if data_path is not None}:
            claim_data_path(target, data_path)
        both = [path for _, _, path, data_path in own if path in used and used[path] == data_path]
        if both:
            raise AlreadyExists(
                f"The folder '{both[0]}' beneath its data path is one of another catalog there.",
                remedy="Give each stamp a data path of its own.",
            )
        return {number: f"{unique}/" for number, unique, path, _ in own if path in used}

    def _erase(self, source: Connection, ids: Sequence[CatalogId]) -> None:
        folders = rows.folders_left(source, ids)
        rows.erase_rows(source, ids, self._principals)
        rows.leave_folders(source, folders)
        reached("move.erased")
        source.commit()
