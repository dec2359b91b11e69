"""Comparison and merge of catalogs in a session of their own, for `Metastore.diff` and `.merge`.

Spark is started only if rows have to be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from forklake.catalog.metastore import Metastore
from forklake.merging import differences
from forklake.merging.fork_merge import merge_fork
from forklake.model.diffs import Diff
from forklake.model.merge_outcomes import Merged
from forklake.model.requests import MergeRequest
from forklake.session.session import Session


def diff(
    metastore: Metastore,
    first: str,
    second: str,
    *,
    tables: Sequence[str] | None,
    rows: bool,
    limit: int,
) -> Diff:
    """Return the changes from the first catalog to the second."""
    with Session() as session:
        return differences.diff(
            session, metastore, first, second, tables=tables, rows=rows, limit=limit
        )


def merge(metastore: Metastore, request: MergeRequest, *, author: str | None) -> Merged:
    """Merge a fork as one snapshot of the target."""
    with Session() as session:
        return merge_fork(session, metastore, request, author=author)
