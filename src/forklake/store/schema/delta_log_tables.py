"""Tables of the Delta log in SQL."""

from __future__ import annotations

from forklake.store.schema.description import (
    Index,
    Storage,
    Table,
    number,
    text,
    time,
)

DELTA_TABLES = Table(
    "dl_tables",
    "",
    (
        number("catalog_id"),
        number("table_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        text("delta_id"),
        text("location", is_nullable=True),
        text("mode", 64),
    ),
    key=("catalog_id", "table_id", "begin_snapshot"),
    section=(
        "The Delta log in SQL: tables of the lake that are also Delta tables. Both have the same "
        "files."
    ),
    is_clustered=True,
)
DELTA_TABLE_VERSIONS = Table(
    "dl_table_versions",
    (
        "A version of a Delta table belongs to the snapshot in which its row begins. Its "
        "timestamp is in milliseconds since 1970, as in Delta."
    ),
    (
        number("catalog_id"),
        number("table_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("version"),
        number("timestamp"),
        text("operation"),
        text("transaction_id"),
        text("group_id", is_nullable=True),
    ),
    key=("catalog_id", "table_id", "begin_snapshot"),
    indexes=(
        Index("dl_table_versions_version", ("catalog_id", "table_id", "version"), is_unique=True),
        Index("dl_table_versions_time", ("catalog_id", "table_id", "timestamp")),
    ),
    storage=Storage.GROWING,
    is_clustered=True,
)
DELTA_ACTIONS = Table(
    "dl_actions",
    (
        "Actions that have no other rows in the metastore: protocol, metaData, txn, "
        "domainMetadata, cdc, commitInfo, and removes with attributes of an imported log."
    ),
    (
        number("catalog_id"),
        number("table_id"),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("version"),
        text("kind", 64),
        text("key", 512),
        text("body"),
    ),
    key=("catalog_id", "table_id", "kind", "key", "version"),
    indexes=(Index("dl_actions_version", ("catalog_id", "table_id", "version")),),
    storage=Storage.GROWING,
    is_clustered=True,
)
DELTA_FILE_ACTIONS = Table(
    "dl_file_actions",
    "The add actions of data files in imported logs, one for each deletion vector of a file.",
    (
        number("catalog_id"),
        number("data_file_id"),
        number("table_id"),
        number("delete_file_id", is_nullable=True),
        text("body"),
    ),
    indexes=(Index("dl_file_actions_file", ("table_id", "data_file_id")),),
    storage=Storage.GROWING,
    partitioned_by="table_id",
)
DELTA_MIRROR_STATUS = Table(
    "dl_mirror_status",
    "Progress of mirroring each Delta table to files, or to the tables of another engine.",
    (
        number("catalog_id"),
        number("table_id"),
        text("mirror_engine", 255),
        number("mirrored_version"),
        number("checkpoint_version", is_nullable=True),
        text("state", 64),
        text("last_error", is_nullable=True),
        time("last_sync_time", is_nullable=True),
        time("updated_at"),
    ),
    key=("catalog_id", "table_id", "mirror_engine"),
    is_clustered=True,
)

TABLES = (
    DELTA_TABLES,
    DELTA_TABLE_VERSIONS,
    DELTA_ACTIONS,
    DELTA_FILE_ACTIONS,
    DELTA_MIRROR_STATUS,
)
