"""Move of an account to another stamp, with its catalogs and their forks, history and grants.

Files and ids do not change. A move has four steps, and each can be interrupted:

1. Freeze the account. After a pause, every service process has learned about it.
2. Lock its catalogs in the old stamp, and write all rows to the new stamp in one transaction. If
   interrupted before the commit, nothing was written; if after it, the next try replaces the rows,
   which are not used yet.
3. Record the new stamp in the home metastore. From then on the new stamp is used.
4. After another pause, delete the rows in the old stamp. If interrupted, the next try does it.
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
from forklake.store import catalog_families as rows
from forklake.store import stamps as store
from forklake.store.catalogs import catalogs_of, find_catalogs, taken
from forklake.store.data_paths import claim_data_path
from forklake.store.database import Connection, Database
from forklake.store.phases import reached
from forklake.store.stamps import Account, State

# Long enough for every service process to have read the new state from the home metastore.
PAUSE_SECONDS = 2 * FRESH_SECONDS


@dataclass(frozen=True, slots=True)
class MoveResult:
    """Result of a move: the counts are 0 if the account was in the stamp already."""

    account: str
    stamp: str
    catalogs: int = 0
    rows: int = 0


def move_account(
    stamps: Stamps, name: str, stamp: str, *, pause: float = PAUSE_SECONDS
) -> MoveResult:
    """Move an account to a stamp, or resume an interrupted move.

    If the account is in the stamp already, only finish what an interrupted move has left.
    """
    stamps.metastore(stamp)
    with _exclusive_lock(stamps, name) as is_locked:
        if not is_locked:
            raise Conflict(
                f"Account '{name}' is already being moved by another process.",
                remedy="Wait until that move has ended, and try again.",
            )
        mover = _AccountMove(stamps, name, pause)
        if mover.account.stamp == stamp:
            mover.finish()
            return MoveResult(name, stamp)
        if mover.account.state is State.CLEANING or mover.account.other_stamp not in {None, stamp}:
            mover.finish()
        return mover.move_to(stamp)


def finish_moves(stamps: Stamps) -> list[str]:
    """Finish interrupted moves and return the names of their accounts. Skip running moves."""
    settled = []
    for account in stamps.accounts():
        if account.state is not State.READY:
            with _exclusive_lock(stamps, account.name) as is_locked:
                if is_locked:
                    _AccountMove(stamps, account.name).finish()
                    settled.append(account.name)
    return settled


@contextmanager
def _exclusive_lock(stamps: Stamps, name: str) -> Iterator[bool]:
    # The lock is that of a catalog id which is far beyond any real one.
    number = CatalogId(2**40 + zlib.crc32(name.encode()))
    with stamps.home.database.upkeep(number) as is_ours:
        yield is_ours


class _AccountMove:
    """Move of one account, new or interrupted."""

    def __init__(self, stamps: Stamps, name: str, pause: float = PAUSE_SECONDS) -> None:
        self.account = stamps.find_account(name)
        self._stamps = stamps
        self._pause = pause
        with stamps.home.database.reading() as connection:
            self._principals = store.principals_of_account(connection, name)

    def move_to(self, stamp: str) -> MoveResult:
        """Freeze the account, copy its rows, switch to the new stamp, delete the old rows."""
        old, new = self.account.stamp, self._database(stamp)
        self._write_state(replace(self.account, state=State.MOVING, other_stamp=stamp))
        reached("move.frozen")
        time.sleep(self._pause)
        with self._database(old).writing() as source:
            with self._unfreeze_on_refusal():
                ids = self._lock_catalogs(source)
                reached("move.locked")
                store.raise_ids(new, self._stamps.number_of(stamp), store.last_ids(source))
                count = self._copy(source, new, ids)
            reached("move.arrived")
            self._write_state(
                replace(self.account, stamp=stamp, state=State.CLEANING, other_stamp=old)
            )
            reached("move.switched")
            time.sleep(self._pause)
            self._erase(source, ids)
        self._write_state(Account(self.account.name, stamp))
        reached("move.cleaned")
        return MoveResult(self.account.name, stamp, len(ids), count)

    def finish(self) -> None:
        """Delete the rows that an interrupted move has left in the stamp that is not in use."""
        if self.account.other_stamp is not None:
            with self._database(self.account.other_stamp).writing() as source:
                self._erase(source, self._lock_catalogs(source))
        if self.account.state is not State.READY:
            self._write_state(Account(self.account.name, self.account.stamp))

    def _write_state(self, account: Account) -> None:
        """Write the account's state to the home metastore."""
        store.write_account(self._stamps.home.database, account)
        self.account = account

    @contextmanager
    def _unfreeze_on_refusal(self) -> Iterator[None]:
        """Unfreeze the account if it cannot be moved. Nothing has been written at that point."""
        try:
            yield
        except (InvalidInput, AlreadyExists):
            self._write_state(Account(self.account.name, self.account.stamp))
            raise

    def _database(self, stamp: str) -> Database:
        return self._stamps.metastore(stamp).database

    def _lock_catalogs(self, source: Connection) -> list[CatalogId]:
        family = rows.lock_family(source, self._principals)
        if family.strangers:
            raise InvalidInput(
                f"Account '{self.account.name}' cannot be moved: catalog"
                f" '{family.strangers[0]}' is a parent or fork of one of its catalogs, but is owned"
                " by another account.",
                remedy="Catalogs that share files must stay in one stamp: drop that catalog, or"
                " transfer its ownership to this account.",
                catalogs=family.strangers[:100],
            )
        return family.ids

    def _copy(self, source: Connection, new: Database, ids: Sequence[CatalogId]) -> int:
        with new.writing() as target:
            rows.erase_rows(target, ids, self._principals)  # left by an interrupted move
            self._require_names(source, target, ids)
            folders = self._choose_folders(source, target, ids)
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

    def _choose_folders(
        self, source: Connection, target: Connection, ids: Sequence[CatalogId]
    ) -> dict[CatalogId, str]:
        """Return new folders for catalogs whose folder name is already used in the new stamp.

        Raise AlreadyExists if the data path is the same too: then cleaning up one of both catalogs
        would delete files of the other.
        """
        own = rows.folders_of(source, ids)
        used = rows.paths_in_use(target, [path for _, _, path, _ in own], ids)
        for data_path in {data_path for *_, data_path in own if data_path is not None}:
            claim_data_path(target, data_path)
        both = [path for _, _, path, data_path in own if path in used and used[path] == data_path]
        if both:
            raise AlreadyExists(
                f"The folder '{both[0]}' is used by another catalog of the target stamp, under the"
                " same data path.",
                remedy="Configure a separate data path for each stamp.",
            )
        return {number: f"{unique}/" for number, unique, path, _ in own if path in used}

    def _erase(self, source: Connection, ids: Sequence[CatalogId]) -> None:
        folders = rows.folders_left(source, ids)
        rows.erase_rows(source, ids, self._principals)
        rows.leave_folders(source, folders)
        reached("move.erased")
        source.commit()
