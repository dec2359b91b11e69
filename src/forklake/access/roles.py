"""Roles, rights and operations: the tables that say who may do what, and nothing else does.

A right is on one catalog. A role is a set of rights that is granted together. An operation is what
somebody wants to do; the table says which right it takes, or which other condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from forklake.errors import InvalidInput


class Right(StrEnum):
    """What can be allowed on a catalog; the value is its letter in tokens."""

    READ = "r"
    FORK = "f"
    WRITE = "w"
    ADMINISTER = "a"
    OWN = "o"


class Role(StrEnum):
    """What can be granted."""

    READER = "reader"
    FORKER = "forker"
    WRITER = "writer"
    ADMIN = "admin"
    OWNER = "owner"


class Special(StrEnum):
    """What an operation takes that is not a right on a catalog."""

    ANYONE = "anyone"  # whoever is known; the answer holds only what they may see
    PREFIX = "prefix"  # a grant with ADMINISTER on a prefix of the new name
    SELF = "self"  # the principal itself, with a key and not with a token, or a root
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
    "catalog.rename": Right.OWN,  # a name gives roles by prefix; and Special.PREFIX for the new one
    "catalog.drop": Right.ADMINISTER,
    "catalog.extend": Right.ADMINISTER,
    "catalog.materialize": Right.ADMINISTER,
    "catalog.diff": Right.READ,  # on both
    "catalog.merge": Right.WRITE,  # and catalog.diff on what is merged
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
    "grants.set": Right.ADMINISTER,  # of admins and owners: grants.own
    "grants.own": Right.OWN,
    "token.mint": Right.READ,  # never more rights than one's own
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
    "principal.act": Special.ROOT,  # as somebody else
    "quota.set": Special.ROOT,
    "signing.rotate": Special.ROOT,
    "account.list": Special.ROOT,
    "account.create": Special.ROOT,
    "account.move": Special.ROOT,
    "session.all": Special.ROOT,
    "metastore.options": Special.ROOT,
    "audit.all": Special.ROOT,
}
# Granting these, or taking them away, needs OWN.
HIGH_ROLES = frozenset({Role.ADMIN, Role.OWNER})


def letters(rights: Iterable[Right]) -> str:
    """Rights as the letters of a token, always in the same order."""
    given = frozenset(rights)
    return "".join(right for right in Right if right in given)


def role_named(name: str) -> Role:
    """The role of a name."""
    try:
        return Role(name)
    except ValueError:
        raise InvalidInput(
            f"There is no role {name!r}.", remedy=f"Use one of: {', '.join(Role)}."
        ) from None


def right_named(name: str) -> Right:
    """The right of a name, such as `read`, or of its letter."""
    found = Right.__members__.get(str(name).upper())
    if found is None and name in set(Right):
        found = Right(name)
    if found is None:
        names = ", ".join(one.name.lower() for one in Right)
        raise InvalidInput(f"There is no right {name!r}.", remedy=f"Use some of: {names}.")
    return found
