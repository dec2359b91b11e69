"""Upgrade of a metastore that an older version made, by the migrations that it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.errors import Unsupported
from forklake.store.database import Connection, Database, Lock
from forklake.store.migrations import MIGRATIONS, Migration
from forklake.store.operations import Insert, Statement
from forklake.store.phases import reached
from forklake.store.schema.metastore import find_form
from forklake.store.schema.versions import FORMAT, MIGRATION
from forklake.store.schema_comparison import (
    create_missing,
    find_missing,
    find_other_settings,
    set_settings,
)

_VERSIONS = (
    "SELECT key, value FROM ducklake_metadata WHERE catalog_id IS NULL"
    " AND (key = 'version' OR key = 'migration' AND scope = 'metastore')"
)
_FORGET = (
    "DELETE FROM ducklake_metadata WHERE catalog_id IS NULL AND key = 'migration'"
    " AND scope = 'metastore'"
)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Migrations that were applied, and names of tables and indexes that had been missing."""

    migrations: tuple[Migration, ...]
    restored: tuple[str, ...]


def require_version(database: Database) -> None:
    """Raise Unsupported if this version of the program cannot use the metastore."""
    with database.reading() as connection:
        found = _read_migration(connection, database.address)
    if found < MIGRATION:
        raise Unsupported(
            f"The metastore {database.address} was made by an older version of Forklake: it lacks"
            f" {MIGRATION - found} of {MIGRATION} migrations.",
            remedy="Stop all programs of the older version, then run: forklake init --upgrade -m"
            " <address>.",
            address=database.address,
        )


def upgrade(database: Database) -> Upgrade:
    """Apply the migrations that a metastore lacks, and restore missing tables and indexes.

    This is one transaction, or, on MySQL, one for each migration: an upgrade that was interrupted
    continues where it ended. Concurrent upgrades wait for each other.
    """
    with database.reading() as connection:
        is_complete = (
            _read_migration(connection, database.address) == MIGRATION
            and not find_missing(connection)
            and not find_other_settings(connection)
        )
    if is_complete:
        return Upgrade((), ())
    is_transactional = find_form(database.dialect.name).is_transactional
    applied: list[Migration] = []
    while True:
        with database.writing() as connection:
            connection.run(connection.lock(Lock.ACCESS))
            reached("upgrade.locked")
            pending = MIGRATIONS[_read_migration(connection, database.address) :]
            chosen = pending if is_transactional else pending[:1]
            for migration in chosen:
                migration.apply(connection)
                reached("upgrade.applied")
            applied += chosen
            restored: list[str] = []
            if chosen == pending:
                restored += create_missing(connection, find_missing(connection))
                restored += set_settings(connection)
            connection.commit(_record(chosen))
        reached("upgrade.committed")
        if chosen == pending:
            return Upgrade(tuple(applied), tuple(restored))


def _record(applied: tuple[Migration, ...]) -> list[Statement | Insert]:
    if not applied:
        return []
    row = ("migration", str(applied[-1].number), "metastore")
    insert = Insert("ducklake_metadata", ("key", "value", "scope"), [row])
    return [Statement(_FORGET, {}), insert]


def _read_migration(connection: Connection, address: str) -> int:
    """Return the number of the last migration of a metastore. Raise Unsupported if it is newer."""
    versions = dict(connection.fetch(_VERSIONS))
    if (version := versions.get("version", "none")) != FORMAT:
        raise Unsupported(
            f"Unsupported DuckLake version: {version}. Expected {FORMAT}. This version requires a"
            " fresh schema. Migration from older versions is not supported.",
            address=address,
        )
    found = int(versions.get("migration", 0))
    if found > MIGRATION:
        raise Unsupported(
            f"The metastore {address} was made by a newer version of Forklake: it has migration"
            f" {found}, and this version supports up to {MIGRATION}.",
            remedy="Upgrade Forklake: `pip install --upgrade forklake`.",
            address=address,
        )
    return found
