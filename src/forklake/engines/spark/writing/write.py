"""Writes of DataFrames to tables: one pass of Spark over the rows, the footers, then the commit.

Files are written under their final names and belong to no snapshot until the commit. They are
registered with the change, which removes them if anything fails before.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from forklake.engines.arrow_types import field_ids
from forklake.engines.changes import PendingChange
from forklake.engines.local import inserts
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.routes import PARTITION_PREFIX
from forklake.engines.spark.types import physical_schema
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.labels import label_column
from forklake.engines.spark.writing.rules import ruled
from forklake.engines.targets import ParquetOptions, Target, described
from forklake.files import keys
from forklake.files.systems import file_system, in_parallel, remove, translating
from forklake.model.entities import Table
from forklake.model.files import LINEAGE, ROW_ID, NewDataFile
from forklake.model.rules import Check
from forklake.model.sort_keys import SortKey
from forklake.store.phases import reached

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

# Rows of fewer bytes than this, as Spark estimates, do not get a separate task and file.
_WORTH_A_FILE = 64 * 2**20
_MOST_TASKS = 10**6
# Bytes of a footer, and the fixed size of a column in a file.
_FOOTER, _FOOTER_PER_COLUMN, _CHUNK = 250, 150, 75
_LEAST_CONTENT = 4  # multiple of the footer size
# Names of the zlib levels in Hadoop.
_GZIP_LEVELS = "BEST_SPEED TWO THREE FOUR FIVE SIX SEVEN EIGHT BEST_COMPRESSION".split()
# Bytes of a value in a file, assumed for tables without files.
_WIDTHS = {
    "boolean": 1,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "date": 4,
    "float": 4,
    "string": 16,
    "binary": 32,
}
_USUAL_WIDTH, _USUAL_LENGTH = 8, 4


# Rows


def append(
    engine: Engine,
    change: PendingChange,
    table: Table,
    df: DataFrame,
    *,
    by_name: bool = False,
    with_row_ids: bool = False,
    checks: Sequence[Check] = (),
) -> int:
    """Add the rows of a DataFrame to a table, as part of a change, and return their number.

    Few rows are inlined in the metastore. With `with_row_ids`, the rows are new versions of
    existing ones, whose ids are in the column ROW_ID. All rows must satisfy the rules of the
    table, and `checks`.
    """
    target = Target(change.attachment, change.transaction.state, table)
    keep = (ROW_ID,) if with_row_ids else ()
    limit = 0 if with_row_ids else target.inlined_rows
    with align.translating():
        rows = ruled(df, target, by_name=by_name, keep=keep, checks=checks)
        if limit and _most_rows(rows) <= limit:
            return inserts.insert_physical(change, table, rows.toArrow())
    files, job_key = new_files(engine, change, target, rows, row_ids=not with_row_ids)
    count = sum(file.record_count for file in files.values())
    if 0 < count <= limit:
        return inserts.moved_inline(change, target, list(files), job_key)
    change.transaction.add_data_files(table, files.values())
    return count


def append_versions(
    engine: Engine,
    change: PendingChange,
    target: Target,
    rows: DataFrame,
    count: int,
    *,
    has_new: bool,
) -> None:
    """Add `count` rows, as files store them, that are new versions of existing rows.

    The column ROW_ID has their ids; with `has_new`, some rows are new and have none.
    """
    if count <= target.inlined_rows:
        with align.translating():
            inserts.insert_physical(change, target.table, rows.toArrow())
    else:
        files, _ = new_files(engine, change, target, rows, row_ids=has_new)
        change.transaction.add_data_files(target.table, files.values())


def new_files(
    engine: Engine,
    change: PendingChange,
    target: Target,
    rows: DataFrame,
    *,
    row_ids: bool,
    rows_per_file: int | None = None,
) -> tuple[dict[str, NewDataFile], keys.Key | None]:
    """Write rows with Spark; return the files by full path, and the job key.

    The encryption keys of the files are derived from the job key. With `rows_per_file`, one
    task writes all files: one for each partition, or more if it has more rows.
    """
    with align.translating():
        paths, job_key = _write_files(engine, target, rows, rows_per_file)
    change.wrote(paths)
    reached("write.files")
    files = dict(zip(paths, described(target, paths, job_key, row_ids=row_ids), strict=True))
    reached("write.footers")
    # A task without rows may leave a file without rows.
    remove(path for path, file in files.items() if not file.record_count)
    return {path: file for path, file in files.items() if file.record_count}, job_key


# Files


def _write_files(
    engine: Engine, target: Target, rows: DataFrame, rows_per_file: int | None
) -> tuple[list[str], keys.Key | None]:
    """Return the full paths of the files that Spark wrote, and the job key."""
    ids = field_ids(target.fields) | {
        name: LINEAGE[name] for name in LINEAGE if name in rows.columns
    }
    partitioning, options = target.partitioning, spark_options(target.parquet())
    options["maxRecordsPerFile"] = str(rows_per_file or _records_per_file(target))
    folders: list[str] = []
    for key in partitioning.keys if partitioning else ():
        folders.append(PARTITION_PREFIX + key.folder)
        label = label_column(key, rows[quoted(key.field.physical_name)])
        rows = rows.withColumn(folders[-1], label)
    job_key = keys.new_key() if target.is_encrypted else None
    rows = rows.coalesce(1) if rows_per_file else _in_tasks(target, rows, folders)
    if target.sort_order:
        order = [_sort_column(*one) for one in target.sort_order]
        rows = rows.sortWithinPartitions(*map(quoted, folders), *order)

    def into(folder: str) -> list[str]:
        reached("write.started")
        return engine.write(
            rows, folder, field_ids=ids, partition_by=folders, options=options, job_key=job_key
        )

    if folders and not target.has_folders:
        return _without_folders(target.folder, into), job_key
    return into(target.folder), job_key


def _without_folders(folder: str, write_into: Callable[[str], list[str]]) -> list[str]:
    """Write partitions without folders: Spark writes folders, whose files are then moved."""
    root = folder.rstrip("/")
    staging = f"{root}/{uuid.uuid4()}"
    system, inside = file_system(staging)

    def move(pair: tuple[str, str]) -> None:
        with translating(pair[0]):
            system.move(file_system(pair[0])[1], file_system(pair[1])[1])

    moved: list[str] = []
    try:
        paths = write_into(staging)
        moved = [f"{root}/{path.rsplit('/', 1)[1]}" for path in paths]
        in_parallel(move, zip(paths, moved, strict=True))
    except BaseException:
        remove(moved)
        raise
    finally:
        with suppress(FileNotFoundError):
            system.delete_dir(inside)
    return moved


def _in_tasks(target: Target, rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return the rows in as many tasks as there should be files, if that can be estimated."""
    if target.option("per_thread_output") == "true":
        return rows
    size = estimated_bytes(rows)
    if size is not None:
        # A task splits its rows into several files itself: small files need no more tasks.
        tasks = ceil(size / _WORTH_A_FILE)
        if tasks <= 1 or not keys:
            return rows.coalesce(min(max(tasks, 1), _MOST_TASKS))
    # Otherwise every task would write a file into every partition.
    return rows.hint("rebalance", *(F.col(quoted(key)) for key in keys)) if keys else rows


