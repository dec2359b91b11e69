"""Comparison and merge of catalogs: how a metastore calls `forklake.merging`, a package above.

The root package provides the implementation, so that imports point downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.model.diffs import Diff
    from forklake.model.merge_outcomes import Merged
    from forklake.model.requests import MergeRequest


class Comparison(Protocol):
    """Functions that read the rows of catalogs, for which they open a session."""

    def diff(
        self,
        metastore: Metastore,
        first: str,
        second: str,
        *,
        tables: Sequence[str] | None,
        rows: bool,
        limit: int,
    ) -> Diff:
        """Return the changes from the first catalog to the second."""

    def merge(self, metastore: Metastore, request: MergeRequest, *, author: str | None) -> Merged:
        """Merge a fork as one snapshot of the target."""


_load: Callable[[], Comparison] | None = None


def provide_comparison(load: Callable[[], Comparison]) -> None:
    """Set the function that imports the implementation; it is called on first use."""
    global _load  # noqa: PLW0603 - set once, when the package is imported
    _load = load


def comparison() -> Comparison:
    """Return the implementation."""
    assert _load is not None
    return _load()
