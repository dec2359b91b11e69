
PRAGMA journal_mode = WAL;
BEGIN;

CREATE TABLE ducklake_sequence (
    name VARCHAR PRIMARY KEY,
    next_value BIGINT NOT NULL
) WITHOUT ROWID;
INSERT INTO ducklake_sequence VALUES ('snapshot', 1), ('entity', 0), ('file', 0);

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

CREATE TABLE ducklake_snapshot (
    snapshot_id BIGINT PRIMARY KEY,
    snapshot_time TIMESTAMPTZ NOT NULL,
    schema_version BIGINT NOT NULL,
    next_catalog_id BIGINT NOT NULL,
    next_file_id BIGINT NOT NULL
);

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
CREATE INDEX ducklake_snapshot_changes_snapshot ON ducklake_snapshot_changes (snapshot_id);

CREATE TABLE ducklake_expired_snapshots (
    catalog_id BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT NOT NULL,
    begin_time TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (catalog_id, begin_snapshot)
) WITHOUT ROWID;

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

CREATE TABLE ducklake_catalog_head (
    catalog_id BIGINT PRIMARY KEY,
    snapshot_id BIGINT NOT NULL,
    schema_version BIGINT NOT NULL,
    snapshot_time TIMESTAMPTZ NOT NULL
);

CREATE TABLE ducklake_catalog_lineage (
    catalog_id BIGINT NOT NULL,
    depth INTEGER NOT NULL,
    ancestor_id BIGINT NOT NULL,
    upto_snapshot BIGINT NOT NULL,
    PRIMARY KEY (catalog_id, depth)
) WITHOUT ROWID;
CREATE INDEX ducklake_catalog_lineage_pins ON ducklake_catalog_lineage (ancestor_id, upto_snapshot)
    WHERE depth > 0;

CREATE TABLE ducklake_catalog_lease (
    catalog_id BIGINT PRIMARY KEY,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ducklake_catalog_lease_expires ON ducklake_catalog_lease (expires_at);

CREATE TABLE ducklake_catalog_merge (
    catalog_id BIGINT NOT NULL,
    snapshot_id BIGINT NOT NULL,
    source_catalog_id BIGINT NOT NULL,
    source_snapshot BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    first_row_id BIGINT NOT NULL,
    row_count BIGINT NOT NULL,
    becomes BIGINT NOT NULL,
    PRIMARY KEY (catalog_id, snapshot_id, table_id)
);

CREATE TABLE ducklake_catalog_hold (
    catalog_id BIGINT PRIMARY KEY,
    holder VARCHAR NOT NULL
);

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
CREATE INDEX ducklake_data_file_number ON ducklake_data_file (data_file_id);
CREATE INDEX ducklake_data_file_path ON ducklake_data_file (path);

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

CREATE TABLE ducklake_inlined_data_tables (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    table_name VARCHAR NOT NULL,
    schema_version BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, table_id, schema_version)
) WITHOUT ROWID;

CREATE TABLE ducklake_inlined_delete (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    row_position BIGINT NOT NULL,
    begin_snapshot BIGINT NOT NULL,
    end_snapshot BIGINT,
    PRIMARY KEY (catalog_id, table_id, data_file_id, row_position, begin_snapshot)
) WITHOUT ROWID;

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

CREATE TABLE ducklake_file_listing (
    catalog_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    upto_snapshot BIGINT NOT NULL,
    part VARCHAR NOT NULL,
    column_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (catalog_id, table_id, upto_snapshot, part, column_id, number)
);

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

CREATE TABLE ducklake_column_mapping (
    catalog_id BIGINT NOT NULL,
    mapping_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    type VARCHAR NOT NULL,
    is_owned BOOLEAN NOT NULL,
    PRIMARY KEY (mapping_id)
) WITHOUT ROWID;

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

CREATE TABLE dl_file_actions (
    catalog_id BIGINT NOT NULL,
    data_file_id BIGINT NOT NULL,
    table_id BIGINT NOT NULL,
    delete_file_id BIGINT,
    body VARCHAR NOT NULL
);
CREATE INDEX dl_file_actions_file ON dl_file_actions (table_id, data_file_id);

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

CREATE VIEW dl_marked_files AS
SELECT
    m.catalog_id, m.table_id, m.begin_snapshot, f.data_file_id, m.delete_file_id, f.path,
    f.file_size_bytes, f.record_count, f.partition_id