def _sort_column(name: str, key: SortKey) -> Column:
    column = F.col(quoted(name))
    if key.is_descending:
        return column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last()


def _most_rows(rows: DataFrame) -> float:
    """Return an upper bound of the number of rows from the plan, without running it."""
    plan = _plan(rows)
    most = plan.maxRows() if plan is not None else None
    return int(most.get()) if most is not None and most.isDefined() else float("inf")


def estimated_bytes(rows: DataFrame) -> int | None:
    """Return the size of rows as estimated by Spark: very large if unknown, None without a plan."""
    plan = _plan(rows)
    return None if plan is None else int(str(plan.stats().sizeInBytes()))


def _plan(rows: DataFrame) -> Any:
    """Return the optimized plan of Spark, which only a session in this process exposes."""
    handle = getattr(rows, "_jdf", None)
    return None if handle is None else handle.queryExecution().optimizedPlan()


def _records_per_file(target: Target) -> int:
    size = target.number("target_file_size") or 0
    if size == 0:
        return 0  # no limit
    footer = _FOOTER + _FOOTER_PER_COLUMN * len(target.fields)
    # In smaller files, readers would read more bytes of footers than of rows.
    content = max(size - footer, _LEAST_CONTENT * footer)
    return ceil(content / _bytes_per_row(target))


def _bytes_per_row(target: Target) -> float:
    """Return the bytes of a row in the table files so far, or a usual width for its types.

    The fixed size of a file is not included: files would get fewer rows from write to write.
    """
    usual = _width(physical_schema(target.fields)) or 1
    if target.table.table_id < 0:
        return usual
    view = target.attachment.catalog.now()
    known = view.statistics(target.table)
    if not known.record_count or not known.file_size_bytes:
        return usual
    learned = known.file_size_bytes / known.record_count
    if learned <= usual:
        return max(learned, 1)
    largest = view.largest_file(target.table)
    if largest is None or not largest.record_count:
        return usual
    content = largest.content_bytes - _CHUNK * len(target.fields)
    return max(content / largest.record_count, 1)


def _width(kind: DataType) -> int:
    match kind:
        case StructType():
            return sum(_width(field.dataType) for field in kind.fields)
        case ArrayType():
            return _USUAL_LENGTH * _width(kind.elementType)
        case MapType():
            return _USUAL_LENGTH * (_width(kind.keyType) + _width(kind.valueType))
    return _WIDTHS.get(kind.simpleString(), _USUAL_WIDTH)


def spark_options(options: ParquetOptions) -> dict[str, str]:
    """Return the settings of the Parquet writer of Spark."""
    found = {"compression": options.codec, "parquet.writer.version": f"v{options.version}"}
    if options.level is not None and options.codec == "zstd":
        found["parquet.compression.codec.zstd.level"] = str(options.level)
    if options.level is not None and options.codec == "gzip":
        found["zlib.compress.level"] = _GZIP_LEVELS[options.level - 1]
    if options.row_group_rows is not None:
        found["parquet.block.row.count.limit"] = str(options.row_group_rows)
    if options.row_group_bytes is not None:
        found["parquet.block.size"] = str(options.row_group_bytes)
    return found
