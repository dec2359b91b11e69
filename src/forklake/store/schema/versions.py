"""Versions of the schema that a metastore records."""

from __future__ import annotations

from forklake.store.schema.definitions import Definition, Kind

# Version of the format of the tables, as the specification numbers it.
FORMAT = "0.5-dev1"
# Number of the last migration: a new metastore starts with it. Metastores that were made before
# migrations were numbered, by version 0.1.0, have no such row, which counts as 0.
MIGRATION = 2


def version_rows(key: str) -> tuple[Definition, ...]:
    """Return the rows with the versions; `key` is the name of the column, quoted if necessary."""
    insert = f"INSERT INTO ducklake_metadata ({key}, value, scope) VALUES"
    return (
        Definition(
            Kind.ROWS,
            "ducklake_metadata",
            f"{insert}\n    ('version', '{FORMAT}', NULL),"
            f"\n    ('migration', '{MIGRATION}', 'metastore')",
            "Version of the format, and number of the last migration.",
        ),
    )
