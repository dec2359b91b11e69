"""The schema of a metastore in each database, rendered from the description of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from forklake.store.schema import (
    catalog_tables,
    definition_tables,
    delta_log_tables,
    duckdb,
    file_tables,
    mysql,
    postgresql,
    sqlite,
)
from forklake.store.schema.definitions import Definition, Style, define_table
from forklake.store.schema.delta_log_views import define_views
from forklake.store.schema.description import Backend, Table
from forklake.store.schema.form import Form
from forklake.store.schema.optional_tables import ACCESS, AUTOMATIONS, STAMPS
from forklake.store.schema.postgresql import PostgresqlStyle

# Tables of every metastore.
TABLES: tuple[Table, ...] = (
    *catalog_tables.TABLES,
    *definition_tables.TABLES,
    *file_tables.TABLES,
    *delta_log_tables.TABLES,
)
# Groups of tables of which a metastore has all or none.
OPTIONAL: tuple[tuple[Table, ...], ...] = (ACCESS, AUTOMATIONS, STAMPS)
_FORMS = {
    Backend.POSTGRESQL: postgresql.FORM,
    Backend.SQLITE: sqlite.FORM,
    Backend.DUCKDB: duckdb.FORM,
    Backend.MYSQL: mysql.FORM,
}
_STYLES: dict[Backend, Style] = {
    Backend.POSTGRESQL: PostgresqlStyle(),
    Backend.SQLITE: sqlite.STYLE,
    Backend.DUCKDB: duckdb.STYLE,
    Backend.MYSQL: mysql.STYLE,
}


@lru_cache
def define_metastore(backend: str, partitions: int = 0) -> tuple[Definition, ...]:
    """Return the definitions of a new metastore, in order, to follow the preparation."""
    form = find_form(backend)
    return (
        *form.sequences,
        *define_tables(TABLES, backend, partitions),
        *form.rows,
        *define_views(form.views),
    )


def define_tables(
    tables: Iterable[Table], backend: str, partitions: int = 0
) -> Iterator[Definition]:
    """Yield the definitions of the tables that a database has, and of their indexes."""
    style = PostgresqlStyle(partitions) if partitions else _STYLES[Backend(backend)]
    for table in tables:
        if style.backend in table.backends:
            yield from define_table(table, style)


def find_form(backend: str) -> Form:
    """Return the parts of the schema that only one database has."""
    return _FORMS[Backend(backend)]
