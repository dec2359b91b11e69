"""Tables of definitions: schemas, tables, columns, views, macros, partitions and mappings."""

from __future__ import annotations

from forklake.store.schema.description import (
    Table,
    number,
    text,
    truth,
    uuid,
)

SCHEMA = Table(
    "ducklake_schema",
    "",
    (
        number("catalog_id"),
        number("schema_id"),
        uuid("schema_uuid"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        text("schema_name", 255),
        text("path"),
        truth("path_is_relative"),
    ),
    key=("catalog_id", "schema_id", "begin_snapshot"),
    is_clustered=True,
)
SCHEMA_VERSIONS = Table(
    "ducklake_schema_versions",
    "",
    (
        number("catalog_id"),
        number("begin_snapshot"),
        number("schema_version"),
    ),
    key=("catalog_id", "begin_snapshot"),
    is_clustered=True,
)
TABLE = Table(
    "ducklake_table",
    "",
    (
        number("catalog_id"),
        number("table_id"),
        uuid("table_uuid"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("schema_id"),
        text("table_name", 255),
        text("path"),
        truth("path_is_relative"),
    ),
    key=("catalog_id", "table_id", "begin_snapshot"),
    is_clustered=True,
)
COLUMN = Table(
    "ducklake_column",
    "One row for each node of a nested column. Names are unique within their parent.",
    (
        number("catalog_id"),
        number("column_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("table_id"),
        number("column_order"),
        text("column_name", 255),
        text("column_type"),
        text("initial_default", is_nullable=True),
        text("default_value", is_nullable=True),
        truth("nulls_allowed"),
        number("parent_column", is_nullable=True),
        text("default_value_type", is_nullable=True),
        text("default_value_dialect", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "column_id", "begin_snapshot"),
    is_clustered=True,
)
VIEW = Table(
    "ducklake_view",
    "",
    (
        number("catalog_id"),
        number("view_id"),
        uuid("view_uuid"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("schema_id"),
        text("view_name", 255),
        text("dialect", 64),
        text("sql"),
        text("column_aliases", is_nullable=True),
    ),
    key=("catalog_id", "view_id", "begin_snapshot"),
    is_clustered=True,
)
TAG = Table(
    "ducklake_tag",
    "",
    (
        number("catalog_id"),
        number("object_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        text("key", 512),
        text("value"),
    ),
    key=("catalog_id", "object_id", "key", "begin_snapshot"),
    is_clustered=True,
)
COLUMN_TAG = Table(
    "ducklake_column_tag",
    "",
    (
        number("catalog_id"),
        number("table_id"),
        number("column_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        text("key", 512),
        text("value"),
    ),
    key=("catalog_id", "table_id", "column_id", "key", "begin_snapshot"),
    is_clustered=True,
)
PARTITION_INFO = Table(
    "ducklake_partition_info",
    "",
    (
        number("catalog_id"),
        number("partition_id"),
        number("table_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
    ),
    key=("catalog_id", "partition_id"),
    is_clustered=True,
)
PARTITION_COLUMN = Table(
    "ducklake_partition_column",
    "",
    (
        number("catalog_id"),
        number("partition_id"),
        number("table_id"),
        number("partition_key_index"),
        number("column_id"),
        text("transform", 64),
    ),
    key=("partition_id", "partition_key_index"),
    is_clustered=True,
)
COLUMN_MAPPING = Table(
    "ducklake_column_mapping",
    (
        "How columns of files of other writers are found. is_owned: the files were handed over to "
        "Forklake, which deletes them like its own."
    ),
    (
        number("catalog_id"),
        number("mapping_id"),
        number("table_id"),
        text("type", 64),
        truth("is_owned"),
    ),
    key=("mapping_id",),
    is_clustered=True,
)
NAME_MAPPING = Table(
    "ducklake_name_mapping",
    "source_type is the type in the file if values have to be cast to the column's type.",
    (
        number("catalog_id"),
        number("mapping_id"),
        number("column_id"),
        text("source_name"),
        number("target_field_id"),
        number("parent_column", is_nullable=True),
        truth("is_partition"),
        text("source_type", is_nullable=True),
    ),
    key=("mapping_id", "column_id"),
    is_clustered=True,
)
MACRO = Table(
    "ducklake_macro",
    "",
    (
        number("catalog_id"),
        number("schema_id"),
        number("macro_id"),
        text("macro_name", 255),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
    ),
    key=("catalog_id", "macro_id", "begin_snapshot"),
    is_clustered=True,
)
MACRO_IMPL = Table(
    "ducklake_macro_impl",
    "",
    (
        number("catalog_id"),
        number("macro_id"),
        number("impl_id"),
        text("dialect", 64),
        text("sql"),
        text("type", 64),
    ),
    key=("macro_id", "impl_id"),
    is_clustered=True,
)
MACRO_PARAMETERS = Table(
    "ducklake_macro_parameters",
    "",
    (
        number("catalog_id"),
        number("macro_id"),
        number("impl_id"),
        number("column_id"),
        text("parameter_name", 255),
        text("parameter_type"),
        text("default_value", is_nullable=True),
        text("default_value_type", is_nullable=True),
    ),
    key=("macro_id", "impl_id", "column_id"),
    is_clustered=True,
)

TABLES = (
    SCHEMA,
    SCHEMA_VERSIONS,
    TABLE,
    COLUMN,
    VIEW,
    TAG,
    COLUMN_TAG,
    PARTITION_INFO,
    PARTITION_COLUMN,
    COLUMN_MAPPING,
    NAME_MAPPING,
    MACRO,
    MACRO_IMPL,
    MACRO_PARAMETERS,
)
