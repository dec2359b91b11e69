"""merge_adjacent_files: compaction of many small files into few large ones."""

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


def merge_adjacent_files(
    session: Session,
    alias: str,
    table: str | Sequence[str] | None = None,
    schema: str | None = None,
    *,
    min_file_size: int | None = None,
    max_file_size: int | None = None,
    max_compacted_files: int | None = None,
) -> list[CompactionResult]:
    """Merge small files of one partition, up to target_file_size. Rows do not change.

    Args:
        table: one table, as `schema.table` or a table of `schema`; by default all tables of
            `schema`, or of the catalog.
        min_file_size, max_file_size: merge only files of at least the minimum and of less than the
            maximum size in bytes. The default maximum is target_file_size.
        max_compacted_files: maximum number of new files for each table.
    """
    if max_file_size is not None and (min_file_size or 0) >= max_file_size:
        raise InvalidInput(
            f"min_file_size ({min_file_size or 0}) must be less than max_file_size"
            f" ({max_file_size}).",
            remedy="Pass a smaller min_file_size or a larger max_file_size.",
        )

    def choose(one: CompactionTable) -> list[FileGroup]:
        sizes = range(min_file_size or 0, max_file_size or one.file_size)
        files = [
            file
            for file in one.seen.scan_files(one.table)
            if file.file.file_size_bytes in sizes and not file.has_deletes
        ]
        return group_files(files, one.partition_values(files), one.file_size, minimum=2)

    compaction = Compaction("merge_adjacent_files", ChangeKind.MERGED, choose, max_compacted_files)
    return compaction.run(select_tables(session, alias, table, schema))
