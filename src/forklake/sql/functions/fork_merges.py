"""SQL functions that compare catalogs and merge forks, by the package `merging`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from forklake import merging
from forklake.errors import InvalidInput
from forklake.model.requests import Choice, MergeRequest

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.sql.session import Session


def list_differences(
    session: Session, first: str, second: str, tables: Sequence[str] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield the differences between a first and a second catalog."""
    metastore, one, other = _find_two_catalogs(session, first, second)
    for name in (one, other):
        session.guard.check_read(metastore, name)
    differences = merging.diff(session, metastore, one, other, tables=tables)
    for definition in differences.definitions:
        yield definition, None, None, 0, 0, 0
    for table in differences.tables:
        columns = list(table.columns)
        yield table.table, table.did, columns, table.added, table.removed, table.changed


def merge_catalog(
    session: Session,
    fork: str,
    into: str | None = None,
    tables: Sequence[str] | None = None,
    on_conflict: str = "fail",
    dry_run: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Merge a fork into its parent, or into the catalog `into` of the same metastore."""
    metastore, source = session.find_catalog(fork)
    session.guard.check_read(metastore, source)
    if into is None:
        target = merging.parent_of(metastore, source)
    else:
        _, _, target = _find_two_catalogs(session, fork, into)
    with session.guard.authorize_merge(metastore, source, target, dry_run=dry_run):
        choice = cast(Choice, on_conflict.lower())
        request = MergeRequest(source, target, tables, choice, dry_run)
        merged = merging.merge_fork(session, metastore, request)
    for definition in merged.definitions:
        yield definition, 0, 0, 0, 0, 0, merged.snapshot_id
    for table in merged.tables:
        yield (
            table.table,
            table.appended_rows,
            table.appended_files,
            table.updated,
            table.deleted,
            table.conflict_count,
            merged.snapshot_id,
        )


def _find_two_catalogs(session: Session, first: str, second: str) -> tuple[Metastore, str, str]:
    """Return the common metastore of two catalogs, and their names in it."""
    metastore, one = session.find_catalog(first)
    other_metastore, other = session.find_catalog(second)
    if metastore is not other_metastore:
        raise InvalidInput(
            f"The catalogs '{first}' and '{second}' belong to different metastores.",
            remedy="Name two catalogs of one metastore.",
        )
    return metastore, one, other
