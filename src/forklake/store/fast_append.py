"""Append of data files in one round trip, for databases behind a network.

Most commits add a few files to one table. A client that has committed to the table before has the
bounds of its columns. As long as all commits since then were appends, these bounds still hold,
there can be no conflict, and the remaining inputs are numbers that the database can add up. So one
statement checks this, takes the ids and writes all rows; it is sent together with the locks before
it and the COMMIT after it. No client round trip happens while the lock is held, which makes many
writers of one catalog fast. If the check fails, the statement writes nothing and the commit takes
the general path.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any

from forklake.model.changes import ChangeKind, format_changes
from forklake.model.entities import ColumnStatistics
from forklake.model.files import NewDataFile
from forklake.model.ids import ColumnId, TableId
from forklake.model.plan import CommitPlan, Committed, KnownBounds, TableWork
from forklake.store.batches import BULK_ABOVE
from forklake.store.database import Database
from forklake.store.heads import queue_for_head
from forklake.store.operations import Statement
from forklake.store.phases import reached
from forklake.store.quotas import LIMIT_OF_CATALOG
from forklake.store.table_writer import bound_values

_APPENDS = (ChangeKind.INSERTED.value, ChangeKind.INLINED_INSERT.value)
_ONLY_APPENDS = f"^(({'|'.join(_APPENDS)}):[0-9]+(,|$))+$"

_FILE_TYPES = {
    "place": "int",
    "offset_in_table": "bigint",
    "path": "text",
    "path_is_relative": "boolean",
    "file_format": "text",
    "record_count": "bigint",
    "file_size_bytes": "bigint",
    "footer_size": "bigint",
    "partition_id": "bigint",
    "encryption_key": "text",
    "partial_file_info": "text",
    "mapping_id": "bigint",
}
_FILE_VALUES = tuple(_FILE_TYPES)[2:]
_BOUND_TYPES = {
    "column_id": "bigint",
    "column_size_bytes": "bigint",
    "value_count": "bigint",
    "null_count": "bigint",
    "min_value": "text",
    "max_value": "text",
    "contains_nan": "boolean",
    "extra_stats": "text",
}
_WIDENED_TYPES = {
    "column_id": "bigint",
    "contains_null": "boolean",
    "contains_nan": "boolean",
    "min_value": "text",
    "max_value": "text",
    "extra_stats": "text",
}
_file_values = attrgetter(*_FILE_VALUES)


def _rows_of(parameter: str, types: dict[str, str], name: str) -> str:
    """Return a FROM item that expands rows sent as JSON: one text for any number of rows."""
    columns = ", ".join(f"{column} {kind}" for column, kind in types.items())
    return f"json_to_recordset(:{parameter}::json) AS {name}({columns})"


def _columns(types: dict[str, str], name: str, *, skipping: int = 0) -> str:
    return ", ".join(f"{name}.{column}" for column in list(types)[skipping:])


_WIDENED = _rows_of("widened", _WIDENED_TYPES, "w")
_BOUNDS = _rows_of("bounds", {"place": "int"} | _BOUND_TYPES, "b")
_PARTITIONS = _rows_of("partitions", {"place": "int", "key_index": "bigint", "value": "text"}, "p")
# Arrays, not a join: the planner then finds each version by its key, however many rows it expects.
_OLD_VERSIONS = """s.catalog_id = :catalog AND s.table_id = :table AND s.end_snapshot IS NULL
      AND s.column_id = ANY(:columns) AND s.begin_snapshot = ANY(:began)"""
_STILL_NEWEST = f"""
    AND (SELECT count(*) FROM ducklake_table_column_stats s
         WHERE {_OLD_VERSIONS}) = cardinality(:columns)"""
_WIDEN = f"""
w_narrow AS (
    UPDATE ducklake_table_column_stats s SET end_snapshot = (SELECT snapshot_id FROM ids)
    WHERE {_OLD_VERSIONS} AND EXISTS (SELECT 1 FROM ids)),
