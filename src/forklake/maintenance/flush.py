"""flush_inlined_data: write inlined rows and inlined deletes to files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from forklake.engines.local.delete_files import DeleteFiles
from forklake.engines.spark.progress import progress
from forklake.errors import Conflict
from forklake.maintenance.compaction import CompactionTable, select_tables
from forklake.model.changes import ChangeKind
from forklake.model.entities import InlinedRow
from forklake.model.files import NewDataFile, NewDeleteFile
from forklake.model.ids import SnapshotId
from forklake.model.scans import ScanFile
from forklake.session.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from forklake.session.session import Session

_FUNCTION = "flush_inlined_data"
_EVER = SnapshotId(0)  # older than every file


@dataclass(frozen=True, slots=True)
class FlushResult:
    """Result for one table: numbers of flushed rows and deletes.

    `was_skipped`: a concurrent commit changed some of them, so nothing was flushed.
    """

    schema_name: str
    table_name: str
    rows_flushed: int
    deletes_flushed: int = 0
    was_skipped: bool = False


def flush_inlined_data(
    session: Session,
    alias: str,
    schema_name: str | None = None,
    table_name: str | Sequence[str] | None = None,
) -> list[FlushResult]:
    """Write inlined rows to data files, and inlined deletes to delete files.

    Rows that only older snapshots see stay in the metastore.
    """
    flushed = map(_flush_table, select_tables(session, alias, table_name, schema_name))
    return [one for one in flushed if one is not None]


def _flush_table(table: CompactionTable) -> FlushResult | None:
    stored = [field.as_stored() for field in table.target.fields]
    rows = table.seen.inlined_rows(table.table, stored)
    special = table.seen.outline(table.table, before=_EVER).special
    files = [file for file in special if file.deleted_positions]
    if not rows and not files:
        return None
    name = table.table.table_name
    try:
        with (
            progress(f"{_FUNCTION} of {name}"),
            table.open_change(_FUNCTION) as change,
        ):
            change.transaction.compact(
                table.table,
                ChangeKind.FLUSHED,
                rows=rows,
                data_files=_write_data_files(table, change, rows),
                delete_files=_write_delete_files(table, change, files),
            )
    except Conflict:
        return FlushResult(table.schema_name, name, 0, was_skipped=True)
    deletes = sum(len(file.deleted_positions) for file in files)
    return FlushResult(table.schema_name, name, len(rows), deletes)


def _write_data_files(
    table: CompactionTable, change: UnitOfWork, rows: Sequence[InlinedRow]
) -> list[NewDataFile]:
    if not rows:
        return []
    found = table.engine.tables.scan_to_move(table.seen, table.table, rows=rows)
    return table.engine.writer.write_files(change, table.target, found, row_ids=False)


def _write_delete_files(
    table: CompactionTable, change: UnitOfWork, files: Sequence[ScanFile]
) -> list[NewDeleteFile]:
    if not files:
        return []
    nothing_new = pa.array([], pa.int64())
    writer = DeleteFiles(change, table.target)
    return writer.written([(file, nothing_new) for file in files])
