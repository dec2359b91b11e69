"""Tenants of a PostgreSQL metastore: each connection sees one catalog, that of its token.

`set_up` creates a schema of views that check the token, and a role that can read these views and
nothing else. By default it also revokes rights that PostgreSQL gives to every role.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING

from forklake.access.credentials import LONGEST_TOKEN_SECONDS
from forklake.access.hardening import can_close, closing_statements, is_closed
from forklake.access.tenant_roles import (
    CREATE_MEMBER,
    Limits,
    limit_statements,
    require_new,
    unlimited_roles,
)
from forklake.errors import AlreadyExists, InvalidInput, NotFound, Unsupported
from forklake.model.names import checked_name
from forklake.store.access import is_installed
from forklake.store.database import Connection, Dialect
from forklake.store.tenant_views import VIEWS, inlined_rows_text, view_text

if TYPE_CHECKING:
    from psycopg import sql

    from forklake.catalog.metastore import Metastore
    from forklake.store.postgresql import PostgresDatabase

ROLE = "forklake_tenant"
_MARK = "Forklake: "  # start of the comment on schemas that we created
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
    """Result of a set-up.

    `hardening` lists the hardening statements, whether or not they were run. `unlimited` lists
    member roles without limits that only their administrator can change; the views refuse their
    statements.
    """

    schema: str
    role: str
    views: tuple[str, ...]
    hardening: tuple[str, ...]
    is_hardened: bool
    unlimited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Names and limits for the placeholders of statements."""

    store: str
    database: str
    owner: str
    tenant: str
    role: str
    is_new_role: bool
    replaces: bool
    limits: Limits

    def fill(self, text: str, **names: str) -> sql.Composed:
        """Return a statement with its placeholders filled in."""
        from psycopg import sql

        names |= {"store": self.store, "tenant": self.tenant, "role": self.role}
        names |= {"database": self.database, "owner": self.owner}
        quoted = {name: sql.Identifier(value) for name, value in names.items()}
        values: dict[str, object] = {
            "owner_text": self.owner,
            "most_statement": self.limits.statement,
            "most_idle": self.limits.idle,
            "most_connections": self.limits.connections,
            "longest_token": LONGEST_TOKEN_SECONDS,
        }
        literals = {name: sql.Literal(value) for name, value in values.items()}
        return sql.SQL(text).format(**quoted, **literals)


def set_up(
    metastore: Metastore,
    *,
    role: str = ROLE,
    schema: str | None = None,
    harden: bool = True,
    members: Sequence[str] = (),
    limits: Limits | None = None,
) -> Tenants:
    """Create or replace the views and rights of tenants. Needs the owner of the metastore.

    Args:
        role: role of tenants; created if it does not exist.
        schema: schema of the views; default `tenant`, or `<schema>_tenant` if the metastore is in
            another schema than public.
        harden: revoke rights that PostgreSQL gives to every role of the database: advisory locks
            that commits wait for, statements of other roles, temporary tables and large objects.
            Needs a superuser, unless a superuser has run the statements before.
        members: login roles to create, one for each tenant, with the limits of `role`.
        limits: limits of `role` and of all its members.
    """
    database = _postgresql(metastore)
    with database.reading() as connection:
        place = _found(connection, checked_name(role, "role"), schema, limits or Limits())
        require_new(connection, members, role)
        closing = [place.fill(text) for text in closing_statements(connection)]
        # A role that does not exist yet will have the rights of PUBLIC.
        is_to_close = harden and can_close(connection, "public" if place.is_new_role else role)
        tables = _tables(connection)
    views = [*_schema(place), *_views(place, tables, connection.dialect), *_grants()]
    database.run_script(
        _joined(
            [
                *(closing if is_to_close else ()),
                *(place.fill(text) for text in _roles(place)),
                *(place.fill(CREATE_MEMBER, member=one) for one in members),
                *(place.fill(text) for text in views),  # from here on as the owner
            ]
        )
    )
    with database.reading() as connection:
        statements = limit_statements(connection, role, place.owner, place.limits)
    if statements:
        database.run_script(_joined([place.fill(text, member=one) for one, text in statements]))
    with database.reading() as connection:
        return Tenants(
            place.tenant,
            role,
            tuple(sorted(tables)),
            tuple(statement.as_string(None) for statement in closing),
            is_closed(connection, role),
            unlimited_roles(connection, role, place.owner, place.limits),
        )


def _postgresql(metastore: Metastore) -> PostgresDatabase:
    if metastore.database.dialect.name != "postgresql":
        raise Unsupported(
            f"The metastore {metastore.database.address} cannot separate tenants: only PostgreSQL"
            " has the roles for it.",
            remedy="Use a metastore in PostgreSQL, or give tenants access through the service.",
        )
    from forklake.store.postgresql import PostgresDatabase

    assert isinstance(metastore.database, PostgresDatabase)
    if not is_installed(metastore.database):
        raise NotFound(
            f"The metastore {metastore.database.address} has no tables for access rules.",
            remedy="Create them with: forklake access init.",
        )
    return metastore.database


def _found(connection: Connection, role: str, schema: str | None, limits: Limits) -> _Place:
    ((store,),) = connection.fetch("SELECT current_schema()::text")
    tenant = schema or ("tenant" if store == "public" else f"{store}_tenant")
    ((store, database, owner, mark, exists, is_too_strong),) = connection.fetch(
        _FACTS, tenant=checked_name(tenant, "schema"), role=role
    )
    if exists and not (mark or "").startswith(_MARK):
        raise AlreadyExists(
            f"The schema '{tenant}' exists and was not created by Forklake.",
            remedy="Choose another schema for the views of tenants: --schema.",
        )
    if is_too_strong:
        raise InvalidInput(
            f"The role '{role}' can read the tables of the metastore without the views.",
            remedy="Choose a role that is not a superuser and not a member of their owner.",
        )
    is_new_role = is_too_strong is None
    return _Place(store, database, owner, tenant, role, is_new_role, exists, limits)


def _tables(connection: Connection) -> dict[str, list[str]]:
    """Return the tables that get a view, with their columns."""
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
    return [made] if place.is_new_role else []


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


# Tables of inlined rows are created and dropped with tables of the lake: a function reads them.
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


def _joined(statements: Sequence[sql.Composed]) -> sql.Composed:
    from psycopg import sql

    return sql.SQL(";\n").join(statements)