w_wide AS (
    INSERT INTO ducklake_table_column_stats
        (catalog_id, table_id, begin_snapshot, column_id,
         {", ".join(list(_WIDENED_TYPES)[1:])})
    SELECT :catalog, :table, ids.snapshot_id, w.column_id,
           {_columns(_WIDENED_TYPES, "w", skipping=1)} FROM ids, {_WIDENED}),"""
_PARTITION = f"""
w_partitions AS (
    INSERT INTO ducklake_file_partition_value
        (catalog_id, table_id, data_file_id, partition_key_index, partition_value)
    SELECT :catalog, :table, files.data_file_id, p.key_index, p.value
    FROM {_PARTITIONS} JOIN files ON files.place = p.place),"""


@cache
def _append_text(*, widens: bool, is_partitioned: bool) -> str:
    """Return the statement, without the parts that this append does not need."""
    return f"""
WITH unchanged AS MATERIALIZED (
    SELECT 1 WHERE NOT EXISTS (
        SELECT 1 FROM ducklake_snapshot_changes h
        WHERE h.catalog_id = :catalog AND h.snapshot_id > :since
          AND h.changes_made !~ '{_ONLY_APPENDS}')
      AND NOT EXISTS (
        SELECT 1 FROM ducklake_expired_snapshots
        WHERE catalog_id = :catalog AND :since < end_snapshot)
      AND NOT EXISTS ({LIMIT_OF_CATALOG}){_STILL_NEWEST if widens else ""}),
before AS MATERIALIZED (
    SELECT s.* FROM unchanged, (
        SELECT begin_snapshot, end_snapshot, record_count, next_row_id, file_size_bytes
        FROM ducklake_table_stats WHERE catalog_id = :catalog AND table_id = :table
        ORDER BY begin_snapshot DESC LIMIT 1) s
    WHERE s.end_snapshot IS NULL),
ids AS MATERIALIZED (
    SELECT nextval('ducklake_snapshot_id_seq') AS snapshot_id, h.schema_version,
           h.snapshot_id AS previous,
           greatest(clock_timestamp(), h.snapshot_time + interval '1 microsecond') AS moment,
           b.*
    FROM before b, ducklake_catalog_head h WHERE h.catalog_id = :catalog),
files AS MATERIALIZED (
    SELECT nextval('ducklake_file_id_seq') AS data_file_id, ids.snapshot_id,
           ids.next_row_id + f.offset_in_table AS row_id_start, f.*
    FROM ids, {_rows_of("files", _FILE_TYPES, "f")}),
w_snapshot AS (
    INSERT INTO ducklake_snapshot
        (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id)
    SELECT snapshot_id, moment, schema_version,
           (SELECT last_value + is_called::int FROM ducklake_entity_id_seq),
           (SELECT max(data_file_id) + 1 FROM files) FROM ids),
w_changes AS (
    INSERT INTO ducklake_snapshot_changes
        (catalog_id, snapshot_id, changes_made, author, commit_message, commit_extra_info,
         idempotency_key)
    SELECT :catalog, snapshot_id, :changes, :author, :message, :extra, :key FROM ids),
w_files AS (
    INSERT INTO ducklake_data_file
        (catalog_id, table_id, begin_snapshot, data_file_id, row_id_start, file_order,
         {", ".join(_FILE_VALUES)})
    SELECT :catalog, :table, snapshot_id, data_file_id, row_id_start, place,
           {_columns(_FILE_TYPES, "files", skipping=2)} FROM files),
w_bounds AS (
    INSERT INTO ducklake_file_column_stats
        (catalog_id, table_id, data_file_id, {", ".join(_BOUND_TYPES)})
    SELECT :catalog, :table, files.data_file_id, {_columns(_BOUND_TYPES, "b")}
    FROM {_BOUNDS} JOIN files ON files.place = b.place),
w_ended AS (
    UPDATE ducklake_table_stats SET end_snapshot = (SELECT snapshot_id FROM ids)
    WHERE catalog_id = :catalog AND table_id = :table
      AND begin_snapshot = (SELECT begin_snapshot FROM ids)),
w_statistics AS (
    INSERT INTO ducklake_table_stats
        (catalog_id, table_id, begin_snapshot, record_count, next_row_id, file_size_bytes)
    SELECT :catalog, :table, snapshot_id, record_count + :rows, next_row_id + :row_ids,
           file_size_bytes + :bytes FROM ids),{_PARTITION if is_partitioned else ""}{
        _WIDEN if widens else ""
    }
w_head AS (
    UPDATE ducklake_catalog_head h SET snapshot_id = ids.snapshot_id, snapshot_time = ids.moment
    FROM ids WHERE h.catalog_id = :catalog)
