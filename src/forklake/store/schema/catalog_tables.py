"""Tables of catalogs, their snapshots, and how they depend on each other."""

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
    uuid,
)

# Databases with indexes for rare lookups: DuckDB scans the table instead.
_NOT_DUCKDB = ALL - {Backend.DUCKDB}
_PARTIAL = frozenset({Backend.POSTGRESQL, Backend.SQLITE})  # databases with partial indexes

SEQUENCE = Table(
    "ducklake_sequence",
    "The next value of each sequence, on databases whose sequences would not do.",
    (text("name", 64), number("next_value")),
    key=("name",),
    backends=frozenset({Backend.SQLITE, Backend.MYSQL}),
    is_clustered=True,
)
LOCK = Table(
    "ducklake_lock",
    (
        "Rows that transactions lock where they lock anything else than rows to change. Each kind"
        " of lock has several rows: a number is locked by the row `place` = its remainder."
    ),
    (Column("kind", Type.SMALL_NUMBER), Column("place", Type.SMALL_NUMBER)),
    key=("kind", "place"),
    backends=frozenset({Backend.MYSQL}),
)
METADATA = Table(
    "ducklake_metadata",
    "Options. Rows without catalog_id belong to the whole metastore and are not versioned.",
    (
        text("key", 512),
        text("value"),
        text("scope", 64, is_nullable=True),
        number("scope_id", is_nullable=True),
        number("catalog_id", is_nullable=True),
        number("begin_snapshot", is_nullable=True),
        number("end_snapshot", is_nullable=True),
    ),
    indexes=(Index("ducklake_metadata_catalog", ("catalog_id", "scope_id", "key")),),
)
SNAPSHOT = Table(
    "ducklake_snapshot",
    "Snapshots of the whole metastore: one sequence for all catalogs.",
    (
        number("snapshot_id"),
        time("snapshot_time"),
        number("schema_version"),
        number("next_catalog_id"),
        number("next_file_id"),
    ),
    key=("snapshot_id",),
    storage=Storage.GROWING,
)
SNAPSHOT_CHANGES = Table(
    "ducklake_snapshot_changes",
    (
        "The catalog that committed a snapshot, and what it changed. A batch of forks is one "
        "snapshot with a row for each fork. By idempotency_key a retry detects that an earlier "
        "attempt was committed."
    ),
    (
        number("catalog_id"),
        number("snapshot_id"),
        text("changes_made", is_nullable=True),
        text("author", is_nullable=True),
        text("commit_message", is_nullable=True),
        text("commit_extra_info", is_nullable=True),
        text("idempotency_key", is_nullable=True),
    ),
    key=("catalog_id", "snapshot_id"),
    indexes=(
        Index(
            "ducklake_snapshot_changes_snapshot",
            ("snapshot_id",),
            "To find whether a snapshot that expires in one catalog belongs to other catalogs too.",
            backends=_NOT_DUCKDB,
        ),
    ),
    storage=Storage.GROWING,
    is_clustered=True,
)
EXPIRED_SNAPSHOTS = Table(
    "ducklake_expired_snapshots",
    (
        "Runs of expired snapshots of a catalog: from the first one, with its time, up to the "
        "next retained one. Transactions that began inside a run and reads of its snapshots must "
        "fail: rows are deleted."
    ),
    (
        number("catalog_id"),
        number("begin_snapshot"),
        number("end_snapshot"),
        time("begin_time"),
    ),
    key=("catalog_id", "begin_snapshot"),
    is_clustered=True,
)
IDEMPOTENCY_KEY = Table(
    "ducklake_idempotency_key",
    (
        "Idempotency keys given by callers. They outlive the snapshots that they belong to. "
        "`stream` groups the batches of one streaming query into one table: the key of the last "
        "batch never expires."
    ),
    (
        number("catalog_id"),
        number("snapshot_id"),
        number("schema_version"),
        text("idempotency_key"),
        text("stream", is_nullable=True),
        time("used_at"),
    ),
    key=("catalog_id", "snapshot_id"),
    indexes=(
        Index(
            "ducklake_idempotency_key_used",
            ("catalog_id", "idempotency_key"),
            "A commit with a key looks for the same key in its catalog.",
        ),
        Index(
            "ducklake_idempotency_key_stream",
            ("catalog_id", "stream", "snapshot_id"),
            "A batch of a stream looks for the newest batch.",
        ),
    ),
    is_clustered=True,
)
CATALOG = Table(
    "ducklake_catalog",
    (
        "Catalogs. path is the catalog's folder below its data_path, fixed when the catalog is "
        "created. Only the newest row of a catalog has it, so that no two catalogs, live or "
        "dropped, have the same folder."
    ),
    (
        number("catalog_id"),
        uuid("catalog_uuid"),
        Column("catalog_name", Type.TEXT, length=255, is_bytewise=True),
        number("begin_snapshot"),
        number("end_snapshot", is_nullable=True),
        number("parent_catalog_id", is_nullable=True),
        number("fork_snapshot", is_nullable=True),
        text("data_path", is_nullable=True),
        Column("path", Type.TEXT, is_nullable=True, length=700, is_bytewise=True),
        # Unique, because only live catalogs have it.
        Column(
            "live_name",
            Type.TEXT,
            is_nullable=True,
            length=255,
            generated="CASE WHEN end_snapshot IS NULL THEN catalog_name END",
            backends=frozenset({Backend.MYSQL}),
        ),
    ),
    key=("catalog_id", "begin_snapshot"),
    indexes=(
        Index(
            "ducklake_catalog_live_name",
            ("catalog_name",),
            is_unique=True,
            where="end_snapshot IS NULL",
            backends=_PARTIAL,
        ),
        Index(
            "ducklake_catalog_live_name",
            ("live_name",),
            is_unique=True,
            backends=frozenset({Backend.MYSQL}),
        ),
        Index("ducklake_catalog_name", ("catalog_name",), backends=ALL - _PARTIAL),
        Index(
            "ducklake_catalog_path",
            ("path",),
            is_unique=True,
            backends=frozenset({Backend.POSTGRESQL, Backend.MYSQL}),
        ),
        Index(
            "ducklake_catalog_path", ("path",), backends=frozenset({Backend.SQLITE, Backend.DUCKDB})
        ),
        Index(
            "ducklake_catalog_data_path",
            ("data_path",),
            "A new data path is compared with those that contain it or lie within it.",
            is_bytewise=True,
        ),
    ),
    storage=Storage.GROWING,
    is_clustered=True,
)
CATALOG_HEAD = Table(
    "ducklake_catalog_head",
    "One row for each live catalog, locked by its commits: the only contended row.",
    (
        number("catalog_id"),
        number("snapshot_id"),
        number("schema_version"),
        time("snapshot_time"),
    ),
    key=("catalog_id",),
    storage=Storage.CONTENDED,
)
CATALOG_LINEAGE = Table(
    "ducklake_catalog_lineage",
    "Lineage of a catalog: itself (depth 0) without bound, each ancestor up to the fork.",
    (
        number("catalog_id"),
        Column("depth", Type.NUMBER_OF_32_BITS),
        number("ancestor_id"),
        number("upto_snapshot"),
    ),
    key=("catalog_id", "depth"),
    indexes=(
        Index(
            "ducklake_catalog_lineage_pins",
            ("ancestor_id", "upto_snapshot"),
            "To find the forks that pin a catalog's rows.",
            where="depth > 0",
        ),
    ),
    storage=Storage.GROWING,
    is_clustered=True,
)
CATALOG_LEASE = Table(
    "ducklake_catalog_lease",
    (
        "Catalogs with a time to live: after expires_at maintenance may drop them. Until it does "
        "so they can be used as before."
    ),
    (
        number("catalog_id"),
        time("expires_at"),
    ),
    key=("catalog_id",),
    indexes=(Index("ducklake_catalog_lease_expires", ("expires_at",), backends=_NOT_DUCKDB),),
    storage=Storage.CHANGING,
)
CATALOG_MERGE = Table(
    "ducklake_catalog_merge",
    (
        "Merges of catalogs: the rows of `source_catalog_id` up to `source_snapshot` became part "
        "of `catalog_id` in `snapshot_id`, for all tables (table_id 0) or for one. New rows of a "
        "table got new ids: the `row_count` ids from `first_row_id` on became the ids from "
        "`becomes` on."
    ),
    (
        number("catalog_id"),
        number("snapshot_id"),
        number("source_catalog_id"),
        number("source_snapshot"),
        number("table_id"),
        number("first_row_id"),
        number("row_count"),
        number("becomes"),
    ),
    key=("catalog_id", "snapshot_id", "table_id"),
)
CATALOG_HOLD = Table(
    "ducklake_catalog_hold",
    (
        "Forks that belong to a run until it is over: only the holder may merge them, and they "
        "cannot be forked."
    ),
    (
        number("catalog_id"),
        text("holder"),
    ),
    key=("catalog_id",),
)
TOMBSTONE = Table(
    "ducklake_tombstone",
    "Tombstones: inherited rows that a catalog has ended.",
    (
        number("catalog_id"),
        Column("kind", Type.SMALL_NUMBER),
        number("table_id"),
        number("entity_id"),
        text("entity_key", 512),
        number("begin_snapshot"),
        number("end_snapshot"),
    ),
    key=("catalog_id", "kind", "table_id", "entity_id", "entity_key", "begin_snapshot"),
    storage=Storage.GROWING,
    is_clustered=True,
)

TABLES = (
    SEQUENCE,
    LOCK,
    METADATA,
    SNAPSHOT,
    SNAPSHOT_CHANGES,
    EXPIRED_SNAPSHOTS,
    IDEMPOTENCY_KEY,
    CATALOG,
    CATALOG_HEAD,
    CATALOG_LINEAGE,
    CATALOG_LEASE,
    CATALOG_MERGE,
    CATALOG_HOLD,
    TOMBSTONE,
)
