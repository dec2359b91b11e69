"""Options of the whole metastore: not versioned, effective for every catalog at once."""

from __future__ import annotations

from forklake.store.database import Connection, Database
from forklake.store.operations import Statement

_OWN = "catalog_id IS NULL AND scope = 'global'"


def read_options(connection: Connection) -> dict[str, str]:
    """Return the options set for all catalogs."""
    return dict(connection.fetch(f"SELECT key, value FROM ducklake_metadata WHERE {_OWN}"))


def write_option(database: Database, key: str, value: str | None) -> None:
    """Set an option for all catalogs; None removes it."""
    parameters = {"key": key, "value": value}
    statements = [
        Statement(f"DELETE FROM ducklake_metadata WHERE {_OWN} AND key = :key", parameters)
    ]
    if value is not None:
        statements.append(
            Statement(
                "INSERT INTO ducklake_metadata (key, value, scope) VALUES (:key, :value, 'global')",
                parameters,
            )
        )
    with database.writing() as connection:
        connection.commit(statements)