FROM (
    SELECT catalog_id, table_id, begin_snapshot, data_file_id, max(delete_file_id) AS delete_file_id
    FROM (
        SELECT catalog_id, table_id, begin_snapshot, data_file_id, delete_file_id
        FROM ducklake_delete_file
        UNION ALL
        SELECT catalog_id, table_id, begin_snapshot, data_file_id, NULL
        FROM ducklake_inlined_delete
    ) d
    GROUP BY catalog_id, table_id, begin_snapshot, data_file_id
) m
JOIN ducklake_data_file f
    ON f.table_id = m.table_id AND f.data_file_id = m.data_file_id
    AND f.begin_snapshot < m.begin_snapshot
WHERE f.catalog_id = (
    SELECT min(c.catalog_id) FROM ducklake_data_file c WHERE c.data_file_id = f.data_file_id
);

CREATE VIEW dl_earlier_files AS
SELECT
    v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
    f.file_size_bytes, f.record_count, f.partition_id
FROM dl_tables d
JOIN dl_table_versions v
    ON v.catalog_id = d.catalog_id AND v.table_id = d.table_id
    AND v.begin_snapshot = d.begin_snapshot
JOIN ducklake_catalog_lineage l ON l.catalog_id = v.catalog_id
JOIN ducklake_data_file f
    ON f.catalog_id = l.ancestor_id AND f.table_id = v.table_id
    AND f.begin_snapshot <= l.upto_snapshot AND f.begin_snapshot < v.begin_snapshot
    AND (
        f.end_snapshot IS NULL OR f.end_snapshot > l.upto_snapshot
        OR f.end_snapshot > v.begin_snapshot
    )
WHERE NOT EXISTS (
    SELECT 1 FROM ducklake_catalog_lineage a
    JOIN dl_table_versions o
        ON o.catalog_id = a.ancestor_id AND o.table_id = v.table_id
        AND o.begin_snapshot <= a.upto_snapshot AND o.begin_snapshot < v.begin_snapshot
    WHERE a.catalog_id = v.catalog_id
) AND NOT EXISTS (
    SELECT 1 FROM ducklake_catalog_lineage a
    JOIN ducklake_tombstone t
        ON t.catalog_id = a.ancestor_id AND t.kind = 11 AND t.table_id = f.table_id
        AND t.entity_id = f.data_file_id
        AND t.end_snapshot <= a.upto_snapshot AND t.end_snapshot <= v.begin_snapshot
    WHERE a.catalog_id = v.catalog_id
);

CREATE VIEW dl_add_files AS
WITH told AS (
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes, f.record_count, f.partition_id, b.body, b.body AS said
    FROM dl_table_versions v
    JOIN ducklake_data_file f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.begin_snapshot = v.begin_snapshot
    LEFT JOIN dl_file_actions b
        ON b.table_id = f.table_id AND b.data_file_id = f.data_file_id
        AND b.delete_file_id IS NULL
    UNION ALL
    SELECT
        f.catalog_id, f.table_id, f.version, f.timestamp, f.operation, f.data_file_id, f.path,
        f.file_size_bytes, f.record_count, f.partition_id, b.body, b.body
    FROM dl_earlier_files f
    LEFT JOIN dl_file_actions b
        ON b.table_id = f.table_id AND b.data_file_id = f.data_file_id
        AND b.delete_file_id IS NULL
    UNION ALL
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes, f.record_count, f.partition_id, coalesce(a.body, b.body), a.body
    FROM dl_table_versions v
    JOIN dl_marked_files f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.begin_snapshot = v.begin_snapshot
    LEFT JOIN dl_file_actions a
        ON a.table_id = f.table_id AND a.data_file_id = f.data_file_id
        AND a.delete_file_id = f.delete_file_id
    LEFT JOIN dl_file_actions b
        ON b.table_id = f.table_id AND b.data_file_id = f.data_file_id
        AND b.delete_file_id IS NULL
)
SELECT
    catalog_id, table_id, version, data_file_id,
    coalesce(json_extract(body, '$.path'), path) AS path,
    file_size_bytes AS size,
    coalesce(
        CAST(json_extract(body, '$.modificationTime') AS BIGINT), timestamp
    ) AS modification_time,
    coalesce(
        CAST(json_extract(said, '$.dataChange') AS BOOLEAN), operation <> 'OPTIMIZE'
    ) AS data_change,
    coalesce(json_extract(body, '$.partitionValues'), CASE WHEN partition_id IS NOT NULL THEN (
        SELECT json_group_object(c.column_name, p.partition_value)
        FROM ducklake_file_partition_value p
        JOIN ducklake_partition_column k
            ON k.partition_id = told.partition_id
            AND k.partition_key_index = p.partition_key_index AND k.transform = 'identity'
        JOIN (
            SELECT l.catalog_id, c.table_id, c.column_id, c.column_name, row_number() OVER (
                PARTITION BY l.catalog_id, c.table_id, c.column_id ORDER BY c.begin_snapshot
            ) AS number
            FROM ducklake_catalog_lineage l
            JOIN ducklake_column c ON c.catalog_id = l.ancestor_id
        ) c
            ON c.catalog_id = told.catalog_id AND c.table_id = told.table_id
            AND c.column_id = k.column_id AND c.number = 1
        WHERE p.table_id = told.table_id AND p.data_file_id = told.data_file_id
    ) END, '{}') AS partition_values,
    coalesce(json_extract(body, '$.stats'), '{"numRecords":' || record_count || '}') AS stats,
    record_count AS num_records,
    json_extract(said, '$.tags') AS tags,
    json_extract(said, '$.deletionVector') AS deletion_vector,
    CAST(json_extract(body, '$.baseRowId') AS BIGINT) AS base_row_id,
    CAST(json_extract(body, '$.defaultRowCommitVersion') AS BIGINT) AS default_row_commit_version,
    json_extract(body, '$.clusteringProvider') AS clustering_provider
