-- The metastore's schema for SQLite 3.35 and newer.
--
-- Load it with `forklake init`, or by hand:  sqlite3 <file> < sqlite.sql
--
-- Every row that a catalog can see is true for the snapshots [begin_snapshot, end_snapshot).
-- A fork reads its ancestors' rows up to the snapshot it was forked at (ducklake_catalog_lineage)
-- and ends what it inherited with tombstones, so that forking copies nothing.

PRAGMA journal_mode = WAL;
BEGIN;

-- The next number of each sequence, taken inside the one write transaction.
CREATE TABLE ducklake_sequence (
    name VARCHAR PRIMARY KEY,
    next_value BIGINT NOT NULL
) WITHOUT ROWID;
INSERT INTO ducklake_sequence VALUES ('snapshot', 1), ('entity', 0), ('file', 0);

-- Settings. Rows without catalog_id belong to the whole metastore and are not versioned.
CREATE TABLE ducklake_metadata (
    key VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    scope VARCHAR,
    scope_id BIGINT,
    catalog_id BIGINT,
    begin_snapshot BIGINT,
    end_snapshot BIGINT
);
CREATE INDEX ducklake_metadata_catalog ON ducklake_metadata (catalog_id, scope_id, key);

-- Snapshots of the whole metastore: one sequence for all catalogs.
CREATE TABLE ducklake_snapshot (
    snapshot_id BIGINT PRIMARY KEY,
    snapshot_time TIMESTAMPTZ NOT NULL,
    schema_version BIGINT NOT NULL,
    next_catalog_id BIGINT NOT NULL,
    next_file_id BIGINT NOT NULL
);

-- Whose commit a snapshot was and what it changed. A batch of forks is one snapshot with a row
-- for each. idempotency_key lets a retry find out that the first try went through.
CREATE TABLE ducklake_snapshot_changes (
    catalog_id BIGINT NOT NULL,
    snapshot_id BIGINT NOT NULL,
    changes_made VARCHAR,
    author VARCHAR,
    commit_message VARCHAR,
    commit_extra_info VARCHAR,
    idempotency_key VARCHAR,
    PRIMARY KEY (catalog_id, snapshot_id)
) WITHOUT ROWID;

-- Runs of snapshots that a catalog has let expire: from the first of them, with its time, up to the
-- next one that it kept. Who began or looks back inside a run must be told; the rows are gone.
CREATE TABLE ducklake_expired_snapshots (
    catalog_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT NOT NULL,
    begin_time TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (catalog_id, begin_snapshot)
) WITHOUT ROWID;

-- Catalogs. path is the catalog's folder beneath its data_path, fixed when it is created; it stands
-- in the newest row of the catalog only, so that no two catalogs, live or gone, have the same.
CREATE TABLE ducklake_catalog (
    catalog_id BIGINT NOT NULL,
    catalog_uuid UUID NOT NULL,
    catalog_name VARCHAR NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    parent_catalog_id BIGINT,
    fork_snapshot BIGINT,
    data_path VARCHAR,
    path VARCHAR,
    PRIMARY KEY (catalog_id, begin_snapshot)
) WITHOUT ROWID;
CREATE UNIQUE INDEX ducklake_catalog_live_name ON ducklake_catalog (catalog_name)
    WHERE end_snapshot IS NULL;
CREATE INDEX ducklake_catalog_path ON ducklake_catalog (path);

-- One row for each live catalog, locked by its commits: the only hot row.
CREATE TABLE ducklake_catalog_head (
    catalog_id BIGINT PRIMARY KEY,
    snapshot_id BIGINT NOT NULL,
    schema_version BIGINT NOT NULL,
    snapshot_time TIMESTAMPTZ NOT NULL
);

