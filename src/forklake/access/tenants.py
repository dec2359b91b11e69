"""Tenants: PostgreSQL itself shows a connection one catalog, that of the connection's token.

`set_up` makes a schema of views that check the token, and a role that may read them and nothing
else. What a role may do to a whole database, such as seeing the statements of others, is not ours
to decide: those statements are told, and run only if that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING

from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, Unsupported
from forklake.model.names import checked_name
from forklake.store.access import is_installed
from forklake.store.database import Connection, Dialect
from forklake.store.tenant_views import VIEWS, inlined_rows_text, view_text

if TYPE_CHECKING:
    from psycopg import sql

    from forklake.catalog.metastore import Metastore
    from forklake.store.postgresql import PostgresDatabase

ROLE = "forklake_tenant"
_MARK = "Forklake: "  # the comment of a schema of ours begins so
# What everybody may call in PostgreSQL, and tenants of one database should not: look at the
# statements of others and end them, hold up commits, and store what nobody cleans up.
_CLOSED_FUNCTIONS = (
    "pg_stat_get_activity",
    "pg_stat_get_backend_activity",
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_lock_status",
    "pg_advisory_lock",
    "pg_advisory_lock_shared",
    "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared",
    "pg_try_advisory_lock",
    "pg_try_advisory_lock_shared",
    "pg_try_advisory_xact_lock",
    "pg_try_advisory_xact_lock_shared",
    "lo_creat",
    "lo_create",
    "lo_from_bytea",
)
_LIMITS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}
_MOST_CONNECTIONS = 64
_FACTS = """
    SELECT current_schema()::text, current_database()::text,
        (SELECT pg_get_userbyid(relowner)::text FROM pg_class
         WHERE oid = 'ducklake_catalog_head'::regclass),
        (SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :tenant),
        EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = :tenant),
        (SELECT rolsuper OR pg_has_role(oid, current_user, 'MEMBER') FROM pg_roles
         WHERE rolname = :role)"""


@dataclass(frozen=True, slots=True)
class Tenants:
    """What was set up: who sees what, and what is left for the owner of the server to do."""

    schema: str
    role: str
    views: tuple[str, ...]
    hardening: tuple[str, ...]
    is_hardened: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """The names that the statements are about."""

    store: str
    database: str
    owner: str
    tenant: str
    role: str
    is_new_role: bool
    replaces: bool

    def fill(self, text: str) -> sql.Composed:
        """A statement with its names."""
        from psycopg import sql

        names = {"store": self.store, "tenant": self.tenant, "role": self.role}
        names |= {"database": self.database, "owner": self.owner}
        quoted = {name: sql.Identifier(value) for name, value in names.items()}
        return sql.SQL(text).format(**quoted)


def set_up(
    metastore: Metastore, *, role: str = ROLE, schema: str | None = None, harden: bool = False
) -> Tenants:
    """Make, or make again, the views and rights of tenants; needs the owner of the metastore.

    Args:
        role: the role of tenants; made if it is not there.
        schema: where the views go: `tenant`, or beside another schema than public, `…_tenant`.
        harden: also close to everybody what tenants should not reach; needs a superuser.
    """
    database = _postgresql(metastore)
    with database.reading() as connection:
        if harden:
            _require_superuser(connection)
        place = _found(connection, checked_name(role, "role"), schema)
        tables = _tables(connection)
        closing = _closing(connection, place)
    scripts = [*_roles(place), *_schema(place), *_views(place, tables, connection.dialect)]
    database.run_script(_joined([place.fill(text) for text in (*scripts, *_grants())]))
    if harden:
        database.run_script(_joined([place.fill(text) for text in closing]))
    told = tuple(place.fill(text).as_string(None) for text in closing)
    return Tenants(place.tenant, role, tuple(sorted(tables)), told, harden)


def _postgresql(metastore: Metastore) -> PostgresDatabase:
    if metastore.database.dialect.name != "postgresql":
        raise Unsupported(
            f"{metastore.database.address} cannot keep tenants apart: it has no roles.",
            remedy="Use a metastore in PostgreSQL, or let tenants come through the service.",
        )
    from forklake.store.postgresql import PostgresDatabase

    assert isinstance(metastore.database, PostgresDatabase)
    if not is_installed(metastore.database):
        raise NotFound(
            f"{metastore.database.address} has no access rules, and so no tokens.",
            remedy="Make them with: forklake access init.",
        )
    return metastore.database


def _require_superuser(connection: Connection) -> None:
    # Without that PostgreSQL only warns that nothing was revoked.
    rows = connection.fetch("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    if not rows[0][0]:
        raise Forbidden(
            "Only a superuser can close functions of PostgreSQL to everybody.",
            remedy="Set up without hardening, and have a superuser run the statements it tells.",
        )


def _found(connection: Connection, role: str, schema: str | None) -> _Place:
    ((store,),) = connection.fetch("SELECT current_schema()::text")
    tenant = schema or ("tenant" if store == "public" else f"{store}_tenant")
    ((store, database, owner, mark, exists, is_too_strong),) = connection.fetch(
        _FACTS, tenant=checked_name(tenant, "schema"), role=role
    )
    if exists and not (mark or "").startswith(_MARK):
        raise AlreadyExists(
            f"The schema '{tenant}' is there and holds something else.",
            remedy="Choose another one for the views of tenants.",
        )
    if is_too_strong:
        raise InvalidInput(
            f"The role '{role}' sees the tables of the metastore anyway.",
            remedy="Choose one that is no superuser and not a member of their owner.",
        )
    return _Place(store, database, owner, tenant, role, is_too_strong is None, exists)


def _tables(connection: Connection) -> dict[str, list[str]]:
    """The tables that get a view, and their columns."""
    rows = connection.fetch(
        "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a"
        " ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relnamespace = quote_ident(current_schema())::regnamespace"
        " AND c.relkind IN ('r', 'p') ORDER BY c.relname, a.attnum"
    )
    found = groupby(rows, key=lambda row: str(row[0]))
    tables = {name: [column for _, column in columns] for name, columns in found}
    return {name: columns for name, columns in tables.items() if name in VIEWS}


def _roles(place: _Place) -> list[str]:
    made = "CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION"
    limits = [f"ALTER ROLE {{role}} SET {name} = '{value}'" for name, value in _LIMITS.items()]
    if not place.is_new_role:
        return []
    return [f"{made} CONNECTION LIMIT {_MOST_CONNECTIONS}", *limits]


def _schema(place: _Place) -> list[str]:
    text = resources.files("forklake.store").joinpath("schema/tenant.sql").read_text()
    return [*(["DROP SCHEMA {tenant} CASCADE"] if place.replaces else []), text.rstrip(" ;\n")]


def _views(place: _Place, tables: dict[str, list[str]], dialect: Dialect) -> list[str]:
    catalog = "(SELECT {tenant}.catalog_id())"
    views = [
        f"CREATE VIEW {{tenant}}.{table} WITH (security_barrier) AS"
        f" {view_text(table, columns, dialect, catalog)}"
        for table, columns in tables.items()
    ]
    return [
        "SET LOCAL search_path = {store}, pg_temp",
        *views,
        _INLINED_ROWS.replace("<text>", inlined_rows_text(dialect, catalog)),
    ]


# The tables of inlined rows come and go with those of the lake: a function reads them.
_INLINED_ROWS = """
CREATE FUNCTION {tenant}.ducklake_inlined_rows(wanted bigint) RETURNS TABLE (
    catalog_id bigint, table_id bigint, row_id bigint, begin_snapshot bigint, "values" jsonb,
    end_snapshot bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, {store}, pg_temp AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT DISTINCT t.table_name FROM {tenant}.ducklake_inlined_data_tables t
        WHERE t.table_id = wanted
    LOOP
        RETURN QUERY EXECUTE format($text$<text>$text$, name) USING wanted;
    END LOOP;
END
$$"""


def _grants() -> list[str]:
    return [
        "REVOKE ALL ON SCHEMA {tenant} FROM PUBLIC",
        "REVOKE ALL ON ALL TABLES IN SCHEMA {store} FROM PUBLIC, {role}",
        "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {tenant} FROM PUBLIC",
        "GRANT USAGE ON SCHEMA {tenant} TO {role}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA {tenant} TO {role}",
        "GRANT EXECUTE ON FUNCTION {tenant}.catalog_id() TO {role}",
        "GRANT EXECUTE ON FUNCTION {tenant}.ducklake_inlined_rows(bigint) TO {role}",
    ]


def _closing(connection: Connection, place: _Place) -> list[str]:
    """What closes the rest of the server to tenants, and not to the owner of the metastore."""
    rows = connection.fetch(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = ANY(:names)"
        " AND pronamespace = 'pg_catalog'::regnamespace ORDER BY 1",
        names=list(_CLOSED_FUNCTIONS),
    )
    functions = ", ".join(signature for (signature,) in rows)
    return [
        "REVOKE CREATE, TEMPORARY ON DATABASE {database} FROM PUBLIC",
        "GRANT CREATE, TEMPORARY ON DATABASE {database} TO {owner}",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        f"REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION {functions} TO {{owner}}",
    ]


def _joined(statements: Sequence[sql.Composed]) -> sql.Composed:
    from psycopg import sql

    return sql.SQL(";\n").join(statements)
