"""Outputs of worktasks: one SQL statement for each mode of writing rows to a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from forklake.errors import NotFound
from forklake.model.names import quoted
from forklake.reagent.places import Worker, count_changed_rows
from forklake.reagent.prepared_tasks import PreparedTask, strip_statement
from forklake.reagent.workbooks import Mode, Output

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
_CREATE = "CREATE TABLE {table} {partitions} AS {query}"
STATEMENTS: dict[Mode, str] = {
    Mode.APPEND: "INSERT INTO {table} BY NAME {query}",
    Mode.OVERWRITE: "INSERT OVERWRITE {table} BY NAME {query}",
    Mode.MERGE: "MERGE INTO {table} USING ({query}) AS source USING ({key})"
    " WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT",
    Mode.REPLACE_WHERE: "INSERT INTO {table} BY NAME REPLACE WHERE {where} {query}",
}


def write_output(
    worker: Worker, task: PreparedTask, query: str, frames: Mapping[str, DataFrame]
) -> int | None:
    """Write the rows of a query to the output of a worktask; return how many there were."""
    assert task.output is not None
    text = build_statement(task.output, query, exists=_table_exists(worker, task.output.table))
    return count_changed_rows(worker.execute(text, task.parameters_of(text), frames=frames))


def build_statement(output: Output, query: str, *, exists: bool) -> str:
    """Return the statement that writes the rows of a query to an existing or a new table."""
    partitions = f"PARTITIONED BY ({', '.join(output.partition_by)})" if output.partition_by else ""
    return (STATEMENTS[output.mode] if exists else _CREATE).format(
        table=output.table,
        query=strip_statement(query),
        key=", ".join(map(quoted, output.key)),
        where=strip_statement(output.where or ""),
        partitions=partitions,
    )


def _table_exists(worker: Worker, table: str) -> bool:
    try:
        worker.execute(f"DESCRIBE {table}")
    except NotFound:
        return False
    return True
