"""Optional tables of access rules, and the principals stored in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forklake.errors import AlreadyExists, Corruption, NotFound
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Insert
from forklake.store.schema.description import Table
from forklake.store.schema.metastore import define_tables
from forklake.store.schema.optional_tables import ACCESS
from forklake.store.schema_comparison import create_missing

_COLUMNS = ("principal_id", "name", "account", "is_root", "created_at")
_SELECT = (
    "SELECT principal_id, name, account, is_root, disabled_at IS NOT NULL AS is_disabled"
    " FROM crucible_principal"
)


@dataclass(frozen=True, slots=True)
class Principal:
    """Identity that can be granted access: a user or a service."""

    principal_id: int
    name: str
    account: str
    is_root: bool
    is_disabled: bool


def is_installed(database: Database) -> bool:
    """Return whether the tables of access rules exist."""
    try:
        with database.reading() as connection:
            connection.columns_of("crucible_audit")  # the table that is created last
    except Corruption:
        return False
    return True


def install(database: Database, tables: Sequence[Table] = ACCESS) -> None:
    """Create the tables of access rules, or other optional ones. Existing ones are kept."""
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        create_missing(connection, define_tables(tables, connection.dialect.name))
        connection.commit()


def unknown_principal(name: str) -> NotFound:
    """Return the error for a principal that does not exist."""
    return NotFound(
        f"Principal '{name}' does not exist.",
        remedy="Check the name, or list the principals: `forklake access principal list`.",
        principal=name,
    )


def has_principals(connection: Connection) -> bool:
    """Return whether any principal exists."""
    return bool(connection.fetch("SELECT 1 FROM crucible_principal LIMIT 1"))


def find_principal(connection: Connection, name: str) -> Principal | None:
    """Return the principal with this name, or None."""
    rows = connection.fetch(f"{_SELECT} WHERE name = :name", name=name)
    return _principal(rows[0]) if rows else None


def principals_of(connection: Connection, ids: Sequence[int]) -> list[Principal]:
    """Return the principals with these ids."""
    dialect = connection.dialect
    text = f"{_SELECT} WHERE {dialect.any_of('principal_id', 'ids')}"
    return [_principal(row) for row in connection.fetch(text, ids=dialect.array(ids))]


def list_principals(connection: Connection) -> list[Principal]:
    """Return all principals, sorted by name."""
    return [_principal(row) for row in connection.fetch(f"{_SELECT} ORDER BY name")]


def insert_principal(
    database: Database, name: str, account: str, *, is_root: bool, now: datetime
) -> Principal:
    """Add a principal and return it. Ids are not reused: old grants may still refer to them."""
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        if find_principal(connection, name) is not None:
            raise AlreadyExists(
                f"Principal '{name}' already exists.", remedy="Choose another name."
            )
        ((newest,),) = connection.fetch("SELECT max(principal_id) FROM crucible_principal")
        made = Principal((newest or 0) + 1, name, account, is_root, is_disabled=False)
        row = (made.principal_id, name, account, is_root, now)
        connection.commit([Insert("crucible_principal", _COLUMNS, [row])])
        return made


def disable_principal(database: Database, principal_id: int, now: datetime) -> None:
    """Disable a principal. Its row stays: the name remains taken, and the audit refers to it."""
    with database.writing() as connection:
        connection.fetch(
            "UPDATE crucible_principal SET disabled_at = :now"
            " WHERE principal_id = :principal AND disabled_at IS NULL",
            principal=principal_id,
            now=now,
        )
        connection.commit()


def _principal(row: Any) -> Principal:
    number, name, account, is_root, is_disabled = row
    return Principal(number, name, account, bool(is_root), bool(is_disabled))
