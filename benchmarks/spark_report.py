"""The part of the report about tables on Spark."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import pyspark

from benchmarks.figures import Figure
from benchmarks.report import put_part, summary, table

_WORDS = {
    "scan_of_10_files": "A scan of 10 million rows in 10 files",
    "scan_of_10_files_cpu": "… processor time",
    "scan_of_10_files_deleted": "… with 1 % of the rows deleted",
    "scan_of_10_files_deleted_cpu": "… processor time",
    "scan_of_1000_files": "A scan of 10 million rows in 1,000 files",
    "scan_of_1000_files_cpu": "… processor time",
    "scan_of_1000_files_deleted": "… with 1 % of the rows deleted",
    "scan_of_1000_files_deleted_cpu": "… processor time",
    "planning_of_10000_files": "Planning a scan of 10,000 files",
    "planning_of_10000_files_selective": "… of one of them",
    "planning_of_100000_files": "Planning a scan of 100,000 files",
    "planning_of_100000_files_selective": "… of one of them",
    "selective_scan": "A filter that one of 10,000 files matches",
    "selective_files": "Files that are read for it",
    "write": "A write of 10 million rows into 10 files",
    "write_cpu": "… processor time",
    "delete": "DELETE of 1 % of 10 million rows, against the scan that finds them",
    "delete_cpu": "… processor time",
    "insert_inlined": "An insert of one row into the metastore, median",
    "insert_inlined_p99": "… 99 of 100",
    "insert_file": "An insert of one row into a file, median",
    "insert_file_p99": "… 99 of 100",
    "insert_inlined_dataframe": "A DataFrame of one row into the metastore",
    "insert_file_dataframe": "A DataFrame of one row into a file",
    "merge": "A merge of 1,000 files of 10 million rows, against reading and writing these rows",
    "merge_cpu": "… processor time",
    "sql_ddl": "SQL: CREATE TABLE, median",
    "sql_ddl_p99": "… 99 of 100",
    "sql_schema": "SQL: CREATE SCHEMA, median",
    "sql_schema_p99": "… 99 of 100",
    "sql_alter": "SQL: ALTER TABLE ADD COLUMN, median",
    "sql_alter_p99": "… 99 of 100",
    "sql_view": "SQL: CREATE VIEW, median",
    "sql_view_p99": "… 99 of 100",
    "sql_drop": "SQL: DROP TABLE, median",
    "sql_drop_p99": "… 99 of 100",
    "sql_insert": "SQL: INSERT of one row into the metastore, median",
    "sql_insert_p99": "… 99 of 100",
    "sql_select_inlined": "SQL: SELECT of a row from the metastore, median",
    "sql_select_inlined_p99": "… 99 of 100",
    "sql_select_file": "SQL: SELECT of a row from a file, median",
    "sql_select_file_p99": "… 99 of 100",
    "sql_group": "SQL: GROUP BY over a file, median",
    "sql_group_p99": "… 99 of 100",
    "node_of_a_fork": "DuckDB over a fork: opened and queried for a row, median",
    "node_of_a_fork_p99": "… 99 of 100",
}

_PAGE = """\
# Benchmarks of tables on Spark

{summary}

{table}

- On a machine with {cores} cores that it shares with other work; Spark {spark}, started by
  Forklake, on all of them; the metastore is SQLite; Python {python}.
- Rows have six columns: bigint, int, timestamp, double, string and decimal.
- What is compared was measured in turn in the same run, by the same Spark with the same settings,
  in several rounds after two to warm up. Unless marked median, a number is the best of its rounds.
  Processor time is that of all processes; it suffers less from other work than the clock does.
- **The folder** has the same Parquet files as the table, and is read by `spark.read.parquet`, or
  written by `DataFrame.write.parquet` from the same rows in the same tasks.
- A statement of SQL is timed from its text: a change until it is committed and `sql` returns, a
  query until its rows are here.
- Planning is all from the name of the table to tasks with their files assigned.

`make bench-spark` measures all of it again; `--only` and `--quick` of `python -m benchmarks.spark`
measure less.
"""


def write_spark_report(folder: Path, figures: Sequence[Figure]) -> None:
    """Write the part about Spark."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {figure.figure: figure for figure in figures}
    part = _PAGE.format(
        summary=summary(by_name, _WORDS),
        table=table(by_name, _WORDS),
        cores=os.cpu_count(),
        spark=pyspark.__version__,
        python=platform.python_version(),
    )
    put_part(folder / "benchmarks.md", part)
