"""Principals, keys, grants, tokens, quotas and the audit, as requests and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from forklake.access.roles import Role
from forklake.crucible.shapes.base import Answer, Body, Moment, Number
from forklake.store import access as store
from forklake.store.audit import AuditRow

RightName = Literal["read", "fork", "write", "administer", "own"]


class Me(Answer):
    """Who asks, as the service knows them."""

    principal: str
    account: str
    is_root: bool
    catalog_id: int | None
    rights: list[str] | None
    expires_at: datetime | None


class Principal(Answer):
    """Somebody who may ask for something."""

    name: str
    account: str
    is_root: bool
    is_disabled: bool

    @classmethod
    def of(cls, row: store.Principal) -> Principal:
        """A principal as the metastore keeps it."""
        return cls(
            name=row.name,
            account=row.account,
            is_root=row.is_root,
            is_disabled=row.is_disabled,
        )


class Principals(Answer):
    """All principals."""

    principals: list[Principal]


class PrefixGrant(Body):
    """A role on all catalogs whose names begin with a text, future ones included."""

    prefix: str
    role: Role


class Prefixes(Answer):
    """The roles of a principal by prefix."""

    prefixes: list[PrefixGrant]


class NewPrincipal(Body):
    """A principal to be made, who may create catalogs whose names begin with its prefixes."""

    name: str
    account: str
    is_root: bool = False
    prefixes: tuple[str, ...] = ()


class Key(Answer):
    """An API key without its secret."""

    key_id: str
    created_at: datetime
    is_revoked: bool


class Keys(Answer):
    """The keys of a principal, oldest first."""

    keys: list[Key]


class NewKey(Answer):
    """A key as it is made: its text is shown this once."""

    key_id: str
    key: str


class Quota(Answer):
    """Limits of a principal: catalogs that it owns, bytes of each of them, sessions at a time."""

    catalogs: int | None
    bytes: int | None
    sessions: int | None


class SetQuota(Body):
    """The limits that a principal is to have; null is none."""

    catalogs: Number | None = None
    bytes: Number | None = None
    sessions: Number | None = None


class Grant(Answer):
    """A role of a principal on a catalog."""

    principal: str
    role: Role
    expires_at: datetime | None


class Grants(Answer):
    """The roles that were granted on a catalog."""

    grants: list[Grant]


class SetGrant(Body):
    """The role that a principal is to have, for ever or for a while."""

    role: Role
    expires_at: Moment | None = None


class NewToken(Body):
    """A token to be made: for these rights, for so many seconds."""

    rights: Annotated[list[RightName], Field(min_length=1, max_length=5)]
    seconds: Annotated[int, Field(ge=1, le=30 * 86_400)] = 3600


class Token(Answer):
    """A token, shown this once."""

    token: str


class AuditEntry(Answer):
    """What somebody did, was denied or failed to do."""

    audit_id: str
    time: datetime
    principal: str
    operation: str
    object: str
    catalog_id: int | None
    outcome: str

    @classmethod
    def of(cls, row: AuditRow) -> AuditEntry:
        """An entry as the metastore keeps it."""
        return cls(
            audit_id=row.audit_id,
            time=row.happened_at,
            principal=row.principal,
            operation=row.operation,
            object=row.object,
            catalog_id=row.catalog_id,
            outcome=str(row.outcome),
        )


class Audit(Answer):
    """Entries, newest first; older ones come `after` the id `next`."""

    entries: list[AuditEntry]
    next: str | None
