"""Hardening of PostgreSQL: rights that every role of a database has, and statements to revoke them.

With these rights tenants could take the advisory locks that commits wait for, see and cancel the
statements of other roles, and store data that no clean-up removes. The rights belong to the whole
database, so the owner of the metastore, and every role that may commit to it, keeps them.
"""

from __future__ import annotations

from forklake.errors import Forbidden
from forklake.store.database import Connection

_FUNCTIONS = (
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
    "pg_logical_emit_message",
    "lo_creat",
    "lo_create",
    "lo_from_bytea",
)
_SIGNATURES = """
    SELECT oid::regprocedure::text FROM pg_proc WHERE proname = ANY(:names)
    AND pronamespace = 'pg_catalog'::regnamespace ORDER BY 1"""
_IS_OPEN = """
    SELECT has_database_privilege(:role, current_database(), 'CREATE, TEMPORARY')
        OR has_schema_privilege(:role, 'public', 'CREATE')
        OR EXISTS (SELECT 1 FROM pg_proc WHERE proname = ANY(:names)
            AND pronamespace = 'pg_catalog'::regnamespace
            AND has_function_privilege(:role, oid, 'EXECUTE'))"""
# Roles that commit to the metastore without owning it, such as the role of a service.
_WRITERS = """
    SELECT quote_ident(rolname) FROM pg_roles
    WHERE NOT rolsuper AND NOT starts_with(rolname, 'pg_')
        AND has_table_privilege(oid, 'ducklake_catalog_head', 'UPDATE')
        AND oid <> (SELECT relowner FROM pg_class WHERE oid = 'ducklake_catalog_head'::regclass)
    ORDER BY 1"""


def is_closed(connection: Connection, role: str) -> bool:
    """Return whether an existing role has none of the rights that hardening revokes."""
    ((is_open,),) = connection.fetch(_IS_OPEN, role=role, names=list(_FUNCTIONS))
    return not is_open


def closing_statements(connection: Connection) -> list[str]:
    """Return the statements that revoke the rights from all roles that do not commit.

    They contain the names of the database and the owner as `{database}` and `{owner}`.
    """
    rows = connection.fetch(_SIGNATURES, names=list(_FUNCTIONS))
    functions = ", ".join(signature for (signature,) in rows)
    writers = [name.replace("{", "{{").replace("}", "}}") for (name,) in connection.fetch(_WRITERS)]
    keeping = ", ".join(["{owner}", *writers])
    return [
        "REVOKE CREATE, TEMPORARY ON DATABASE {database} FROM PUBLIC",
        f"GRANT CREATE, TEMPORARY ON DATABASE {{database}} TO {keeping}",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        f"GRANT CREATE ON SCHEMA public TO {keeping}",
        f"REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION {functions} TO {keeping}",
    ]


def can_close(connection: Connection, role: str) -> bool:
    """Return whether the connected role can run the hardening statements.

    Raises:
        Forbidden: it cannot, and the role of tenants still has the rights.
    """
    # Without a superuser PostgreSQL only warns that nothing was revoked.
    rows = connection.fetch("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    is_superuser = bool(rows[0][0])
    if not is_superuser and not is_closed(connection, role):
        raise Forbidden(
            "The database is not hardened: tenants could take the advisory locks that commits wait"
            " for. Only a superuser can harden it.",
            remedy="Let a superuser run: forklake access tenants. Or accept the risk and use"
            " --no-harden.",
        )
    return is_superuser