SELECT snapshot_id, schema_version, previous,
       ARRAY(SELECT data_file_id FROM files ORDER BY place) FROM ids
"""


def append_at_once(database: Database, plan: CommitPlan) -> Committed | None:
    """Commit a plan that only adds files. Return None if it has to take the general path."""
    if not database.dialect.joins_writes:
        return None
    found = _find_only_append(plan)
    if found is None:
        return None
    table_id, work, known = found
    bounds = known.columns | work.widened(table_id, known.columns)
    changed = [column for column, row in bounds.items() if row != known.columns[column]]
    # Other writers probably widen the same bounds. An attempt that finds them changed writes
    # nothing and costs a round trip, so try only if no other writer has committed since.
    if changed and not (
        known.is_alone and all(_is_own(plan, known.columns[column]) for column in changed)
    ):
        return None
    reached("commit.begun")
    with database.writing() as connection:
        queue = queue_for_head(connection, plan.catalog_id)
        statement = _statement(plan, table_id, work, (known, bounds, changed))
        _, rows = connection.commit([queue, statement])
    if not rows:
        return None
    reached("commit.committed")
    snapshot_id, schema_version, previous, file_ids = rows[0]
    for column in changed:
        bounds[column] = replace(
            bounds[column], catalog_id=plan.catalog_id, begin_snapshot=snapshot_id
        )
    learnt = KnownBounds(snapshot_id, bounds, is_alone=previous == known.at)
    return Committed(
        snapshot_id, schema_version, file_ids=tuple(file_ids), known_bounds={table_id: learnt}
    )


def _is_own(plan: CommitPlan, row: ColumnStatistics) -> bool:
    return row.catalog_id == plan.catalog_id


def _find_only_append(plan: CommitPlan) -> tuple[TableId, TableWork, KnownBounds] | None:
    """Return the table, its work and its known bounds if a plan only adds a few files to it."""
    is_plain = not (plan.changes_definitions or plan.children or plan.info.idempotency_key)
    if not is_plain or plan.reads or plan.faces or plan.merge or len(plan.tables) != 1:
        return None
    ((table_id, work),) = plan.tables.items()
    known = plan.known_bounds.get(table_id)
    if known is None or not work.only_adds_files or len(work.data_files) > BULK_ABOVE:
        return None
    if any(
        bound.column_id not in known.columns for _, file in work.data_files for bound in file.bounds
    ):
        return None
    return table_id, work, known


def _statement(
    plan: CommitPlan,
    table_id: TableId,
    work: TableWork,
    statistics: tuple[KnownBounds, dict[ColumnId, ColumnStatistics], list[ColumnId]],
) -> Statement:
    known, bounds, changed = statistics
    new = [file for _, file in work.data_files]
    row_ids = 0
    files = []
    for place, file in enumerate(new):
        start = row_ids if file.row_ids else None
        files.append(dict(zip(_FILE_TYPES, (place, start, *_file_values(file)), strict=True)))
        row_ids += file.record_count if file.row_ids else 0
    partitions = _partitions(new)
    return Statement(
        _append_text(widens=bool(changed), is_partitioned=bool(partitions)),
        {
            "catalog": plan.catalog_id,
            "table": table_id,
            "since": min(known.at, plan.start),
            "files": json.dumps(files),
            "bounds": json.dumps(_bounds(new)),
            "partitions": json.dumps(partitions),
            "widened": json.dumps([_values(bounds[one]) for one in changed]),
            "columns": changed,
            "began": [known.columns[one].begin_snapshot for one in changed],
            "changes": format_changes(plan.changes),
            "author": plan.info.author,
            "message": plan.info.message,
            "extra": plan.info.extra_info,
            "key": plan.key,
            "rows": sum(file.record_count for file in new),
            "row_ids": row_ids,
            "bytes": sum(file.file_size_bytes for file in new),
        },
    )


def _bounds(files: list[NewDataFile]) -> list[dict[str, Any]]:
    return [
        dict(zip(("place", *_BOUND_TYPES), (place, *bound_values(bound)), strict=True))
        for place, file in enumerate(files)
        for bound in file.bounds
    ]


def _partitions(files: list[NewDataFile]) -> list[dict[str, Any]]:
    return [
        {"place": place, "key_index": index, "value": value}
        for place, file in enumerate(files)
        for index, value in enumerate(file.partition_values)
    ]


def _values(row: ColumnStatistics) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _WIDENED_TYPES}
