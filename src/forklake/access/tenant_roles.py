"""Roles of tenants: login roles that are members of one role, each with limits of its own.

PostgreSQL gives members the rights of a role, but neither its settings nor its limit of
connections. They are therefore set on each member, and the views refuse roles without them.
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
# The role and its members at any depth, with the limits of each; `can_alter` may change them.
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
    """The most that a role of tenants may use."""

    statement_seconds: int = 60
    idle_seconds: int = 60  # inside of a transaction
    connections: int = 64

    def __post_init__(self) -> None:
        for seconds in (self.statement_seconds, self.idle_seconds):
            if not 1 <= seconds <= _MOST_SECONDS:
                raise InvalidInput(
                    f"{seconds} seconds cannot be a limit of tenants.",
                    remedy=f"Use 1 to {_MOST_SECONDS}.",
                )
        if not 1 <= self.connections <= 10_000:
            raise InvalidInput(
                f"{self.connections} cannot be a limit of connections.", remedy="Use 1 to 10000."
            )

    @property
    def statement(self) -> str:
        """The longest statement, as PostgreSQL writes it."""
        return f"{self.statement_seconds}s"

    @property
    def idle(self) -> str:
        """The longest pause in a transaction, as PostgreSQL writes it."""
        return f"{self.idle_seconds}s"


@dataclass(frozen=True, slots=True)
class _Member:
    """A role and its limits; None where it has none."""

    name: str
    connections: int
    statement: float | None
    idle: float | None
    is_read_only: bool
    can_alter: bool

    def missing(self, limits: Limits) -> Iterator[str]:
        """Yield the statements that give the role the limits that it lacks."""
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
    """Raise AlreadyExists if one of the names of new roles is taken."""
    for name in names:
        checked_name(name, "role")
        if connection.fetch("SELECT 1 FROM pg_roles WHERE rolname = :name", name=name):
            raise AlreadyExists(
                f"The role '{name}' exists in PostgreSQL.",
                remedy=f"Choose another name, or make it a member of '{role}' with GRANT, and run"
                " forklake access tenants again.",
            )


def limit_statements(
    connection: Connection, role: str, owner: str, limits: Limits
) -> list[tuple[str, str]]:
    """Return roles and the statements on `{member}` that give each the limits that it lacks."""
    members = _members(connection, role, owner)
    return [(one.name, text) for one in members if one.can_alter for text in one.missing(limits)]


def unlimited_roles(
    connection: Connection, role: str, owner: str, limits: Limits
) -> tuple[str, ...]:
    """Return the roles without limits, which the connected role cannot give them."""
    members = _members(connection, role, owner)
    return tuple(one.name for one in members if any(one.missing(limits)))


def _members(connection: Connection, role: str, owner: str) -> list[_Member]:
    return [_Member(*row) for row in connection.fetch(_MEMBERS, role=role, owner=owner)]
