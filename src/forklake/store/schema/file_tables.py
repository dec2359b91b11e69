"""Tables of files, their statistics, and inlined rows."""

from __future__ import annotations

from forklake.store.schema.description import (
    ALL,
    Backend,
    Column,
    Index,
    Storage,
    Table,
    Type,
    number,
    text,
    time,
    truth,
)

# Databases with indexes for rare lookups: DuckDB scans the table instead.
_NOT_DUCKDB = ALL - {Backend.DUCKDB}

DATA_FILE = Table(
    "ducklake_data_file",
    "Files are keyed by begin_snapshot, so that a fork skips files that its parent added later.",
    (
        number("catalog_id"),
        number("data_file_id"),
        number("table_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("file_order", is_nullable=True),
        text("path"),
        truth("path_is_relative"),
        text("file_format", 64),
        number("record_count"),
        number("file_size_bytes"),
        number("footer_size", is_nullable=True),
        number("row_id_start", is_nullable=True),
        number("partition_id", is_nullable=True),
        text("encryption_key", is_nullable=True),
        text("partial_file_info", is_nullable=True),
        number("mapping_id", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "begin_snapshot", "data_file_id"),
    indexes=(
        Index(
            "ducklake_data_file_number",
            ("data_file_id",),
            "To find all rows of one file: a materialized fork has its own row.",
            backends=_NOT_DUCKDB,
        ),
        Index(
            "ducklake_data_file_path",
            ("path",),
            (
                "To find files by path. Files of other writers may be part of several tables, "
                "under different ids."
            ),
            backends=_NOT_DUCKDB,
        ),
    ),
    storage=Storage.GROWING,
    partitioned_by="catalog_id",
    is_clustered=True,
)
DELETE_FILE = Table(
    "ducklake_delete_file",
    "",
    (
        number("catalog_id"),
        number("delete_file_id"),
        number("table_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("data_file_id"),
        text("path"),
        truth("path_is_relative"),
        text("format", 64),
        number("delete_count"),
        number("file_size_bytes"),
        number("footer_size", is_nullable=True),
        text("encryption_key", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "begin_snapshot", "delete_file_id"),
    indexes=(Index("ducklake_delete_file_number", ("delete_file_id",), backends=_NOT_DUCKDB),),
    storage=Storage.GROWING,
    partitioned_by="catalog_id",
    is_clustered=True,
)
FILES_SCHEDULED_FOR_DELETION = Table(
    "ducklake_files_scheduled_for_deletion",
    "",
    (
        number("catalog_id"),
        number("data_file_id"),
        text("path"),
        truth("path_is_relative"),
        time("schedule_start"),
    ),
    key=("catalog_id", "data_file_id"),
    storage=Storage.CHANGING,
    is_clustered=True,
)
INLINED_DATA_TABLES = Table(
    "ducklake_inlined_data_tables",
    (
        "Metastore tables that hold inlined rows: one for each lake table and set of columns, "
        "shared by all forks (their rows have a catalog_id), so that forking never creates one. "
        "schema_version is a hash of the set of columns, not a counter."
    ),
    (
        number("catalog_id"),
        number("table_id"),
        text("table_name", 255),
        number("schema_version"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "schema_version"),
    is_clustered=True,
)
INLINED_DELETE = Table(
    "ducklake_inlined_delete",
    "Deleted row positions of data files, for deletes too small for a delete file.",
    (
        number("catalog_id"),
        number("table_id"),
        number("data_file_id"),
        number("row_position"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "data_file_id", "row_position", "begin_snapshot"),
    storage=Storage.GROWING,
    partitioned_by="catalog_id",
    is_clustered=True,
)
TABLE_STATS = Table(
    "ducklake_table_stats",
    (
        "Statistics are versioned like everything else that a fork can see, and never updated in "
        "place."
    ),
    (
        number("catalog_id"),
        number("table_id"),
        number("record_count"),
        number("next_row_id"),
        number("file_size_bytes"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "begin_snapshot"),
    storage=Storage.UPDATED,
    is_clustered=True,
)
TABLE_COLUMN_STATS = Table(
    "ducklake_table_column_stats",
    "",
    (
        number("catalog_id"),
        number("table_id"),
        number("column_id"),
        truth("contains_null", is_nullable=True),
        truth("contains_nan", is_nullable=True),
        text("min_value", is_nullable=True),
        text("max_value", is_nullable=True),
        text("extra_stats", is_nullable=True),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "column_id", "begin_snapshot"),
    storage=Storage.UPDATED,
    is_clustered=True,
)
FILE_COLUMN_STATS = Table(
    "ducklake_file_column_stats",
    "The key serves pruning: the bounds of one column for all files of a table.",
    (
        number("catalog_id"),
        number("data_file_id"),
        number("table_id"),
        number("column_id"),
        number("column_size_bytes", is_nullable=True),
        number("value_count", is_nullable=True),
        number("null_count", is_nullable=True),
        text("min_value", is_nullable=True),
        text("max_value", is_nullable=True),
        truth("contains_nan", is_nullable=True),
        text("extra_stats", is_nullable=True),
    ),
    key=("table_id", "column_id", "data_file_id"),
    section=(
        "The following tables hold immutable children of a parent with a global id. They are "
        "stored once, for all catalogs that read them. catalog_id is the writer and not part of a "
        "key."
    ),
    storage=Storage.GROWING,
    partitioned_by="table_id",
    is_clustered=True,
)
FILE_PARTITION_VALUE = Table(
    "ducklake_file_partition_value",
    "",
    (
        number("catalog_id"),
        number("data_file_id"),
        number("table_id"),
        number("partition_key_index"),
        text("partition_value", is_nullable=True),
    ),
    key=("table_id", "partition_key_index", "data_file_id"),
    storage=Storage.GROWING,
    partitioned_by="table_id",
    is_clustered=True,
)
FILE_LISTING = Table(
    "ducklake_file_listing",
    (
        "Cached listings of many files, as Arrow streams. They are written by maintenance and "
        "with checkpoints of Delta logs, and used to read all files of a table fast and to find "
        "few of them. Files that are missing here are read from the tables above. catalog_id is "
        "the owner of the files."
    ),
    (
        number("catalog_id"),
        number("table_id"),
        number("upto_snapshot"),
        text("part", 64),
        number("column_id"),
        number("number"),
        Column("body", Type.BYTES, is_compressed=True),
    ),
    key=("catalog_id", "table_id", "upto_snapshot", "part", "column_id", "number"),
)

TABLES = (
    DATA_FILE,
    DELETE_FILE,
    FILES_SCHEDULED_FOR_DELETION,
    INLINED_DATA_TABLES,
    INLINED_DELETE,
    TABLE_STATS,
    TABLE_COLUMN_STATS,
    FILE_COLUMN_STATS,
    FILE_PARTITION_VALUE,
    FILE_LISTING,
)
