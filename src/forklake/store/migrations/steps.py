"""Steps of migrations. Each leaves alone what exists already.

The steps render the description as it is now, not as it was when a migration was written: a table
that is missing is created with the columns that later migrations add, which then find them.

On MySQL, DDL runs on another connection than the transaction that applies a migration. That
transaction has read ducklake_lock and ducklake_metadata: a change of these two would wait for it
forever.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from forklake.store.database import Connection
from forklake.store.schema.description import Table
from forklake.store.schema.metastore import define_tables
from forklake.store.schema_comparison import create_missing


def add_tables(connection: Connection, tables: Sequence[Table]) -> None:
    """Create tables with their indexes."""
    create_missing(connection, define_tables(tables, connection.dialect.name))


def add_indexes(connection: Connection, table: Table, names: Collection[str]) -> None:
    """Create some indexes of a table."""
    definitions = define_tables([table], connection.dialect.name)
    create_missing(connection, [one for one in definitions if one.name in names])
