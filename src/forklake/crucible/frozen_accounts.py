"""Access rules for accounts that are being moved to another stamp."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from forklake.access.access import Access
from forklake.access.callers import Caller
from forklake.access.roles import OPERATIONS, Right
from forklake.catalog.catalog import Catalog
from forklake.errors import Unavailable
from forklake.store.catalogs import CatalogRow

# Read-only operations that require more than the READ right.
_ONLY_READ = frozenset({"grants.list", "audit.catalog"})
# Operations without a catalog that write rows which move together with the catalogs.
_BESIDE_CATALOGS = frozenset({"grants.prefix", "quota.set", "principal.create"})


class Frozen(Access):
    """Access rules that allow reads and raise Unavailable for changes."""

    def catalog(self, caller: Caller, name: str, operation: str) -> Catalog:
        found = super().catalog(caller, name, operation)
        if OPERATIONS[operation] is not Right.READ and operation not in _ONLY_READ:
            raise _moving_error(caller)
        return found

    def rights(self, caller: Caller, names: Sequence[str]) -> dict[str, frozenset[Right]]:
        found = super().rights(caller, names)
        return {name: given & {Right.READ} for name, given in found.items()}

    def require(self, caller: Caller, operation: str, *, principal: str | None = None) -> None:
        super().require(caller, operation, principal=principal)
        if operation in _BESIDE_CATALOGS:
            raise _moving_error(caller)

    def create(
        self,
        caller: Caller,
        names: Sequence[str],
        *,
        data_path: str | None = None,
        if_not_exists: bool = False,
        ttl: timedelta | None = None,
    ) -> list[CatalogRow]:
        raise _moving_error(caller)

    def fork(
        self,
        caller: Caller,
        parent: str,
        names: Sequence[str],
        *,
        at: int | None = None,
        mode: str = "inherit",
        if_not_exists: bool = False,
        ttl: timedelta | None = None,
    ) -> tuple[list[CatalogRow], int]:
        raise _moving_error(caller)

    def rename(self, caller: Caller, name: str, new_name: str) -> Catalog:
        raise _moving_error(caller)

    def drop(self, caller: Caller, names: Sequence[str], *, if_exists: bool = False) -> int:
        raise _moving_error(caller)


def _moving_error(caller: Caller) -> Unavailable:
    return Unavailable(
        f"Account '{caller.account}' is being moved to another stamp and is read-only meanwhile.",
        remedy="Try again when the move has finished.",
    )
