"""rewrite_data_files: files without the rows that were deleted from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.maintenance.compacting import Compacted, Compaction, SeenTable, seen_tables
from forklake.maintenance.grouping import Group, grouped
from forklake.model.changes import ChangeKind

if TYPE_CHECKING:
    from forklake.spark.session import Session


def rewrite_data_files(
    session: Session,
    alias: str,
    table: str | Sequence[str] | None = None,
    schema: str | None = None,
    *,
    delete_threshold: float | None = None,
    max_compacted_files: int | None = None,
) -> list[Compacted]:
    """Write files anew of which many rows are deleted. A file of which none is left just ends.

    Args:
        table: one table, `schema.table` or of the `schema`; else all of the schema or catalog.
        delete_threshold: the share of deleted rows from which on it is done; else what the option
            rewrite_delete_threshold says.
        max_compacted_files: make no more than so many files of a table.
    """
    if delete_threshold is not None and not 0 <= delete_threshold <= 1:
        raise InvalidInput(
            f"The delete_threshold {delete_threshold} must be between 0 and 1.",
            remedy="Give the share of deleted rows from which on a file is written anew.",
        )

    def choose(one: SeenTable) -> list[Group]:
        threshold = delete_threshold
        if threshold is None:
            threshold = float(one.target.option("rewrite_delete_threshold") or 0)
        files = [
            file
            for file in one.seen.scan_files(one.table)
            if 0 < file.deleted_rows >= threshold * file.file.record_count
        ]
        return grouped(files, one.partition_values(files), one.file_size)

    way = Compaction("rewrite_data_files", ChangeKind.REWRITTEN, choose, max_compacted_files)
    return way.run(seen_tables(session, alias, table, schema))
