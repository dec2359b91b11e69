"""Upgrade of a metastore that an older version created: missing tables and indexes are added.

Existing objects are not changed, except for the storage parameters of tables in PostgreSQL
(autovacuum and fill factor).
"""

from __future__ import annotations

from forklake.store.database import Connection, Database, Lock
from forklake.store.partitioning import count_partitions, partitioned
from forklake.store.schema_files import Definition, definitions, schema_text

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
# Schema files whose objects a metastore has completely or not at all.
_OPTIONAL = ("access", "automations", "stamps")


def missing(connection: Connection) -> list[Definition]:
    """Return what the schema files define and a metastore lacks, in the order of creation."""
    present = _present(connection)
    text = partitioned(schema_text(connection.dialect.name), count_partitions(connection))
    expected = list(definitions(text))
    for name in _OPTIONAL:
        first, *others = definitions(schema_text(name))
        expected += others if first.name in present else ()
    return [one for one in expected if one.name not in present]


def missing_columns(connection: Connection) -> list[str]:
    """Return the columns that tables of a metastore lack, as `table.column`."""
    present: dict[str, set[str]] = {}
    for table, column, _ in connection.fetch(connection.dialect.every_column):
        present.setdefault(table, set()).add(column)
    return [
        f"{one.name}.{column}"
        for one in definitions(schema_text(connection.dialect.name))
        for column in one.columns
        if one.kind == "TABLE" and column not in present.get(one.name, {column})
    ]


def other_settings(connection: Connection) -> dict[str, frozenset[str]]:
    """Return the tables that lack storage parameters of the schema, with all of these."""
    if connection.dialect.name != "postgresql":
        return {}
    present = {name: frozenset(options) for name, options in connection.fetch(_SETTINGS)}
    count = count_partitions(connection)
    found: dict[str, frozenset[str]] = {}
    for one in definitions(partitioned(schema_text("postgresql"), count)):
        if one.kind == "TABLE" and not one.settings <= present.get(one.name, one.settings):
            found[one.name] = one.settings
    return found


def complete(database: Database) -> list[str]:
    """Add what is missing. Return the names of what was added or whose parameters were set."""
    with database.reading() as connection:
        if not missing(connection) and not other_settings(connection):
            return []
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        absent, settings = missing(connection), other_settings(connection)
        for one in absent:
            connection.fetch(one.text)
        for table, wanted in settings.items():
            connection.fetch(f"ALTER TABLE {table} SET ({', '.join(sorted(wanted))})")
        connection.commit()
    return [*(one.name for one in absent), *settings]


def _present(connection: Connection) -> set[str]:
    return {name for (name,) in connection.fetch(_NAMES[connection.dialect.name])}
