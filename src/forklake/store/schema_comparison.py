"""Comparison of a metastore with the description of its schema."""

from __future__ import annotations

from collections.abc import Iterable

from forklake.store.database import Connection
from forklake.store.partitioning import count_partitions
from forklake.store.schema.definitions import Definition, Kind
from forklake.store.schema.metastore import OPTIONAL, TABLES, define_metastore, define_tables

# The names of all tables, views, indexes and sequences of a metastore.
_NAMES = {
    "postgresql": "SELECT relname::text FROM pg_class"
    " WHERE relnamespace = quote_ident(current_schema())::regnamespace",
    "sqlite": "SELECT name FROM sqlite_master",
    "duckdb": "SELECT table_name FROM duckdb_tables() WHERE schema_name = current_schema()"
    " UNION ALL SELECT view_name FROM duckdb_views() WHERE schema_name = current_schema()"
    " UNION ALL SELECT index_name FROM duckdb_indexes() WHERE schema_name = current_schema()"
    " UNION ALL SELECT sequence_name FROM duckdb_sequences()"
    " WHERE schema_name = current_schema()",
    "mysql": "SELECT table_name FROM information_schema.tables WHERE table_schema = database()"
    " UNION SELECT index_name FROM information_schema.statistics"
    " WHERE table_schema = database()",
}
_SETTINGS = (
    "SELECT relname::text, coalesce(reloptions, '{}') FROM pg_class"
    " WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'"
)


def find_missing(connection: Connection) -> list[Definition]:
    """Return the definitions of what a metastore lacks, in the order of creation.

    Optional tables are missing if others of their group exist.
    """
    backend, present = connection.dialect.name, _present(connection)
    expected = [*define_metastore(backend, count_partitions(connection))]
    for group in OPTIONAL:
        if group[0].name in present:
            expected += define_tables(group, backend)
    return _without(present, expected)


def create_missing(connection: Connection, definitions: Iterable[Definition]) -> list[str]:
    """Create what a metastore lacks of some definitions. Return the names."""
    missing = _without(_present(connection), definitions)
    for one in missing:
        connection.fetch(one.text)
    return [one.name for one in missing if one.kind is not Kind.SETTING]


def _present(connection: Connection) -> set[str]:
    return {name for (name,) in connection.fetch(_NAMES[connection.dialect.name])}


def _without(present: set[str], definitions: Iterable[Definition]) -> list[Definition]:
    return [one for one in definitions if one.kind is not Kind.ROWS and one.name not in present]


def find_missing_columns(connection: Connection) -> list[str]:
    """Return the columns that tables of a metastore lack, as `table.column`."""
    present: dict[str, set[str]] = {}
    for table, column, _ in connection.fetch(connection.dialect.every_column):
        present.setdefault(table, set()).add(column)
    return [
        f"{table.name}.{column}"
        for table in TABLES
        for column in table.column_names
        if column not in present.get(table.name, {column})
    ]


def find_other_settings(connection: Connection) -> dict[str, frozenset[str]]:
    """Return the tables that lack storage parameters of the schema, with all of these."""
    if connection.dialect.name != "postgresql":
        return {}
    present = {name: frozenset(options) for name, options in connection.fetch(_SETTINGS)}
    expected = define_metastore("postgresql", count_partitions(connection))
    return {
        one.name: one.settings
        for one in expected
        if one.kind is Kind.TABLE and not one.settings <= present.get(one.name, one.settings)
    }


def set_settings(connection: Connection) -> list[str]:
    """Set the storage parameters that tables lack. Return the names of the tables."""
    found = find_other_settings(connection)
    for table, settings in found.items():
        connection.fetch(f"ALTER TABLE {table} SET ({', '.join(sorted(settings))})")
    return list(found)
