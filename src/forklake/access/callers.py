"""Callers: who is asking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.access.roles import Right
from forklake.model.ids import CatalogId


@dataclass(frozen=True, slots=True)
class Bound:
    """What a token narrows its principal to: some rights on one catalog, for a while."""

    catalog_id: CatalogId
    rights: frozenset[Right]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal that has shown who it is, with a key or with a token."""

    principal_id: int
    name: str
    account: str
    is_root: bool = False
    bound: Bound | None = None

    @property
    def is_free(self) -> bool:
        """Whether nothing at all is checked: a root that came with a key."""
        return self.is_root and self.bound is None


# The caller of a service without access rules, which listens on loopback only.
LOCAL = Caller(0, "local", "local", is_root=True)