FROM told;

CREATE VIEW dl_remove_files AS
WITH told AS (
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes
    FROM dl_table_versions v
    JOIN ducklake_data_file f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.end_snapshot = v.begin_snapshot
    UNION ALL
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes
    FROM dl_table_versions v
    JOIN ducklake_tombstone t
        ON t.catalog_id = v.catalog_id AND t.kind = 11 AND t.table_id = v.table_id
        AND t.end_snapshot = v.begin_snapshot
    JOIN ducklake_data_file f ON f.table_id = t.table_id AND f.data_file_id = t.entity_id
    WHERE f.catalog_id = (
        SELECT min(c.catalog_id) FROM ducklake_data_file c WHERE c.data_file_id = f.data_file_id
    )
    UNION ALL
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes
    FROM dl_table_versions v
    JOIN dl_marked_files f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.begin_snapshot = v.begin_snapshot
)
SELECT
    n.catalog_id, n.table_id, n.version, n.data_file_id,
    coalesce(json_extract(r.body, '$.path'), json_extract(b.body, '$.path'), n.path) AS path,
    n.file_size_bytes AS size,
    coalesce(
        CAST(json_extract(r.body, '$.deletionTimestamp') AS BIGINT), n.timestamp
    ) AS deletion_timestamp,
    coalesce(
        CAST(json_extract(r.body, '$.dataChange') AS BOOLEAN), n.operation <> 'OPTIMIZE'
    ) AS data_change,
    json_extract(r.body, '$.tags') AS tags
FROM told n
LEFT JOIN dl_actions r
    ON r.catalog_id = n.catalog_id AND r.table_id = n.table_id AND r.version = n.version
    AND r.kind = 'remove' AND r.key = CAST(n.data_file_id AS VARCHAR)
LEFT JOIN dl_file_actions b
    ON b.table_id = n.table_id AND b.data_file_id = n.data_file_id AND b.delete_file_id IS NULL;

CREATE VIEW dl_metadata_updates AS
SELECT
    catalog_id, table_id, version,
    json_extract(body, '$.id') AS delta_id,
    json_extract(body, '$.name') AS name,
    json_extract(body, '$.description') AS description,
    json_extract(body, '$.schemaString') AS schema_string,
    json_extract(body, '$.partitionColumns') AS partition_columns,
    json_extract(body, '$.configuration') AS configuration,
    CAST(json_extract(body, '$.createdTime') AS BIGINT) AS created_time
FROM dl_actions
WHERE kind = 'metaData';

CREATE VIEW dl_protocol_updates AS
SELECT
    catalog_id, table_id, version,
    CAST(json_extract(body, '$.minReaderVersion') AS BIGINT) AS min_reader_version,
    CAST(json_extract(body, '$.minWriterVersion') AS BIGINT) AS min_writer_version,
    json_extract(body, '$.readerFeatures') AS reader_features,
    json_extract(body, '$.writerFeatures') AS writer_features
FROM dl_actions
WHERE kind = 'protocol';

CREATE VIEW dl_txn_actions AS
SELECT
    catalog_id, table_id, version,
    key AS app_id,
    CAST(json_extract(body, '$.version') AS BIGINT) AS txn_version,
    CAST(json_extract(body, '$.lastUpdated') AS BIGINT) AS last_updated
FROM dl_actions
WHERE kind = 'txn';

INSERT INTO ducklake_snapshot VALUES (0, strftime('%Y-%m-%d %H:%M:%f000+00:00', 'now'), 0, 0, 0);
INSERT INTO ducklake_metadata (key, value) VALUES ('version', '0.5-dev1');

COMMIT;
