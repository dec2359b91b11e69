"""rewrite_data_files: compaction of files with many deleted rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.maintenance.compaction import (
    Compaction,
    CompactionResult,
    CompactionTable,
    select_tables,
)
from forklake.maintenance.file_groups import FileGroup, group_files
from forklake.model.changes import ChangeKind

if TYPE_CHECKING:
    from forklake.session.session import Session


def rewrite_data_files(
    session: Session,
    alias: str,
    table: str | Sequence[str] | None = None,
    schema: str | None = None,
    *,
    delete_threshold: float | None = None,
    max_compacted_files: int | None = None,
) -> list[CompactionResult]:
    """Rewrite files with many deleted rows. Files without live rows end and are not replaced.

    Args:
        table: one table, as `schema.table` or a table of `schema`; by default all tables of
            `schema`, or of the catalog.
        delete_threshold: minimum fraction of deleted rows; by default the option
            rewrite_delete_threshold.
        max_compacted_files: maximum number of new files for each table.
    """
    if delete_threshold is not None and not 0 <= delete_threshold <= 1:
        raise InvalidInput(
            f"The delete_threshold {delete_threshold} must be between 0 and 1.",
            remedy="Pass the minimum fraction of deleted rows, such as 0.1.",
        )

    def choose(one: CompactionTable) -> list[FileGroup]:
        threshold = delete_threshold
        if threshold is None:
            threshold = float(one.target.option("rewrite_delete_threshold") or 0)
        files = [
            file
            for file in one.seen.scan_files(one.table)
            if 0 < file.deleted_rows >= threshold * file.file.record_count
        ]
        return group_files(files, one.partition_values(files), one.file_size)

    compaction = Compaction("rewrite_data_files", ChangeKind.REWRITTEN, choose, max_compacted_files)
    return compaction.run(select_tables(session, alias, table, schema))
