"""Models of principals, keys, grants, tokens, quotas and audit entries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from forklake.access.roles import Role
from forklake.crucible.shapes.base import Moment, Number, RequestBody, ResponseBody
from forklake.store import access as store
from forklake.store.audit import AuditRow

RightName = Literal["read", "fork", "write", "administer", "own"]


class CallerInfo(ResponseBody):
    """Principal of the caller; for a token also its catalog, rights and expiry."""

    principal: str
    account: str
    is_root: bool
    catalog_id: int | None
    rights: list[str] | None
    expires_at: datetime | None


class Principal(ResponseBody):
    """Principal: a user or program that can call the service."""

    name: str
    account: str
    is_root: bool
    is_disabled: bool

    @classmethod
    def of(cls, row: store.Principal) -> Principal:
        """Return the model of a stored principal."""
        return cls(
            name=row.name,
            account=row.account,
            is_root=row.is_root,
            is_disabled=row.is_disabled,
        )


class Principals(ResponseBody):
    """List of all principals."""

    principals: list[Principal]


class PrefixGrant(RequestBody):
    """Role on all current and future catalogs whose names begin with `prefix`."""

    prefix: str
    role: Role


class PrefixGrants(ResponseBody):
    """Roles of a principal by prefix."""

    prefixes: list[PrefixGrant]


class NewPrincipal(RequestBody):
    """New principal, and the prefixes of the catalogs that it can create."""

    name: str
    account: str
    is_root: bool = False
    prefixes: tuple[str, ...] = ()


class Key(ResponseBody):
    """API key without its secret."""

    key_id: str
    created_at: datetime
    is_revoked: bool


class Keys(ResponseBody):
    """API keys of a principal, oldest first."""

    keys: list[Key]


class NewKey(ResponseBody):
    """New API key with its secret, which is returned only once."""

    key_id: str
    key: str


class Quota(ResponseBody):
    """Limits of a principal: catalogs it owns, bytes per catalog, concurrent sessions."""

    catalogs: int | None
    bytes: int | None
    sessions: int | None


class SetQuota(RequestBody):
    """New limits of a principal; null means unlimited."""

    catalogs: Number | None = None
    bytes: Number | None = None
    sessions: Number | None = None


class Grant(ResponseBody):
    """Role of a principal on a catalog."""

    principal: str
    role: Role
    expires_at: datetime | None


class Grants(ResponseBody):
    """Roles granted on a catalog."""

    grants: list[Grant]


class SetGrant(RequestBody):
    """Role to grant, with an optional expiry."""

    role: Role
    expires_at: Moment | None = None


class NewToken(RequestBody):
    """Rights and lifetime of a new token."""

    rights: Annotated[list[RightName], Field(min_length=1, max_length=5)]
    seconds: Annotated[int, Field(ge=1, le=30 * 86_400)] = 3600


class Token(ResponseBody):
    """New token, which is returned only once."""

    token: str


class AuditEntry(ResponseBody):
    """Operation that a principal performed, failed to perform or was denied."""

    audit_id: str
    time: datetime
    principal: str
    operation: str
    object: str
    catalog_id: int | None
    outcome: str

    @classmethod
    def of(cls, row: AuditRow) -> AuditEntry:
        """Return the model of a stored audit entry."""
        return cls(
            audit_id=row.audit_id,
            time=row.happened_at,
            principal=row.principal,
            operation=row.operation,
            object=row.object,
            catalog_id=row.catalog_id,
            outcome=str(row.outcome),
        )


class AuditPage(ResponseBody):
    """Audit entries, newest first. To get older ones, pass `next` as `after`."""

    entries: list[AuditEntry]
    next: str | None
