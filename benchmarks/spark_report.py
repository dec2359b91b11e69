"""Part of the report about tables on Spark."""

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
    "scan_of_10_files_cpu": "… CPU time",
    "scan_of_10_files_deleted": "… with 1 % of the rows deleted",
    "scan_of_10_files_deleted_cpu": "… CPU time",
    "scan_of_1000_files": "A scan of 10 million rows in 1,000 files",
    "scan_of_1000_files_cpu": "… CPU time",
    "scan_of_1000_files_deleted": "… with 1 % of the rows deleted",
    "scan_of_1000_files_deleted_cpu": "… CPU time",
    "planning_of_10000_files": "Planning a scan of 10,000 files",
    "planning_of_10000_files_selective": "… of one of them",
    "planning_of_100000_files": "Planning a scan of 100,000 files",
    "planning_of_100000_files_selective": "… of one of them",
    "selective_scan": "A query with a filter that matches one of 10,000 files",
    "selective_files": "… files that it reads",
    "write": "A write of 10 million rows into 10 files",
    "write_cpu": "… CPU time",
    "delete": "DELETE of 1 % of 10 million rows, against the scan that finds them",
    "delete_cpu": "… CPU time",
    "insert_inlined": "An insert of one row into the metastore, median",
    "insert_inlined_p99": "… p99",
    "insert_file": "An insert of one row into a file, median",
    "insert_file_p99": "… p99",
    "insert_inlined_dataframe": "A DataFrame of one row into the metastore",
    "insert_file_dataframe": "A DataFrame of one row into a file",
    "merge": "Compaction of 1,000 files with 10 million rows, against reading and writing them",
    "merge_cpu": "… CPU time",
    "sql_ddl": "SQL: CREATE TABLE, median",
    "sql_ddl_p99": "… p99",
    "sql_schema": "SQL: CREATE SCHEMA, median",
    "sql_schema_p99": "… p99",
    "sql_alter": "SQL: ALTER TABLE ADD COLUMN, median",
    "sql_alter_p99": "… p99",
    "sql_view": "SQL: CREATE VIEW, median",
    "sql_view_p99": "… p99",
    "sql_drop": "SQL: DROP TABLE, median",
    "sql_drop_p99": "… p99",
    "sql_insert": "SQL: INSERT of one row into the metastore, median",
    "sql_insert_p99": "… p99",
    "sql_select_inlined": "SQL: SELECT of a row from the metastore, median",
    "sql_select_inlined_p99": "… p99",
    "sql_select_file": "SQL: SELECT of a row from a file, median",
    "sql_select_file_p99": "… p99",
    "sql_group": "SQL: GROUP BY over a file, median",
    "sql_group_p99": "… p99",
    "node_of_a_fork": "DuckDB over a fork: open it and query a row, median",
    "node_of_a_fork_p99": "… p99",
}

_PAGE = """\
# Benchmarks of tables on Spark

{summary}

{table}

- The machine has {cores} cores, which it shares with other work. Spark {spark}, started by
  Forklake, uses all of them. The metastore is SQLite. Python {python}.
- Rows have six columns: bigint, int, timestamp, double, string and decimal.
- Compared operations run alternately in the same run, on the same Spark with the same settings, in
  several rounds after two rounds of warm-up. Unless it is a median, a number is the best of its
  rounds. CPU time is that of all processes; other work disturbs it less than elapsed time.
- **The folder** has the same Parquet files as the table. It is read with `spark.read.parquet`, or
  written with `DataFrame.write.parquet` from the same rows in the same tasks.
- SQL statements are timed from their text: a change until it is committed and `sql` returns, a
  query until its rows are fetched.
- Planning includes all steps from the name of the table to tasks with lists of files.

`make bench-spark` repeats all measurements. `python -m benchmarks.spark` with `--only` or `--quick`
measures less.
"""


def write_spark_report(folder: Path, figures: Sequence[Figure]) -> None:
    """Write the part of the page about Spark."""
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
