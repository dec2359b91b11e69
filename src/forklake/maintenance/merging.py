"""merge_adjacent_files: few files of many small ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.maintenance.compacting import Compacted, Compaction, SeenTable, seen_tables
from forklake.maintenance.grouping import Group, grouped
from forklake.model.changes import ChangeKind

if TYPE_CHECKING:
    from forklake.spark.session import Session


def merge_adjacent_files(
    session: Session,
    alias: str,
    table: str | Sequence[str] | None = None,
    schema: str | None = None,
    *,
    min_file_size: int | None = None,
    max_file_size: int | None = None,
    max_compacted_files: int | None = None,
) -> list[Compacted]:
    """Merge small files of one partition, up to the target_file_size; rows are as they were.

    Args:
        table: one table, `schema.table` or of the `schema`; else all of the schema or catalog.
        min_file_size, max_file_size: only files of at least, and of less than, so many bytes; the
            latter is target_file_size if it is not given.
        max_compacted_files: make no more than so many files of a table.
    """
    if max_file_size is not None and (min_file_size or 0) >= max_file_size:
        raise InvalidInput(
            f"No file is of {min_file_size or 0} bytes or more and of less than {max_file_size}.",
            remedy="Give a min_file_size that is less than max_file_size.",
        )

    def choose(one: SeenTable) -> list[Group]:
        sizes = range(min_file_size or 0, max_file_size or one.file_size)
        files = [
            file
            for file in one.seen.scan_files(one.table)
            if file.file.file_size_bytes in sizes and not file.has_deletes
        ]
        return grouped(files, one.partition_values(files), one.file_size, least=2)

    way = Compaction("merge_adjacent_files", ChangeKind.MERGED, choose, max_compacted_files)
    return way.run(seen_tables(session, alias, table, schema))
