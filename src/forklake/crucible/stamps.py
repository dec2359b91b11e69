"""Stamps: several metastores over which one service distributes its accounts.

The home metastore stores all principals and the stamp of each account. Catalogs, grants, quotas and
audit entries are in the stamp of the account. An account that is being moved to another stamp is
read-only.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping

from forklake.access.access import Access
from forklake.access.callers import Caller
from forklake.catalog.metastore import Metastore, open_metastore
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.model.names import checked_name
from forklake.store import access as access_tables
from forklake.store import stamps as store
from forklake.store.database import Database
from forklake.store.schema.optional_tables import ACCESS, STAMPS
from forklake.store.stamps import Account, State

HOME = "home"
# How long accounts are cached, and so how long a process may miss that one was frozen or moved.
FRESH_SECONDS = 1.0


class Stamps:
    """Metastores of a service by name. Thread-safe."""

    def __init__(self, home: Metastore, uris: Mapping[str, str] | None = None) -> None:
        """
        Args:
            home: the metastore that stores all accounts; it is also the stamp `home`.
            uris: attach strings of additional stamps by name. Empty PostgreSQL metastores become
                stamps.
        """
        self.home = home
        self._uris = {name: uri for name, uri in (uris or {}).items() if _check_stamp_name(name)}
        self._metastores: dict[str, Metastore] = {HOME: home}
        self._access: dict[tuple[str, bool], Access] = {}
        self._known: dict[str, tuple[Account, float]] = {}
        self._guard = threading.RLock()
        try:
            if self._uris:
                self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections of all stamps except home, which the caller opened."""
        for name, metastore in self._metastores.items():
            if name != HOME:
                metastore.close()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the stamps, home first."""
        return (HOME, *self._uris)

    def metastores(self) -> list[Metastore]:
        """Return the metastores of all stamps, home first."""
        return [self._metastores[name] for name in self.names]

    def metastore(self, stamp: str) -> Metastore:
        """Return the metastore of a stamp."""
        if stamp not in self._metastores:
            raise NotFound(
                f"Stamp '{stamp}' does not exist.",
                remedy=f"Add it under [stamps] in the settings, or use one of:"
                f" {', '.join(self.names)}.",
            )
        return self._metastores[stamp]

    def uri_of(self, database: Database) -> str | None:
        """Return the attach string of a stamp's database, or None for home."""
        found = (
            self._uris[one] for one in self._uris if self._metastores[one].database is database
        )
        return next(found, None)

    # Accounts

    def account(self, name: str) -> Account:
        """Return an account with its stamp, from the cache. An unlisted account is in home."""
        if not self._uris:
            return Account(name, HOME)
        known, until = self._known.get(name, (None, 0.0))
        if known is None or time.monotonic() > until:
            known = self.find_account(name)
            self._known[name] = (known, time.monotonic() + FRESH_SECONDS)
        return known

    def is_cached(self, name: str) -> bool:
        """Return whether the account is cached, so that `account` does not query the database."""
        return not self._uris or self._known.get(name, (None, 0.0))[1] > time.monotonic()

    def clear_cache(self) -> None:
        """Clear the cache of accounts."""
        self._known.clear()

    def find_account(self, name: str) -> Account:
        """Return an account with its stamp, without the cache."""
        with self.home.database.reading() as connection:
            return store.find_account(connection, name) or Account(name, HOME)

    def accounts(self) -> list[Account]:
        """Return the accounts that are assigned to a stamp, by name."""
        if not self._uris:
            return []
        with self.home.database.reading() as connection:
            return store.list_accounts(connection)

    def create_account(self, name: str, stamp: str | None = None) -> Account:
        """Create an account in the given stamp, or else in the one with the fewest accounts."""
        checked = checked_name(name, "account")
        self._require_stamps()
        with self.home.database.reading() as connection:
            is_used = bool(store.principals_of_account(connection, checked))
        if is_used and stamp not in {None, HOME}:
            raise InvalidInput(
                f"Account '{name}' already has principals, so it must be created in the stamp"
                f" '{HOME}'.",
                remedy=f"Create it with stamp '{HOME}', then move it: forklake account move.",
            )
        chosen = stamp or (HOME if is_used else self._least_used_stamp())
        self.metastore(chosen)
        made = Account(checked, chosen)
        store.insert_account(self.home.database, made)
        return made

    def _least_used_stamp(self) -> str:
        counts = Counter(account.stamp for account in self.accounts())
        return min(self.names, key=lambda name: counts[name])

    def metastore_of(self, account: str) -> Metastore:
        """Return the metastore that holds an account."""
        return self.metastore(self.account(account).stamp)

    def access_of(self, caller: Caller) -> Access:
        """Return the access rules in the stamp of a caller's account."""
        return self.access_for(caller.account)

    def access_for(self, name: str) -> Access:
        """Return the access rules in the stamp of an account, where its grants and quotas are."""
        account = self.account(name)
        is_frozen = account.state is State.MOVING
        with self._guard:
            found = self._access.get((account.stamp, is_frozen))
            if found is None:
                metastore = self.metastore(account.stamp)
                found = Access(metastore, home=self.home, is_frozen=is_frozen)
                self._access[account.stamp, is_frozen] = found
        return found

    # Setup

    def _require_stamps(self) -> None:
        if not self._uris:
            raise Unsupported(
                "The service has no stamps: all accounts are in one metastore.",
                remedy="Add metastores under [stamps] in the settings of the service.",
            )

    def _prepare(self) -> None:
        """Open all stamps, and initialize new ones."""
        _require_postgresql(HOME, self.home)
        for tables in (ACCESS, STAMPS):
            access_tables.install(self.home.database, tables)
        store.own_stamp(self.home.database, HOME, 0, [0, 0, 0])
        for name, uri in self._uris.items():
            metastore = self._metastores[name] = open_metastore(uri, create=True)
            self._prepare_stamp(name, metastore)
        self.share_identities()

    def _prepare_stamp(self, name: str, metastore: Metastore) -> None:
        _require_postgresql(name, metastore)
        number = store.add_stamp(self.home.database, name)
        for tables in (ACCESS, STAMPS):
            access_tables.install(metastore.database, tables)
        with metastore.database.reading() as connection:
            known = store.stamp_numbers(connection)
        if known not in ({}, {name: number}) or (not known and metastore.count()):
            raise InvalidInput(
                f"The metastore {metastore.database.address} cannot become the stamp '{name}':"
                " it contains catalogs, or belongs to other stamps.",
                remedy="Use an empty database for the stamp.",
            )
        with self.home.database.reading() as connection:
            above = store.last_ids(connection)
        store.own_stamp(metastore.database, name, number, above)

    def number_of(self, stamp: str) -> int:
        """Return the number of a stamp."""
        with self.home.database.reading() as connection:
            return store.stamp_numbers(connection)[stamp]

    def share_identities(self) -> None:
        """Copy principals and signing keys from home to all stamps, whose databases need them to
        isolate tenants."""
        for name in self._uris:
            with (
                self.home.database.reading() as home,
                self._metastores[name].database.writing() as stamp,
            ):
                store.share_identities(home, stamp)


def _check_stamp_name(name: str) -> str:
    if name == HOME:
        raise InvalidInput(
            f"The name '{HOME}' is reserved for the home metastore.",
            remedy="Choose another name for the stamp.",
        )
    return checked_name(name, "stamp")


def _require_postgresql(name: str, metastore: Metastore) -> None:
    if metastore.database.dialect.name != "postgresql":
        raise Unsupported(
            f"The metastore {metastore.database.address} cannot be the stamp '{name}': it is not a"
            " PostgreSQL database.",
            remedy="Use PostgreSQL for all stamps, including the home metastore.",
        )
