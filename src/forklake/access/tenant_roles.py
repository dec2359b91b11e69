"""Login roles of tenants: members of one common role, each with its own limits.

PostgreSQL passes the rights of a role on to its members, but neither its settings nor its
connection limit. These are therefore set on each member, and the views refuse roles without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forklake.errors import AlreadyExists, InvalidInput
from forklake.model.names import checked_name
from forklake.store.database import Connection

_MOST_SECONDS = 24 * 3600
# Creates the login role of a tenant.
CREATE_MEMBER = (
    "CREATE ROLE {member} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION IN ROLE {role}"
)
# The role and its direct and indirect members with their limits, and whether we may alter them.
_MEMBERS = """
    WITH RECURSIVE member(oid) AS (
        SELECT oid FROM pg_roles WHERE rolname = :role
        UNION
        SELECT m.member FROM pg_auth_members m JOIN member ON m.roleid = member.oid
    ), setting AS (
        SELECT s.setrole, split_part(c, '=', 1) AS name,
            CASE WHEN split_part(c, '=', 2) ~ '^[0-9]+$' THEN split_part(c, '=', 2) || 'ms'
                ELSE split_part(c, '=', 2) END::interval AS value
        FROM pg_db_role_setting s, unnest(s.setconfig) c
        WHERE s.setdatabase = 0
            AND split_part(c, '=', 1)
                IN ('statement_timeout', 'idle_in_transaction_session_timeout')
    )
    SELECT r.rolname::text, r.rolconnlimit,
        (SELECT extract(epoch FROM value)::float8 FROM setting s
         WHERE s.setrole = r.oid AND s.name = 'statement_timeout'),
        (SELECT extract(epoch FROM value)::float8 FROM setting s
         WHERE s.setrole = r.oid AND s.name = 'idle_in_transaction_session_timeout'),
        EXISTS (SELECT 1 FROM pg_db_role_setting s, unnest(s.setconfig) c WHERE s.setrole = r.oid
            AND s.setdatabase = 0 AND c = 'default_transaction_read_only=on'),
        (SELECT me.rolsuper OR pg_has_role(me.oid, r.oid, 'USAGE WITH ADMIN OPTION')
            OR (me.rolcreaterole AND current_setting('server_version_num')::int < 160000)
         FROM pg_roles me WHERE me.rolname = current_user) AS can_alter
    FROM pg_roles r JOIN member USING (oid)
    WHERE NOT r.rolsuper AND NOT pg_has_role(r.oid, :owner, 'MEMBER') AND r.rolcanlogin
    ORDER BY r.rolname <> :role, r.rolname"""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a role of tenants."""

    statement_seconds: int = 60
    idle_seconds: int = 60  # inside of a transaction
    connections: int = 64

    def __post_init__(self) -> None:
        for seconds in (self.statement_seconds, self.idle_seconds):
            if not 1 <= seconds <= _MOST_SECONDS:
                raise InvalidInput(
                    f"The time limit {seconds} of tenants is not valid.",
                    remedy=f"Use 1 to {_MOST_SECONDS} seconds.",
                )
        if not 1 <= self.connections <= 10_000:
            raise InvalidInput(
                f"The connection limit {self.connections} is not valid.", remedy="Use 1 to 10000."
            )

    @property
    def statement(self) -> str:
        """Maximum duration of a statement, in PostgreSQL syntax."""
        return f"{self.statement_seconds}s"

    @property
    def idle(self) -> str:
        """Maximum idle time in a transaction, in PostgreSQL syntax."""
        return f"{self.idle_seconds}s"


@dataclass(frozen=True, slots=True)
class _Member:
    """A role and its limits; None if a limit is not set."""

    name: str
    connections: int
    statement: float | None
    idle: float | None
    is_read_only: bool
    can_alter: bool

    def missing(self, limits: Limits) -> Iterator[str]:
        """Yield the statements that set the limits which the role lacks."""
        if not 0 <= self.connections <= limits.connections:
            yield f"ALTER ROLE {{member}} CONNECTION LIMIT {limits.connections}"
        if not _is_within(self.statement, limits.statement_seconds):
            yield f"ALTER ROLE {{member}} SET statement_timeout = '{limits.statement}'"
        if not _is_within(self.idle, limits.idle_seconds):
            setting = "idle_in_transaction_session_timeout"
            yield f"ALTER ROLE {{member}} SET {setting} = '{limits.idle}'"
        if not self.is_read_only:
            yield "ALTER ROLE {member} SET default_transaction_read_only = 'on'"


def _is_within(seconds: float | None, most: int) -> bool:
    return seconds is not None and 0 < seconds <= most


def require_new(connection: Connection, names: Sequence[str], role: str) -> None:
    """Raise AlreadyExists if a role with one of the names exists."""
    for name in names:
        checked_name(name, "role")
        if connection.fetch("SELECT 1 FROM pg_roles WHERE rolname = :name", name=name):
            raise AlreadyExists(
                f"The role '{name}' already exists in PostgreSQL.",
                remedy=f"Choose another name, or make it a member of '{role}' with GRANT and run"
                " forklake access tenants again.",
            )


def limit_statements(
    connection: Connection, role: str, owner: str, limits: Limits
) -> list[tuple[str, str]]:
    """Return pairs of a role and a statement on `{member}` that sets a limit which it lacks."""
    members = _members(connection, role, owner)
    return [(one.name, text) for one in members if one.can_alter for text in one.missing(limits)]


def unlimited_roles(
    connection: Connection, role: str, owner: str, limits: Limits
) -> tuple[str, ...]:
    """Return the roles that lack limits; only another administrator can set these."""
    members = _members(connection, role, owner)
    return tuple(one.name for one in members if any(one.missing(limits)))


def _members(connection: Connection, role: str, owner: str) -> list[_Member]:
    return [_Member(*row) for row in connection.fetch(_MEMBERS, role=role, owner=owner)]
