"""Roles, rights and operations: the only tables that define who may do what.

A right applies to one catalog. A role is a set of rights that is granted together. The table of
operations defines which right or other condition each operation requires.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from forklake.errors import InvalidInput


class Right(StrEnum):
    """A right on a catalog; the value is its letter in tokens."""

    READ = "r"
    FORK = "f"
    WRITE = "w"
    ADMINISTER = "a"
    OWN = "o"


class Role(StrEnum):
    """A named set of rights that can be granted."""

    READER = "reader"
    FORKER = "forker"
    WRITER = "writer"
    ADMIN = "admin"
    OWNER = "owner"


class Special(StrEnum):
    """A requirement of an operation that is not a right on a catalog."""

    ANYONE = "anyone"  # any authenticated caller; the answer contains only what the caller may see
    PREFIX = "prefix"  # a grant with ADMINISTER on a prefix of the new name
    SELF = "self"  # the principal concerned, with a key and not with a token, or a root
    ROOT = "root"  # a root


ROLES: dict[Role, frozenset[Right]] = {
    Role.READER: frozenset({Right.READ}),
    Role.FORKER: frozenset({Right.READ, Right.FORK}),
    Role.WRITER: frozenset({Right.READ, Right.WRITE}),
    Role.ADMIN: frozenset({Right.READ, Right.FORK, Right.WRITE, Right.ADMINISTER}),
    Role.OWNER: frozenset(Right),
}
NOTHING: frozenset[Right] = frozenset()
EVERYTHING: frozenset[Right] = frozenset(Right)

OPERATIONS: dict[str, Right | Special] = {
    "catalog.list": Special.ANYONE,
    "catalog.create": Special.PREFIX,
    "catalog.get": Right.READ,
    "catalog.fork": Right.FORK,  # and Special.PREFIX for the names of the forks
    "catalog.forks": Right.READ,
    "catalog.tree": Right.READ,
    # A name decides which roles on prefixes apply: OWN, and Special.PREFIX for the new name.
    "catalog.rename": Right.OWN,
    "catalog.drop": Right.ADMINISTER,
    "catalog.extend": Right.ADMINISTER,
    "catalog.materialize": Right.ADMINISTER,
    "catalog.diff": Right.READ,  # on both catalogs
    "catalog.merge": Right.WRITE,  # and catalog.diff on the source
    "schema.list": Right.READ,
    "schema.create": Right.WRITE,
    "schema.alter": Right.WRITE,
    "schema.drop": Right.WRITE,
    "table.list": Right.READ,
    "table.get": Right.READ,
    "table.create": Right.WRITE,
    "table.alter": Right.WRITE,
    "table.drop": Right.WRITE,
    "column.add": Right.WRITE,
    "column.alter": Right.WRITE,
    "column.drop": Right.WRITE,
    "view.list": Right.READ,
    "view.get": Right.READ,
    "view.create": Right.WRITE,
    "view.drop": Right.WRITE,
    "snapshot.list": Right.READ,
    "file.list": Right.READ,
    "storage.get": Right.READ,
    "options.get": Right.READ,
    "options.set": Right.ADMINISTER,
    "session.list": Special.ANYONE,
    "session.open": Right.READ,
    "statement.read": Right.READ,
    "statement.write": Right.WRITE,
    "statement.administer": Right.ADMINISTER,
    "maintenance.list": Right.READ,
    "maintenance.run": Right.ADMINISTER,
    "mirror.list": Right.READ,
    "mirror.run": Right.ADMINISTER,
    "grants.list": Right.ADMINISTER,
    "grants.set": Right.ADMINISTER,  # and grants.own for the roles admin and owner
    "grants.own": Right.OWN,
    "token.mint": Right.READ,  # the rights of the token must be rights of the caller
    "quota.get": Right.READ,
    "audit.catalog": Right.ADMINISTER,
    "caller.get": Special.ANYONE,
    "quota.own": Special.SELF,
    "grants.own_prefixes": Special.SELF,
    "key.list": Special.SELF,
    "key.create": Special.SELF,
    "key.revoke": Special.SELF,
    "grants.prefix": Special.ROOT,
    "principal.list": Special.ROOT,
    "principal.create": Special.ROOT,
    "principal.disable": Special.ROOT,
    "principal.act": Special.ROOT,  # on behalf of another principal
    "quota.set": Special.ROOT,
    "signing.rotate": Special.ROOT,
    "account.list": Special.ROOT,
    "account.create": Special.ROOT,
    "account.move": Special.ROOT,
    "session.all": Special.ROOT,
    "metastore.options": Special.ROOT,
    "audit.all": Special.ROOT,
}
# Granting and revoking these roles needs OWN.
HIGH_ROLES = frozenset({Role.ADMIN, Role.OWNER})


def letters(rights: Iterable[Right]) -> str:
    """Return rights as the letters of a token, always in the same order."""
    given = frozenset(rights)
    return "".join(right for right in Right if right in given)


def role_named(name: str) -> Role:
    """Return the role with a name; raise InvalidInput if there is none."""
    try:
        return Role(name)
    except ValueError:
        raise InvalidInput(
            f"The role {name!r} does not exist.", remedy=f"Use one of: {', '.join(Role)}."
        ) from None


def right_named(name: str) -> Right:
    """Return the right with a name such as `read`, or with its letter."""
    found = Right.__members__.get(str(name).upper())
    if found is None and name in set(Right):
        found = Right(name)
    if found is None:
        names = ", ".join(one.name.lower() for one in Right)
        raise InvalidInput(f"The right {name!r} does not exist.", remedy=f"Use some of: {names}.")
    return found
