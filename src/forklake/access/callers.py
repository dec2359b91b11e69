"""Callers: authenticated principals, optionally restricted by a token."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.access.roles import Right
from forklake.model.ids import CatalogId
from forklake.store.access import Principal


@dataclass(frozen=True, slots=True)
class Bound:
    """Restriction by a token: some rights on one catalog, until a point in time."""

    catalog_id: CatalogId
    rights: frozenset[Right]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal that authenticated with a key or a token."""

    principal_id: int
    name: str
    account: str
    is_root: bool = False
    bound: Bound | None = None

    @property
    def is_free(self) -> bool:
        """Whether no checks apply: a root that authenticated with a key."""
        return self.is_root and self.bound is None


# Caller of a service without access rules, which listens on loopback only.
LOCAL = Caller(0, "local", "local", is_root=True)


def as_caller(principal: Principal, bound: Bound | None = None) -> Caller:
    """Return an authenticated principal as a caller."""
    return Caller(
        principal.principal_id, principal.name, principal.account, principal.is_root, bound
    )
