"""Schema of views through which stock DuckDB reads the catalogs of a metastore.

One schema serves all catalogs, however many: a connection selects its own. The owner of the
metastore creates it, and creates it again after an upgrade.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING

from forklake.errors import AlreadyExists, NotFound, Unsupported
from forklake.store.database import Connection, Database, Dialect
from forklake.store.stock_views import inlined_ranges, inlined_table_names, view_texts

if TYPE_CHECKING:
    from psycopg import sql

_MARK = "Forklake: "  # prefix of the comment on schemas that Forklake created
_FACTS = """
    SELECT (SELECT pg_get_userbyid(relowner)::text FROM pg_class
            WHERE oid = 'ducklake_catalog_head'::regclass),
        (SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace
         WHERE nspname = :stock),
        EXISTS (SELECT 1 FROM pg_roles WHERE rolname = :role)"""


@dataclass(frozen=True, slots=True)
class Exposed:
    """Created schema, its views, and the role besides the owner that may read them."""

    schema: str
    views: tuple[str, ...]
    role: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Names that the statements refer to."""

    store: str
    stock: str
    tenant: str
    owner: str
    role: str | None
    replaces: bool

    def fill(self, text: str) -> sql.Composed:
        """Return a statement with its names filled in."""
        from psycopg import sql

        names = {"store": self.store, "stock": self.stock, "tenant": self.tenant}
        names |= {"owner": self.owner, "role": self.role or self.owner}
        quoted = {name: sql.Identifier(value) for name, value in names.items()}
        return sql.SQL(text).format(**quoted, stock_text=sql.Literal(self.stock))


def expose(database: Database, *, role: str | None = None) -> Exposed:
    """Create the views, or replace them.

    `role` may then read them with a token of its own, or by the name of a catalog if it may read
    the metastore.
    """
    if database.dialect.name != "postgresql":
        raise Unsupported(
            f"{database.address} cannot be exposed: stock DuckDB reads forks from PostgreSQL only.",
            remedy="Read them with `forklake duckdb`, or publish tables as Iceberg or Delta.",
        )
    from psycopg import sql

    from forklake.store.postgresql import PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    with database.reading() as connection:
        place, tables = _find_names(connection, role), _tables(connection)
        texts = view_texts(tables, connection.dialect)
        scripts = [*_schema(place, tables, connection.dialect), *_views(texts), *_grants(place)]
    database.run_script(sql.SQL(";\n").join([place.fill(text) for text in scripts]))
    return Exposed(place.stock, tuple(sorted(texts)), role)


def _find_names(connection: Connection, role: str | None) -> _Place:
    ((store,),) = connection.fetch("SELECT current_schema()::text")
    is_public = store == "public"
    stock = "forklake_stock" if is_public else f"{store}_stock"
    tenant = "tenant" if is_public else f"{store}_tenant"
    ((owner, mark, has_role),) = connection.fetch(_FACTS, stock=stock, role=role or "")
    if mark is not None and not mark.startswith(_MARK):
        raise AlreadyExists(
            f"The schema '{stock}' already exists and was not created by Forklake.",
            remedy="Rename that schema: the views of this metastore need its name.",
        )
    if role is not None and not has_role:
        raise NotFound(
            f"The role '{role}' does not exist in PostgreSQL.",
            remedy="Create it, or create the role of tenants: `forklake access tenants`.",
        )
    return _Place(store, stock, tenant, owner, role, mark is not None)


def _tables(connection: Connection) -> dict[str, list[str]]:
    """Return the tables of the metastore and their columns."""
    rows = connection.fetch(
        "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a"
        " ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relnamespace = quote_ident(current_schema())::regnamespace"
        " AND c.relkind IN ('r', 'p')"
        " ORDER BY c.relname, a.attnum"
    )
    found = groupby(rows, key=lambda row: str(row[0]))
    return {name: [column for _, column in columns] for name, columns in found}


def _schema(
    place: _Place, tables: Mapping[str, Sequence[str]], dialect: Dialect
) -> tuple[str, ...]:
    text = resources.files("forklake.store").joinpath("schema/stock.sql").read_text()
    text = text.replace("<inlined tables>", inlined_table_names(tables, dialect))
    text = text.replace("<inlined rows>", inlined_ranges(dialect)).rstrip(" ;\n")
    return (*(("DROP SCHEMA {stock} CASCADE",) if place.replaces else ()), text)


def _views(texts: Mapping[str, str]) -> list[str]:
    return [
        "SET LOCAL search_path = {store}, pg_temp",
        *(
            f"CREATE VIEW {{stock}}.{name} WITH (security_barrier) AS {text}"
            for name, text in texts.items()
        ),
        "SELECT {stock}.show_deletes(d.table_id)"
        " FROM (SELECT DISTINCT table_id FROM ducklake_inlined_delete) d",
        "CREATE TRIGGER forklake_stock AFTER INSERT ON ducklake_inlined_delete"
        " REFERENCING NEW TABLE AS noted FOR EACH STATEMENT"
        " EXECUTE FUNCTION {stock}.note_deletes()",
    ]


def _grants(place: _Place) -> list[str]:
    closed = [
        "REVOKE ALL ON SCHEMA {stock} FROM PUBLIC",
        "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {stock} FROM PUBLIC",
    ]
    readers = [
        "GRANT USAGE ON SCHEMA {stock} TO {role}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA {stock} TO {role}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA {stock} GRANT SELECT ON TABLES TO {role}",
        "GRANT EXECUTE ON FUNCTION {stock}.catalog_id(), {stock}.rows_in_metastore(),"
        " {stock}.required(text, text) TO {role}",
    ]
    return [*closed, *(readers if place.role is not None else ())]