-- What a catalog sees: itself (depth 0) without bound, each ancestor up to the fork.
CREATE TABLE ducklake_catalog_lineage (
    catalog_id BIGINT NOT NULL,
    depth INTEGER NOT NULL,
    ancestor_id BIGINT NOT NULL,
    upto_snapshot BIGINT NOT NULL,
    PRIMARY KEY (catalog_id, depth)
) WITHOUT ROWID;
-- The forks that pin a catalog's rows.
CREATE INDEX ducklake_catalog_lineage_pins ON ducklake_catalog_lineage (ancestor_id, upto_snapshot)
    WHERE depth > 0;

-- Inherited rows that a catalog has ended.
CREATE TABLE ducklake_tombstone (
    catalog_id BIGINT NOT NULL,
    kind SMALLINT NOT NULL,
    table_id BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    entity_key VARCHAR NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT NOT NULL,
    PRIMARY KEY (catalog_id, kind, table_id, entity_id, entity_key, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_schema (
    catalog_id BIGINT NOT NULL,
    schema_id BIGINT NOT NULL,
    schema_uuid UUID NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    schema_name VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    path_is_relative BOOLEAN NOT NULL,
    PRIMARY KEY (catalog_id, schema_id, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_schema_versions (
    catalog_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    schema_version BIGINT NOT NULL,
    PRIMARY KEY (catalog_id, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_table (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    table_uuid UUID NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    schema_id BIGINT NOT NULL,
    table_name VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    path_is_relative BOOLEAN NOT NULL,
    PRIMARY KEY (catalog_id, table_id, begin_snapshot)
) WITHOUT ROWID;

-- One row for each node of a nested column; names are unique beneath their parent.
CREATE TABLE ducklake_column (
    catalog_id BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    table_id BIGINT NOT NULL,
    column_order BIGINT NOT NULL,
    column_name VARCHAR NOT NULL,
    column_type VARCHAR NOT NULL,
    initial_default VARCHAR,
    default_value VARCHAR,
    nulls_allowed BOOLEAN NOT NULL,
    parent_column BIGINT,
    default_value_type VARCHAR,
    default_value_dialect VARCHAR,
    PRIMARY KEY (catalog_id, table_id, column_id, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_view (
    catalog_id BIGINT NOT NULL,
    view_id BIGINT NOT NULL,
    view_uuid UUID NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    schema_id BIGINT NOT NULL,
    view_name VARCHAR NOT NULL,
    dialect VARCHAR NOT NULL,
    sql VARCHAR NOT NULL,
    column_aliases VARCHAR,
    PRIMARY KEY (catalog_id, view_id, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_tag (
    catalog_id BIGINT NOT NULL,
    object_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    key VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    PRIMARY KEY (catalog_id, object_id, key, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_column_tag (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    key VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    PRIMARY KEY (catalog_id, table_id, column_id, key, begin_snapshot)
) WITHOUT ROWID;

-- Files are keyed by begin_snapshot so that a fork skips what its parent wrote later.
CREATE TABLE ducklake_data_file (
    catalog_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    file_order BIGINT,
    path VARCHAR NOT NULL,
    path_is_relative BOOLEAN NOT NULL,
    file_format VARCHAR NOT NULL,
    record_count BIGINT NOT NULL,
    file_size_bytes BIGINT NOT NULL,
    footer_size BIGINT,
    row_id_start BIGINT,
    partition_id BIGINT,
    encryption_key VARCHAR,
    partial_file_info VARCHAR,
    mapping_id BIGINT,
    PRIMARY KEY (catalog_id, table_id, begin_snapshot, data_file_id)
) WITHOUT ROWID;
-- All rows of one file: a fork that was materialised has its own.
CREATE INDEX ducklake_data_file_number ON ducklake_data_file (data_file_id);
-- Files that others wrote may be part of several tables, under different numbers.
CREATE INDEX ducklake_data_file_foreign ON ducklake_data_file (path) WHERE mapping_id IS NOT NULL;

CREATE TABLE ducklake_delete_file (
    catalog_id BIGINT NOT NULL,
    delete_file_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    data_file_id BIGINT NOT NULL,
    path VARCHAR NOT NULL,
    path_is_relative BOOLEAN NOT NULL,
    format VARCHAR NOT NULL,
    delete_count BIGINT NOT NULL,
    file_size_bytes BIGINT NOT NULL,
    footer_size BIGINT,
    encryption_key VARCHAR,
    PRIMARY KEY (catalog_id, table_id, begin_snapshot, delete_file_id)
) WITHOUT ROWID;
CREATE INDEX ducklake_delete_file_number ON ducklake_delete_file (delete_file_id);

CREATE TABLE ducklake_files_scheduled_for_deletion (
    catalog_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    path VARCHAR NOT NULL,
    path_is_relative BOOLEAN NOT NULL,
    schedule_start TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (catalog_id, data_file_id)
) WITHOUT ROWID;

-- Tables of the metastore that hold rows: one for each table and set of columns, shared by all
-- forks (their rows carry catalog_id), so that a fork never creates one. schema_version is a number
-- that stands for the set of columns; it does not count up.
CREATE TABLE ducklake_inlined_data_tables (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    table_name VARCHAR NOT NULL,
    schema_version BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, table_id, schema_version)
) WITHOUT ROWID;

-- Deleted positions of data files, for deletes too small for a file.
CREATE TABLE ducklake_inlined_delete (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    row_position BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, table_id, data_file_id, row_position, begin_snapshot)
) WITHOUT ROWID;

-- Statistics are versioned like everything else that a fork can see, and never changed in place.
CREATE TABLE ducklake_table_stats (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    record_count BIGINT NOT NULL,
    next_row_id BIGINT NOT NULL,
    file_size_bytes BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, table_id, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_table_column_stats (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    contains_null BOOLEAN,
    contains_nan BOOLEAN,
    min_value VARCHAR,
    max_value VARCHAR,
    extra_stats VARCHAR,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, table_id, column_id, begin_snapshot)
) WITHOUT ROWID;

-- What follows are children of a numbered parent that never change: stored once, whoever reads
-- them. catalog_id is the writer and part of no key.

-- Keyed for pruning: all files of a table by the bounds of one column.
CREATE TABLE ducklake_file_column_stats (
    catalog_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    column_size_bytes BIGINT,
    value_count BIGINT,
    null_count BIGINT,
    min_value VARCHAR,
    max_value VARCHAR,
    contains_nan BOOLEAN,
    extra_stats VARCHAR,
    PRIMARY KEY (table_id, column_id, data_file_id)
) WITHOUT ROWID;

CREATE TABLE ducklake_file_partition_value (
    catalog_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    partition_key_index BIGINT NOT NULL,
    partition_value VARCHAR,
    PRIMARY KEY (table_id, partition_key_index, data_file_id)
) WITHOUT ROWID;

CREATE TABLE ducklake_partition_info (
    catalog_id BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, partition_id)
) WITHOUT ROWID;

CREATE TABLE ducklake_partition_column (
    catalog_id BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    partition_key_index BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    transform VARCHAR NOT NULL,
    PRIMARY KEY (partition_id, partition_key_index)
) WITHOUT ROWID;

-- How files that others wrote are read. is_owned: they were handed over, and go like our own.
CREATE TABLE ducklake_column_mapping (
    catalog_id BIGINT NOT NULL,
    mapping_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    type VARCHAR NOT NULL,
    is_owned BOOLEAN NOT NULL,
    PRIMARY KEY (mapping_id)
) WITHOUT ROWID;

-- source_type is the type in the file, where it is read as that and then turned into the column's.
CREATE TABLE ducklake_name_mapping (
    catalog_id BIGINT NOT NULL,
    mapping_id BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    source_name VARCHAR NOT NULL,
    target_field_id BIGINT NOT NULL,
    parent_column BIGINT,
    is_partition BOOLEAN NOT NULL,
    source_type VARCHAR,
    PRIMARY KEY (mapping_id, column_id)
) WITHOUT ROWID;

CREATE TABLE ducklake_macro (
    catalog_id BIGINT NOT NULL,
    schema_id BIGINT NOT NULL,
    macro_id BIGINT NOT NULL,
    macro_name VARCHAR NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, macro_id, begin_snapshot)
) WITHOUT ROWID;

CREATE TABLE ducklake_macro_impl (
    catalog_id BIGINT NOT NULL,
    macro_id BIGINT NOT NULL,
    impl_id BIGINT NOT NULL,
    dialect VARCHAR NOT NULL,
    sql VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    PRIMARY KEY (macro_id, impl_id)
) WITHOUT ROWID;

CREATE TABLE ducklake_macro_parameters (
    catalog_id BIGINT NOT NULL,
    macro_id BIGINT NOT NULL,
    impl_id BIGINT NOT NULL,
    column_id BIGINT NOT NULL,
    parameter_name VARCHAR NOT NULL,
    parameter_type VARCHAR NOT NULL,
    default_value VARCHAR,
    default_value_type VARCHAR,
    PRIMARY KEY (macro_id, impl_id, column_id)
) WITHOUT ROWID;

-- The Delta log in SQL: tables of the lake that are also Delta tables. Their files are the lake's.

CREATE TABLE dl_tables (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    delta_id VARCHAR NOT NULL,
    location VARCHAR,
    mode VARCHAR NOT NULL,
    PRIMARY KEY (catalog_id, table_id, begin_snapshot)
) WITHOUT ROWID;

-- A version of a Delta table is the snapshot in which its row begins; its time is in milliseconds
-- since 1970, as Delta has it.
CREATE TABLE dl_table_versions (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    version BIGINT NOT NULL,
    timestamp BIGINT NOT NULL,
    operation VARCHAR NOT NULL,
    transaction_id VARCHAR NOT NULL,
    group_id VARCHAR,
    PRIMARY KEY (catalog_id, table_id, begin_snapshot)
) WITHOUT ROWID;
CREATE UNIQUE INDEX dl_table_versions_version ON dl_table_versions (catalog_id, table_id, version);
CREATE INDEX dl_table_versions_time ON dl_table_versions (catalog_id, table_id, timestamp);

-- What versions say that the lake has no rows for: protocol, metaData, txn, domainMetadata, cdc,
-- commitInfo, and removes that a log told in words of its own.
CREATE TABLE dl_actions (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    version BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    key VARCHAR NOT NULL,
    body VARCHAR NOT NULL,
    PRIMARY KEY (catalog_id, table_id, kind, key, version)
) WITHOUT ROWID;
CREATE INDEX dl_actions_version ON dl_actions (catalog_id, table_id, version);

-- The add actions with which a log told of data files, of those with deletion vectors for each.
CREATE TABLE dl_file_actions (
    catalog_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    delete_file_id BIGINT,
    body VARCHAR NOT NULL
);
CREATE INDEX dl_file_actions_file ON dl_file_actions (table_id, data_file_id);

-- How far each Delta table was mirrored to files, or to the tables of another engine.
CREATE TABLE dl_mirror_status (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    mirror_engine VARCHAR NOT NULL,
    mirrored_version BIGINT NOT NULL,
    checkpoint_version BIGINT,
    state VARCHAR NOT NULL,
    last_error VARCHAR,
    last_sync_time TIMESTAMPTZ,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (catalog_id, table_id, mirror_engine)
) WITHOUT ROWID;

-- Snapshot 0 is the empty metastore; the first catalog gets id 0 and snapshot 1.
INSERT INTO ducklake_snapshot VALUES (0, strftime('%Y-%m-%d %H:%M:%f000+00:00', 'now'), 0, 0, 0);
INSERT INTO ducklake_metadata (key, value) VALUES ('version', '0.5-dev1');

COMMIT;
