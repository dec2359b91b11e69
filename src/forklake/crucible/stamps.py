"""Stamps: several metastores over which one service spreads its accounts.

The home metastore knows where each account lives, and all principals. Catalogs, grants, quotas and
the audit are in the stamp of the account. An account that is on its way to another stamp is read
as always and written to by nobody.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping

from forklake.access.access import Access
from forklake.access.callers import Caller
from forklake.catalog.metastore import Metastore, open_metastore
from forklake.crucible.freezing import Frozen
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.model.names import checked_name
from forklake.store import access as access_tables
from forklake.store import stamps as store
from forklake.store.database import Database
from forklake.store.stamps import Account, State

HOME = "home"
# For so long a process may not know that an account was frozen, or lives elsewhere now.
FRESH_SECONDS = 1.0


class Stamps:
    """The metastores of a service by their names. Safe to share between threads."""

    def __init__(self, home: Metastore, uris: Mapping[str, str] | None = None) -> None:
        """
        Args:
            home: the metastore that knows all accounts, itself the stamp `home`.
            uris: attach strings of further ones; empty metastores in PostgreSQL become stamps.
        """
        self.home = home
        self._uris = {name: uri for name, uri in (uris or {}).items() if _checked(name)}
        self._metastores: dict[str, Metastore] = {HOME: home}
        self._access: dict[tuple[str, State], Access] = {}
        self._known: dict[str, tuple[Account, float]] = {}
        self._guard = threading.RLock()
        try:
            if self._uris:
                self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections to all but the home metastore, which is its owner's."""
        for name, metastore in self._metastores.items():
            if name != HOME:
                metastore.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The stamps, home first."""
        return (HOME, *self._uris)

    def metastores(self) -> list[Metastore]:
        """The metastores of all stamps, home first."""
        return [self._metastores[name] for name in self.names]

    def metastore(self, stamp: str) -> Metastore:
        """The metastore of a stamp."""
        if stamp not in self._metastores:
            raise NotFound(
                f"Stamp '{stamp}' does not exist.",
                remedy=f"Name it in the settings, or use one of: {', '.join(self.names)}.",
            )
        return self._metastores[stamp]

    def uri_of(self, database: Database) -> str | None:
        """The attach string of a stamp's database; None for home."""
        found = (
            self._uris[one] for one in self._uris if self._metastores[one].database is database
        )
        return next(found, None)

    # Accounts

    def account(self, name: str) -> Account:
        """Where an account lives, as of a moment ago; home if nothing else was said."""
        if not self._uris:
            return Account(name, HOME)
        known, until = self._known.get(name, (None, 0.0))
        if known is None or time.monotonic() > until:
            known = self.find_account(name)
            self._known[name] = (known, time.monotonic() + FRESH_SECONDS)
        return known

    def knows(self, name: str) -> bool:
        """Whether nobody has to be asked where an account lives."""
        return not self._uris or self._known.get(name, (None, 0.0))[1] > time.monotonic()

    def forget(self) -> None:
        """Look up all accounts anew."""
        self._known.clear()

    def find_account(self, name: str) -> Account:
        """The same, as of now."""
        with self.home.database.reading() as connection:
            return store.find_account(connection, name) or Account(name, HOME)

    def accounts(self) -> list[Account]:
        """The accounts that were given a stamp, by name."""
        if not self._uris:
            return []
        with self.home.database.reading() as connection:
            return store.list_accounts(connection)

    def create_account(self, name: str, stamp: str | None = None) -> Account:
        """A new account, in a stamp or in the one that has the fewest."""
        checked = checked_name(name, "account")
        self._require_stamps()
        with self.home.database.reading() as connection:
            is_used = bool(store.principals_of_account(connection, checked))
        if is_used and stamp not in {None, HOME}:
            raise InvalidInput(
                f"Account '{name}' has principals, and so lives in the home metastore.",
                remedy="Create it there, then move it.",
            )
        chosen = stamp or (HOME if is_used else self._emptiest())
        self.metastore(chosen)
        made = Account(checked, chosen)
        store.insert_account(self.home.database, made)
        return made

    def _emptiest(self) -> str:
        counts = Counter(account.stamp for account in self.accounts())
        return min(self.names, key=lambda name: counts[name])

    def metastore_of(self, account: str) -> Metastore:
        """The metastore that an account lives in."""
        return self.metastore(self.account(account).stamp)

    def access_of(self, caller: Caller) -> Access:
        """The rules that hold for a caller: those of the stamp that its account lives in."""
        return self.access_for(caller.account)

    def access_for(self, name: str) -> Access:
        """The rules of the stamp that an account lives in: its grants and quotas are there."""
        account = self.account(name)
        frozen = State.MOVING if account.state is State.MOVING else State.READY
        with self._guard:
            found = self._access.get((account.stamp, frozen))
            if found is None:
                kind = Frozen if frozen is State.MOVING else Access
                found = kind(self.metastore(account.stamp), home=self.home)
                self._access[account.stamp, frozen] = found
        return found

    # Preparing

    def _require_stamps(self) -> None:
        if not self._uris:
            raise Unsupported(
                "The service has one metastore: all accounts live there.",
                remedy="Name further ones under [stamps] in its settings.",
            )

    def _prepare(self) -> None:
        """Open all stamps, and make stamps of metastores that are new."""
        _require_postgresql(HOME, self.home)
        for schema in ("access.sql", "stamps.sql"):
            access_tables.install(self.home.database, schema)
        store.own_stamp(self.home.database, HOME, 0, [0, 0, 0])
        for name, uri in self._uris.items():
            metastore = self._metastores[name] = open_metastore(uri, create=True)
            self._prepare_stamp(name, metastore)
        self.share_identities()

    def _prepare_stamp(self, name: str, metastore: Metastore) -> None:
        _require_postgresql(name, metastore)
        number = store.add_stamp(self.home.database, name)
        for schema in ("access.sql", "stamps.sql"):
            access_tables.install(metastore.database, schema)
        with metastore.database.reading() as connection:
            known = store.stamp_numbers(connection)
        if known not in ({}, {name: number}) or (not known and metastore.count()):
            raise InvalidInput(
                f"The metastore {metastore.database.address} cannot become the stamp '{name}':"
                " it has catalogs, or belongs to other stamps.",
                remedy="Give the stamp an empty database.",
            )
        with self.home.database.reading() as connection:
            above = store.last_ids(connection)
        store.own_stamp(metastore.database, name, number, above)

    def number(self, stamp: str) -> int:
        """The number of a stamp."""
        with self.home.database.reading() as connection:
            return store.stamp_numbers(connection)[stamp]

    def share_identities(self) -> None:
        """Tell all stamps the principals and signing keys of the home metastore; their databases
        need them to keep tenants apart."""
        for name in self._uris:
            with (
                self.home.database.reading() as home,
                self._metastores[name].database.writing() as stamp,
            ):
                store.share_identities(home, stamp)


def _checked(name: str) -> str:
    if name == HOME:
        raise InvalidInput(
            f"The stamp '{HOME}' is the metastore itself.", remedy="Choose another name."
        )
    return checked_name(name, "stamp")


def _require_postgresql(name: str, metastore: Metastore) -> None:
    if metastore.database.dialect.name != "postgresql":
        raise Unsupported(
            f"The metastore {metastore.database.address} cannot be the stamp '{name}'.",
            remedy="Stamps, the home metastore too, are databases of PostgreSQL.",
        )
