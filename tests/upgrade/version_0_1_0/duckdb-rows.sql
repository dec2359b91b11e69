INSERT INTO crucible_audit (audit_id, happened_at, principal_id, principal, operation, object, catalog_id, outcome) VALUES
    ('1795138796526950100078825436', '2026-11-20 01:39:56.526789+00', 0, 'local', 'principal.create', 'ada', NULL, 'done'),
    ('1795138797219746042117423505', '2026-11-20 01:39:57.219607+00', 0, 'local', 'principal.create', 'ben', NULL, 'done'),
    ('1795138797951267533358756448', '2026-11-20 01:39:57.951129+00', 0, 'local', 'key.create', 'ada/ce22354ade184371', NULL, 'done'),
    ('1795138798711797612031622037', '2026-11-20 01:39:58.711791+00', 0, 'local', 'grants.set', 'sales: reader to ben', 0, 'done'),
    ('1795138799444924699029906880', '2026-11-20 01:39:59.444767+00', 0, 'local', 'quota.set', 'ada', NULL, 'done');
INSERT INTO crucible_grant (principal_id, catalog_id, role, expires_at) VALUES
    (2, 0, 'reader', NULL);
INSERT INTO crucible_key (key_id, principal_id, secret_hash, created_at, revoked_at) VALUES
    ('ce22354ade184371', 1, 'cfa7151fb0c6b756e3de80582fe36d7a1151313c65ae394cf1832f6056373758', '2026-11-20 01:39:57.946739+00', NULL);
INSERT INTO crucible_prefix_grant (principal_id, prefix, role, expires_at) VALUES
    (1, 'ada-', 'owner', NULL);
INSERT INTO crucible_principal (principal_id, name, account, is_root, created_at, disabled_at) VALUES
    (1, 'ada', 'default', FALSE, '2026-11-20 01:39:56.52102+00', NULL),
    (2, 'ben', 'default', FALSE, '2026-11-20 01:39:57.215519+00', NULL);
INSERT INTO crucible_quota (principal_id, catalogs, bytes, sessions) VALUES
    (1, 7, NULL, NULL);
INSERT INTO dl_actions (catalog_id, table_id, begin_snapshot, end_snapshot, version, kind, key, body) VALUES
    (0, 19, 49, NULL, 0, 'metaData', '', '{"id":"d73725a7-549a-435b-bfe7-0ddc8d8e05b9","name":"published","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1795138794376}'),
    (0, 19, 49, NULL, 0, 'protocol', '', '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["sqlCommitOnly"]}'),
    (0, 19, 50, NULL, 1, 'protocol', '', '{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","sqlCommitOnly"]}');
INSERT INTO dl_mirror_status (catalog_id, table_id, mirror_engine, mirrored_version, checkpoint_version, state, last_error, last_sync_time, updated_at) VALUES
    (0, 19, 'delta', 2, NULL, 'CURRENT', NULL, '2026-11-20 01:39:55.216683+00', '2026-11-20 01:39:55.216683+00');
INSERT INTO dl_table_versions (catalog_id, table_id, begin_snapshot, end_snapshot, version, timestamp, operation, transaction_id, group_id) VALUES
    (0, 19, 49, NULL, 0, 1795138794376, 'SET TBLPROPERTIES', '466fe406ac8843e8bd664d2d6ab3bda4', NULL),
    (0, 19, 50, NULL, 1, 1795138794918, 'DELETE', 'ba3caf8f05c54d2e94469016fec86213', NULL),
    (0, 19, 51, NULL, 2, 1795138795114, 'WRITE', '10ed94270ddd4c7581d6fd5e0762600e', NULL);
INSERT INTO dl_tables (catalog_id, table_id, begin_snapshot, end_snapshot, delta_id, location, mode) VALUES
    (0, 19, 49, NULL, 'd73725a7-549a-435b-bfe7-0ddc8d8e05b9', '/tmp/forklake-dump/files/duckdb-delta/published', 'own');
DELETE FROM ducklake_catalog;
INSERT INTO ducklake_catalog (catalog_id, catalog_uuid, catalog_name, begin_snapshot, end_snapshot, parent_catalog_id, fork_snapshot, data_path, path) VALUES
    (0, 'c93122cb-4e2a-4760-a65d-a97265242f27', 'sales', 1, NULL, NULL, NULL, '/tmp/forklake-dump/files/duckdb/', 'sales/'),
    (12, '9bfd077b-2ff5-4e95-af0c-aaf1304d5065', 'agent', 25, NULL, 0, 24, '/tmp/forklake-dump/files/duckdb/', 'agent/'),
    (13, '8a07e844-d6b6-4e92-8767-80b6ac6d93c3', 'deep', 26, NULL, 12, 25, '/tmp/forklake-dump/files/duckdb/', 'deep/'),
    (14, '660038ba-2a13-4fc1-b931-f3246546adb5', 'copy', 27, NULL, 0, 24, '/tmp/forklake-dump/files/duckdb/', 'copy/'),
    (15, '6ab91454-f5d7-45dd-9cd2-21cbb290df42', 'brief', 28, NULL, 0, 24, '/tmp/forklake-dump/files/duckdb/', 'brief/'),
    (16, 'eb549943-863e-41ae-9d05-8b458d5f5765', 'gone', 29, 45, NULL, NULL, '/tmp/forklake-dump/files/duckdb/', 'gone/'),
    (18, 'a5ed900c-18c8-4616-bcc7-590a6da43156', 'deeper', 41, NULL, 12, 34, '/tmp/forklake-dump/files/duckdb/', 'deeper/');
DELETE FROM ducklake_catalog_head;
INSERT INTO ducklake_catalog_head (catalog_id, snapshot_id, schema_version, snapshot_time) VALUES
    (0, 51, 18, '2026-11-20 01:39:55.114765+00'),
    (12, 34, 16, '2026-11-20 01:39:49.316748+00'),
    (13, 26, 14, '2026-11-20 01:39:46.059861+00'),
    (14, 40, 15, '2026-11-20 01:39:50.215553+00'),
    (15, 28, 14, '2026-11-20 01:39:47.786186+00'),
    (18, 43, 16, '2026-11-20 01:39:51.382215+00');
DELETE FROM ducklake_catalog_hold;
DELETE FROM ducklake_catalog_lease;
INSERT INTO ducklake_catalog_lease (catalog_id, expires_at) VALUES
    (15, '2026-11-20 03:39:47.775181+00');
DELETE FROM ducklake_catalog_lineage;
INSERT INTO ducklake_catalog_lineage (catalog_id, depth, ancestor_id, upto_snapshot) VALUES
    (0, 0, 0, 9223372036854775807),
    (12, 0, 12, 9223372036854775807),
    (12, 1, 0, 24),
    (13, 0, 13, 9223372036854775807),
    (13, 1, 12, 25),
    (13, 2, 0, 24),
    (14, 0, 14, 9223372036854775807),
    (15, 0, 15, 9223372036854775807),
    (15, 1, 0, 24),
    (16, 0, 16, 9223372036854775807),
    (18, 0, 18, 9223372036854775807),
    (18, 1, 12, 34),
    (18, 2, 0, 24);
DELETE FROM ducklake_catalog_merge;
INSERT INTO ducklake_catalog_merge (catalog_id, snapshot_id, source_catalog_id, source_snapshot, table_id, first_row_id, row_count, becomes) VALUES
    (0, 44, 14, 40, 2, 21, 12, 33);
DELETE FROM ducklake_column;
INSERT INTO ducklake_column (catalog_id, column_id, begin_snapshot, end_snapshot, table_id, column_order, column_name, column_type, initial_default, default_value, nulls_allowed, parent_column, default_value_type, default_value_dialect) VALUES
    (0, 1, 15, NULL, 6, 0, 'count', 'int64', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 2, NULL, 2, 0, 'id', 'int64', NULL, NULL, FALSE, NULL, NULL, NULL),
    (0, 1, 23, 37, 11, 0, 'name', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 47, NULL, 19, 0, 'id', 'int64', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 5, NULL, 3, 0, 'page', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 8, NULL, 5, 0, 'id', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 11, NULL, 2, 1, 'client', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 2, 11, 2, 1, 'customer', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 23, 37, 11, 1, 'size', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 47, NULL, 19, 1, 'name', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 5, NULL, 3, 1, 'day', 'date', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 8, NULL, 5, 1, 'tags', 'list', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 3, 2, NULL, 2, 2, 'amount', 'decimal(10,2)', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 3, 5, NULL, 3, 2, 'seconds', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 3, 8, NULL, 5, 0, 'element', 'varchar', NULL, NULL, TRUE, 2, NULL, NULL),
    (0, 4, 2, NULL, 2, 3, 'day', 'date', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 4, 8, NULL, 5, 2, 'place', 'struct', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 5, 10, NULL, 2, 4, 'state', 'varchar', 'new', 'new', TRUE, NULL, 'literal', NULL),
    (0, 5, 8, NULL, 5, 0, 'x', 'float64', NULL, NULL, TRUE, 4, NULL, NULL),
    (0, 6, 8, NULL, 5, 1, 'name', 'varchar', NULL, NULL, TRUE, 4, NULL, NULL),
    (14, 1, 15, NULL, 6, 0, 'count', 'int64', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 1, 2, NULL, 2, 0, 'id', 'int64', NULL, NULL, FALSE, NULL, NULL, NULL),
    (14, 1, 23, 40, 11, 0, 'name', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 1, 5, NULL, 3, 0, 'page', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 1, 8, NULL, 5, 0, 'id', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 11, NULL, 2, 1, 'client', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 2, 11, 2, 1, 'customer', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 23, 40, 11, 1, 'size', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 5, NULL, 3, 1, 'day', 'date', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 8, NULL, 5, 1, 'tags', 'list', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 3, 2, NULL, 2, 2, 'amount', 'decimal(10,2)', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 3, 5, NULL, 3, 2, 'seconds', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 3, 8, NULL, 5, 0, 'element', 'varchar', NULL, NULL, TRUE, 2, NULL, NULL),
    (14, 4, 2, NULL, 2, 3, 'day', 'date', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 4, 8, NULL, 5, 2, 'place', 'struct', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 5, 10, NULL, 2, 4, 'state', 'varchar', 'new', 'new', TRUE, NULL, 'literal', NULL),
    (14, 5, 8, NULL, 5, 0, 'x', 'float64', NULL, NULL, TRUE, 4, NULL, NULL),
    (14, 6, 8, NULL, 5, 1, 'name', 'varchar', NULL, NULL, TRUE, 4, NULL, NULL);
DELETE FROM ducklake_column_mapping;
DELETE FROM ducklake_column_tag;
INSERT INTO ducklake_column_tag (catalog_id, table_id, column_id, begin_snapshot, end_snapshot, key, value) VALUES
    (0, 2, 2, 11, NULL, '_forklake_physical_name', 'customer'),
    (14, 2, 2, 11, NULL, '_forklake_physical_name', 'customer');
DELETE FROM ducklake_data_file;
INSERT INTO ducklake_data_file (catalog_id, data_file_id, table_id, begin_snapshot, end_snapshot, file_order, path, path_is_relative, file_format, record_count, file_size_bytes, footer_size, row_id_start, partition_id, encryption_key, partial_file_info, mapping_id) VALUES
    (0, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-9f896677-808e-4e62-9d02-f85c99e5f39e.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (0, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-b3f68262-45a1-4171-9f3d-616aad00e769.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (0, 10, 19, 48, NULL, 0, 'sales/main/published/ducklake-95f0d629-73b8-408f-a6f1-f6fcc86d7873.parquet', TRUE, 'parquet', 10, 729, 541, 0, NULL, NULL, NULL, NULL),
    (0, 12, 19, 51, NULL, 0, 'sales/main/published/ducklake-ba544edf-be9a-45d8-9d91-c545e4196247.parquet', TRUE, 'parquet', 1, 465, 287, 10, NULL, NULL, NULL, NULL),
    (0, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-b3f68262-45a1-4171-9c6e-b9152eac95b7.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (0, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-cdbb47d6-a19c-458a-9f5b-db4da93049c4.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (0, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-49bcb6c4-55d8-4da0-a28e-151006c2b202.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (0, 7, 2, 35, NULL, 0, 'sales/main/orders/ducklake-0b91b3f2-ef81-4a70-9793-363faeaceab5.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (0, 8, 2, 44, NULL, 0, 'copy/main/orders/ducklake-27963c2d-3c04-41c8-9e9b-1398159f1b68.parquet', TRUE, 'parquet', 12, 1555, 1099, 33, NULL, NULL, NULL, NULL),
    (14, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-9f896677-808e-4e62-9d02-f85c99e5f39e.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (14, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-b3f68262-45a1-4171-9f3d-616aad00e769.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (14, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-b3f68262-45a1-4171-9c6e-b9152eac95b7.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (14, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-cdbb47d6-a19c-458a-9f5b-db4da93049c4.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (14, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-49bcb6c4-55d8-4da0-a28e-151006c2b202.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (14, 8, 2, 38, NULL, 0, 'copy/main/orders/ducklake-27963c2d-3c04-41c8-9e9b-1398159f1b68.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (18, 9, 3, 43, NULL, 0, 'deeper/main/visits/day=2024-05-05/ducklake-a543988a-97e0-4430-bdaa-41371361e3aa.parquet', TRUE, 'parquet', 30, 1014, 737, 12, 4, NULL, NULL, NULL);
DELETE FROM ducklake_delete_file;
INSERT INTO ducklake_delete_file (catalog_id, delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, path_is_relative, format, delete_count, file_size_bytes, footer_size, encryption_key) VALUES
    (0, 11, 19, 50, NULL, 10, 'sales/main/published/ducklake-3b3a10ce-e704-4225-9e49-0d6c1337beaa-delete.parquet', TRUE, 'parquet', 1, 961, 502, NULL),
    (0, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-3cfed715-8abe-4ffd-a8da-4dceaf1da932-delete.parquet', TRUE, 'parquet', 3, 950, 496, NULL),
    (0, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-8416c8f4-9434-4404-8e0a-56b5708e14ff-delete.parquet', TRUE, 'parquet', 7, 957, 496, NULL),
    (14, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-3cfed715-8abe-4ffd-a8da-4dceaf1da932-delete.parquet', TRUE, 'parquet', 3, 950, 496, NULL),
    (14, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-8416c8f4-9434-4404-8e0a-56b5708e14ff-delete.parquet', TRUE, 'parquet', 7, 957, 496, NULL);
DELETE FROM ducklake_expired_snapshots;
DELETE FROM ducklake_file_column_stats;
INSERT INTO ducklake_file_column_stats (catalog_id, data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value, contains_nan, extra_stats) VALUES
    (0, 0, 2, 1, 40, 20, 0, '0', '19', NULL, NULL),
    (0, 0, 2, 2, 78, 20, 0, 'c0', 'c2', NULL, NULL),
    (0, 0, 2, 3, 42, 20, 0, '0.00', '4.75', NULL, NULL),
    (0, 0, 2, 4, 42, 20, 0, '2024-01-01', '2024-01-20', NULL, NULL),
    (0, 1, 3, 1, 65, 6, 0, 'p0', 'p8', NULL, NULL),
    (0, 1, 3, 2, 59, 6, 0, '2024-02-01', '2024-02-01', NULL, NULL),
    (0, 1, 3, 3, 42, 6, 0, '0', '10', NULL, NULL),
    (0, 10, 19, 1, 40, 10, 0, '0', '9', NULL, NULL),
    (0, 10, 19, 2, 63, 10, 0, 'n0', 'n9', NULL, NULL),
    (0, 12, 19, 1, 97, 1, 0, '20', '20', NULL, NULL),
    (0, 12, 19, 2, 69, 1, 0, 'more', 'more', NULL, NULL),
    (0, 2, 3, 1, 65, 6, 0, 'p1', 'p9', NULL, NULL),
    (0, 2, 3, 2, 59, 6, 0, '2024-02-02', '2024-02-02', NULL, NULL),
    (0, 2, 3, 3, 41, 6, 0, '1', '11', NULL, NULL),
    (0, 3, 5, 1, 42, 12, 0, '0', '11', NULL, NULL),
    (0, 3, 5, 3, 129, 24, 0, '0', 'b', NULL, NULL),
    (0, 3, 5, 5, 86, 12, 0, '0.0', '5.5', FALSE, NULL),
    (0, 3, 5, 6, 74, 12, 0, 'n0', 'n9', NULL, NULL),
    (0, 6, 2, 1, 42, 4, 0, '1', '4', NULL, NULL),
    (0, 6, 2, 2, 74, 4, 0, 'c0', 'c2', NULL, NULL),
    (0, 6, 2, 3, 42, 4, 0, '0.25', '1.00', NULL, NULL),
    (0, 6, 2, 4, 44, 4, 0, '2024-01-02', '2024-01-05', NULL, NULL),
    (0, 6, 2, 5, 61, 4, 0, 'paid', 'paid', NULL, NULL),
    (0, 7, 2, 1, 41, 12, 0, '300', '311', NULL, NULL),
    (0, 7, 2, 2, 62, 12, 0, 'later', 'later', NULL, NULL),
    (0, 7, 2, 3, 61, 12, 0, '1.00', '1.00', NULL, NULL),
    (0, 7, 2, 4, 37, 12, 12, NULL, NULL, NULL, NULL),
    (0, 7, 2, 5, 60, 12, 0, 'new', 'new', NULL, NULL),
    (14, 8, 2, 1, 41, 12, 0, '400', '411', NULL, NULL),
    (14, 8, 2, 2, 62, 12, 0, 'later', 'later', NULL, NULL),
    (14, 8, 2, 3, 61, 12, 0, '1.00', '1.00', NULL, NULL),
    (14, 8, 2, 4, 37, 12, 12, NULL, NULL, NULL, NULL),
    (14, 8, 2, 5, 60, 12, 0, 'new', 'new', NULL, NULL),
    (18, 9, 3, 1, 61, 30, 0, 'deep', 'deep', NULL, NULL),
    (18, 9, 3, 2, 57, 30, 0, '2024-05-05', '2024-05-05', NULL, NULL),
    (18, 9, 3, 3, 42, 30, 0, '0', '29', NULL, NULL);
DELETE FROM ducklake_file_listing;
DELETE FROM ducklake_file_partition_value;
INSERT INTO ducklake_file_partition_value (catalog_id, data_file_id, table_id, partition_key_index, partition_value) VALUES
    (0, 1, 3, 0, '2024-02-01'),
    (0, 2, 3, 0, '2024-02-02'),
    (18, 9, 3, 0, '2024-05-05');
DELETE FROM ducklake_files_scheduled_for_deletion;
CREATE TABLE ducklake_inlined_data_11_255204071136913 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 VARCHAR, c2 BIGINT, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_11_255204071136913;
INSERT INTO ducklake_inlined_data_11_255204071136913 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2) VALUES
    (0, 11, 0, 24, 37, 'start', 10),
    (0, 11, 1, 24, 37, 'end', 20),
    (14, 11, 0, 24, 40, 'start', 10),
    (14, 11, 1, 24, 40, 'end', 20);
CREATE TABLE ducklake_inlined_data_2_273384606370724 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 BIGINT, c2 VARCHAR, c3 VARCHAR, c4 VARCHAR, c5 VARCHAR, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_2_273384606370724;
INSERT INTO ducklake_inlined_data_2_273384606370724 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2, c3, c4, c5) VALUES
    (0, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (12, 2, 21, 30, NULL, 200, 'fork', '9.00', NULL, 'new'),
    (14, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (18, 2, 21, 42, NULL, 200, 'fork', '9.00', NULL, 'deep');
CREATE TABLE ducklake_inlined_data_6_253749026318082 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 BIGINT, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_6_253749026318082;
INSERT INTO ducklake_inlined_data_6_253749026318082 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1) VALUES
    (0, 6, 0, 16, NULL, 1),
    (0, 6, 1, 16, 17, 2),
    (0, 6, 2, 16, NULL, 3),
    (14, 6, 0, 16, NULL, 1),
    (14, 6, 1, 16, 17, 2),
    (14, 6, 2, 16, NULL, 3);
DELETE FROM ducklake_inlined_data_tables;
INSERT INTO ducklake_inlined_data_tables (catalog_id, table_id, table_name, schema_version, begin_snapshot, end_snapshot) VALUES
    (0, 11, 'ducklake_inlined_data_11_255204071136913', 255204071136913, 24, 37),
    (0, 2, 'ducklake_inlined_data_2_273384606370724', 273384606370724, 18, NULL),
    (0, 6, 'ducklake_inlined_data_6_253749026318082', 253749026318082, 16, NULL),
    (14, 11, 'ducklake_inlined_data_11_255204071136913', 255204071136913, 24, 40),
    (14, 2, 'ducklake_inlined_data_2_273384606370724', 273384606370724, 18, NULL),
    (14, 6, 'ducklake_inlined_data_6_253749026318082', 253749026318082, 16, NULL);
DELETE FROM ducklake_inlined_delete;
INSERT INTO ducklake_inlined_delete (catalog_id, table_id, data_file_id, row_position, begin_snapshot, end_snapshot) VALUES
    (0, 3, 2, 1, 36, NULL),
    (12, 2, 0, 8, 31, NULL),
    (12, 2, 6, 0, 31, NULL),
    (14, 3, 2, 1, 39, NULL);
DELETE FROM ducklake_macro;
INSERT INTO ducklake_macro (catalog_id, schema_id, macro_id, macro_name, begin_snapshot, end_snapshot) VALUES
    (0, 1, 8, 'tax', 20, NULL),
    (0, 1, 9, 'above', 21, NULL),
    (14, 1, 8, 'tax', 20, NULL),
    (14, 1, 9, 'above', 21, NULL);
DELETE FROM ducklake_macro_impl;
INSERT INTO ducklake_macro_impl (catalog_id, macro_id, impl_id, dialect, sql, type) VALUES
    (0, 8, 0, 'duckdb', 'price * rate', 'scalar'),
    (0, 9, 0, 'duckdb', 'SELECT * FROM {DUCKLAKE_CATALOG}.main.orders WHERE id > least', 'table');
DELETE FROM ducklake_macro_parameters;
INSERT INTO ducklake_macro_parameters (catalog_id, macro_id, impl_id, column_id, parameter_name, parameter_type, default_value, default_value_type) VALUES
    (0, 8, 0, 0, 'price', 'unknown', NULL, NULL),
    (0, 8, 0, 1, 'rate', 'unknown', '0.25', 'literal'),
    (0, 9, 0, 0, 'least', 'unknown', NULL, NULL);
DELETE FROM ducklake_metadata;
INSERT INTO ducklake_metadata (key, value, scope, scope_id, catalog_id, begin_snapshot, end_snapshot) VALUES
    ('data_inlining_row_limit', '0', 'catalog', 0, 0, 46, NULL),
    ('data_inlining_row_limit', '10', 'catalog', 0, 0, 14, 46),
    ('data_inlining_row_limit', '10', 'catalog', 0, 14, 14, NULL),
    ('version', '0.5-dev1', NULL, NULL, NULL, NULL, NULL);
DELETE FROM ducklake_name_mapping;
DELETE FROM ducklake_partition_column;
INSERT INTO ducklake_partition_column (catalog_id, partition_id, table_id, partition_key_index, column_id, transform) VALUES
    (0, 4, 3, 0, 2, 'identity');
DELETE FROM ducklake_partition_info;
INSERT INTO ducklake_partition_info (catalog_id, partition_id, table_id, begin_snapshot, end_snapshot) VALUES
    (0, 4, 3, 6, NULL),
    (14, 4, 3, 6, NULL);
DELETE FROM ducklake_schema;
INSERT INTO ducklake_schema (catalog_id, schema_id, schema_uuid, begin_snapshot, end_snapshot, schema_name, path, path_is_relative) VALUES
    (0, 1, '2252df6c-7e66-4429-a523-f5f29f4694c6', 1, NULL, 'main', 'main/', TRUE),
    (0, 10, 'c7c79173-7e89-49f7-affb-052a6dbe020a', 22, NULL, 'web', 'web/', TRUE),
    (14, 1, '2252df6c-7e66-4429-a523-f5f29f4694c6', 1, NULL, 'main', 'main/', TRUE),
    (14, 10, 'c7c79173-7e89-49f7-affb-052a6dbe020a', 22, NULL, 'web', 'web/', TRUE),
    (16, 17, '93c82a1e-a592-4c8b-be15-e896175f2567', 29, NULL, 'main', 'main/', TRUE);
DELETE FROM ducklake_schema_versions;
INSERT INTO ducklake_schema_versions (catalog_id, begin_snapshot, schema_version) VALUES
    (0, 1, 0),
    (0, 10, 6),
    (0, 11, 7),
    (0, 14, 8),
    (0, 15, 9),
    (0, 19, 10),
    (0, 2, 1),
    (0, 20, 11),
    (0, 21, 12),
    (0, 22, 13),
    (0, 23, 14),
    (0, 37, 15),
    (0, 4, 2),
    (0, 46, 16),
    (0, 47, 17),
    (0, 49, 18),
    (0, 5, 3),
    (0, 6, 4),
    (0, 8, 5),
    (12, 33, 15),
    (12, 34, 16),
    (14, 1, 0),
    (14, 10, 6),
    (14, 11, 7),
    (14, 14, 8),
    (14, 15, 9),
    (14, 19, 10),
    (14, 2, 1),
    (14, 20, 11),
    (14, 21, 12),
    (14, 22, 13),
    (14, 23, 14),
    (14, 4, 2),
    (14, 40, 15),
    (14, 5, 3),
    (14, 6, 4),
    (14, 8, 5),
    (16, 29, 0);
DELETE FROM ducklake_snapshot;
INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id) VALUES
    (0, '2026-11-20 01:39:42.406321+00', 0, 0, 0),
    (1, '2026-11-20 01:39:42.615826+00', 0, 2, 0),
    (10, '2026-11-20 01:39:43.677812+00', 6, 6, 4),
    (11, '2026-11-20 01:39:43.704781+00', 7, 6, 4),
    (12, '2026-11-20 01:39:43.851913+00', 7, 6, 5),
    (13, '2026-11-20 01:39:44.263892+00', 7, 6, 7),
    (14, '2026-11-20 01:39:44.285321+00', 8, 6, 7),
    (15, '2026-11-20 01:39:44.301758+00', 9, 7, 7),
    (16, '2026-11-20 01:39:44.334615+00', 9, 7, 7),
    (17, '2026-11-20 01:39:44.368051+00', 9, 7, 7),
    (18, '2026-11-20 01:39:44.381474+00', 9, 7, 7),
    (19, '2026-11-20 01:39:44.420591+00', 10, 8, 7),
    (2, '2026-11-20 01:39:42.649988+00', 1, 3, 0),
    (20, '2026-11-20 01:39:44.442165+00', 11, 9, 7),
    (21, '2026-11-20 01:39:44.462703+00', 12, 10, 7),
    (22, '2026-11-20 01:39:44.480775+00', 13, 11, 7),
    (23, '2026-11-20 01:39:44.499605+00', 14, 12, 7),
    (24, '2026-11-20 01:39:44.521846+00', 14, 12, 7),
    (25, '2026-11-20 01:39:45.207169+00', 14, 13, 8),
    (26, '2026-11-20 01:39:46.059861+00', 14, 14, 8),
    (27, '2026-11-20 01:39:46.845133+00', 14, 15, 8),
    (28, '2026-11-20 01:39:47.786186+00', 14, 16, 8),
    (29, '2026-11-20 01:39:48.654829+00', 0, 18, 8),
    (3, '2026-11-20 01:39:42.957881+00', 1, 3, 1),
    (30, '2026-11-20 01:39:48.897721+00', 14, 19, 8),
    (31, '2026-11-20 01:39:49.236874+00', 14, 19, 8),
    (32, '2026-11-20 01:39:49.266241+00', 14, 19, 8),
    (33, '2026-11-20 01:39:49.284433+00', 15, 19, 8),
    (34, '2026-11-20 01:39:49.316748+00', 16, 19, 8),
    (35, '2026-11-20 01:39:49.596922+00', 14, 19, 8),
    (36, '2026-11-20 01:39:49.77445+00', 14, 19, 8),
    (37, '2026-11-20 01:39:49.791175+00', 15, 19, 8),
    (38, '2026-11-20 01:39:50.020614+00', 14, 19, 9),
    (39, '2026-11-20 01:39:50.204538+00', 14, 19, 9),
    (4, '2026-11-20 01:39:42.97702+00', 2, 3, 1),
    (40, '2026-11-20 01:39:50.215553+00', 15, 19, 9),
    (41, '2026-11-20 01:39:50.841847+00', 16, 19, 10),
    (42, '2026-11-20 01:39:51.112984+00', 16, 20, 10),
    (43, '2026-11-20 01:39:51.382215+00', 16, 20, 10),
    (44, '2026-11-20 01:39:52.240555+00', 15, 20, 11),
    (45, '2026-11-20 01:39:53.076024+00', 0, 20, 11),
    (46, '2026-11-20 01:39:53.283415+00', 16, 20, 11),
    (47, '2026-11-20 01:39:53.319222+00', 17, 20, 11),
    (48, '2026-11-20 01:39:53.488822+00', 17, 20, 11),
    (49, '2026-11-20 01:39:54.376908+00', 18, 21, 12),
    (5, '2026-11-20 01:39:42.992786+00', 3, 4, 1),
    (50, '2026-11-20 01:39:54.918377+00', 18, 21, 12),
    (51, '2026-11-20 01:39:55.114765+00', 18, 21, 13),
    (6, '2026-11-20 01:39:43.012195+00', 4, 5, 1),
    (7, '2026-11-20 01:39:43.428819+00', 4, 5, 3),
    (8, '2026-11-20 01:39:43.477497+00', 5, 6, 3),
    (9, '2026-11-20 01:39:43.649141+00', 5, 6, 4);
DELETE FROM ducklake_snapshot_changes;
INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made, author, commit_message, commit_extra_info, idempotency_key) VALUES
    (0, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (0, 10, 'altered_table:2', NULL, NULL, NULL, '4df1c6c2cc61417189bd5dabdd309845'),
    (0, 11, 'altered_table:2', NULL, NULL, NULL, '83f97d18a4b94765a11ffa51cd0058af'),
    (0, 12, 'deleted_from_table:2', NULL, NULL, NULL, 'b32c3c904b584d64a4fd1b99434d4364'),
    (0, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, 'b26b8e3fb8664c45989e5372f0e8dd4e'),
    (0, 14, '', NULL, NULL, NULL, '9b2bac2c8ad64ede82912aee8d93c6b3'),
    (0, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, '6f5564207cd04902b5c041770844c00b'),
    (0, 16, 'inlined_insert:6', NULL, NULL, NULL, '29d6b1ac62fc418e8798456f9e8f4be5'),
    (0, 17, 'inlined_delete:6', NULL, NULL, NULL, '26109388e6c64e02970b00ba1204e6b4'),
    (0, 18, 'inlined_insert:2', NULL, NULL, NULL, '0dc2a5b593034223a7ce49e441affca3'),
    (0, 19, 'created_view:"main"."large"', NULL, NULL, NULL, '432ed6030c624391befa5135f6ef6161'),
    (0, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, '4feb54e3488647f5a6dc99391bd228e8'),
    (0, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, '2e65da94fbe04d97b00dce006ddb706b'),
    (0, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, '8fd28cd24ec144bd8de20fd836c95ebf'),
    (0, 22, 'created_schema:"web"', NULL, NULL, NULL, '33b25dc2bf0d447c9d2548c8eda83fc6'),
    (0, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, '353bcc74b18c4e69946f4a9938a1d56e'),
    (0, 24, 'inlined_insert:11', NULL, NULL, NULL, '25b0d9c07ed947b2b3bc42de955ac30d'),
    (0, 3, 'inserted_into_table:2', NULL, NULL, NULL, 'e6b2cf2531ed4d73b8d53c2100e1c5c9'),
    (0, 35, 'inserted_into_table:2', NULL, NULL, NULL, '2508d915b27c4412a7306e1f1a88fd81'),
    (0, 36, 'inlined_delete:3', NULL, NULL, NULL, 'da8c74f7ea2e46a9978f8f91af9393ed'),
    (0, 37, 'dropped_table:11', NULL, NULL, NULL, '75e2117c26b745449453d99de14b01d2'),
    (0, 4, 'altered_table:2', NULL, NULL, NULL, '7f09092c314a4d569b18a150ab6d6f39'),
    (0, 44, 'inserted_into_table:2,merged_from:14', NULL, 'merge copy', NULL, '3bb82e9bebb4489f98bd2e74ef51c150'),
    (0, 46, '', NULL, NULL, NULL, '040f3fbddfc541f89d9d7c5acde21b2b'),
    (0, 47, 'created_table:"main"."published"', NULL, NULL, NULL, '692df50cd86b4c2a9bd4ec43fdf54cb5'),
    (0, 48, 'inserted_into_table:19', NULL, NULL, NULL, '0d138849beed4b4898f32e97bef1e689'),
    (0, 49, 'altered_table:19', NULL, 'Published to /tmp/forklake-dump/files/duckdb-delta/published', NULL, '466fe406ac8843e8bd664d2d6ab3bda4'),
    (0, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, '57325afb90ef4620b55ce1a08fadc1e2'),
    (0, 50, 'deleted_from_table:19', NULL, NULL, NULL, 'ba3caf8f05c54d2e94469016fec86213'),
    (0, 51, 'inserted_into_table:19', NULL, NULL, NULL, '10ed94270ddd4c7581d6fd5e0762600e'),
    (0, 6, 'altered_table:3', NULL, NULL, NULL, '5c4da56b693a4e5e903483eb9ffd6858'),
    (0, 7, 'inserted_into_table:3', NULL, NULL, NULL, '534fb5795f2e4ea8a94d70c5a859c3ff'),
    (0, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, 'e927f7b068fe45669cace84e0706e096'),
    (0, 9, 'inserted_into_table:5', NULL, NULL, NULL, '4e94048ea587427ba6b07b375d8d8c06'),
    (12, 25, 'forked_from:0', NULL, NULL, NULL, NULL),
    (12, 30, 'inlined_insert:2', NULL, NULL, NULL, '6044e298b2d347619bdca50b5dd204c7'),
    (12, 31, 'inlined_delete:2', NULL, NULL, NULL, '8fce3681a68f4be089a17dcf8041c42d'),
    (12, 32, 'deleted_from_table:3', NULL, NULL, NULL, '3a3308514d654f28945645e61f0b7d47'),
    (12, 33, 'altered_table:5', NULL, NULL, NULL, 'a3ebf4befbb84b3ca0edcba08b71adc4'),
    (12, 34, 'dropped_view:7', NULL, NULL, NULL, '0b570b6119c149688af5c2d71a31808a'),
    (13, 26, 'forked_from:12', NULL, NULL, NULL, NULL),
    (14, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (14, 10, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 11, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 12, 'deleted_from_table:2', NULL, NULL, NULL, NULL),
    (14, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, NULL),
    (14, 14, '', NULL, NULL, NULL, NULL),
    (14, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, NULL),
    (14, 16, 'inlined_insert:6', NULL, NULL, NULL, NULL),
    (14, 17, 'inlined_delete:6', NULL, NULL, NULL, NULL),
    (14, 18, 'inlined_insert:2', NULL, NULL, NULL, NULL),
    (14, 19, 'created_view:"main"."large"', NULL, NULL, NULL, NULL),
    (14, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, NULL),
    (14, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, NULL),
    (14, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, NULL),
    (14, 22, 'created_schema:"web"', NULL, NULL, NULL, NULL),
    (14, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, NULL),
    (14, 24, 'inlined_insert:11', NULL, NULL, NULL, NULL),
    (14, 27, 'forked_from:0', NULL, NULL, NULL, NULL),
    (14, 3, 'inserted_into_table:2', NULL, NULL, NULL, NULL),
    (14, 38, 'inserted_into_table:2', NULL, NULL, NULL, 'abc331b41dbf4d378108d0da74104bc6'),
    (14, 39, 'inlined_delete:3', NULL, NULL, NULL, '7808613f333843bc9b8145dae919b30b'),
    (14, 4, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 40, 'dropped_table:11', NULL, NULL, NULL, '5df88fffed064e0bb7d6ba655728a340'),
    (14, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, NULL),
    (14, 6, 'altered_table:3', NULL, NULL, NULL, NULL),
    (14, 7, 'inserted_into_table:3', NULL, NULL, NULL, NULL),
    (14, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, NULL),
    (14, 9, 'inserted_into_table:5', NULL, NULL, NULL, NULL),
    (15, 28, 'forked_from:0', NULL, NULL, NULL, NULL),
    (16, 29, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (18, 41, 'forked_from:12', NULL, NULL, NULL, NULL),
    (18, 42, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL, 'efc4f63ee2c54e0dbdd64402d821efe0'),
    (18, 43, 'inserted_into_table:3', NULL, NULL, NULL, '74e286c304834a63924d5135a7947e35');
DELETE FROM ducklake_table;
INSERT INTO ducklake_table (catalog_id, table_id, table_uuid, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative) VALUES
    (0, 11, 'aa6fade8-0f96-4ff3-9c4a-07b7e40ef1dd', 23, 37, 10, 'pages', 'pages/', TRUE),
    (0, 19, '9c1a8480-3bd6-4ce5-bb6b-d833bdc9881f', 47, NULL, 1, 'published', 'published/', TRUE),
    (0, 2, 'ffb4fca6-d6b3-4256-97c3-8780acd26524', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (0, 3, 'e3e13a32-63fb-46f0-a077-cbbea03394ae', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (0, 5, 'a2ddf14a-7c50-425b-9d3d-d68e1c63c69b', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (0, 6, '25e06830-e875-4913-a21e-700001351542', 15, NULL, 1, 'totals', 'totals/', TRUE),
    (14, 11, 'aa6fade8-0f96-4ff3-9c4a-07b7e40ef1dd', 23, 40, 10, 'pages', 'pages/', TRUE),
    (14, 2, 'ffb4fca6-d6b3-4256-97c3-8780acd26524', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (14, 3, 'e3e13a32-63fb-46f0-a077-cbbea03394ae', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (14, 5, 'a2ddf14a-7c50-425b-9d3d-d68e1c63c69b', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (14, 6, '25e06830-e875-4913-a21e-700001351542', 15, NULL, 1, 'totals', 'totals/', TRUE);
DELETE FROM ducklake_table_column_stats;
INSERT INTO ducklake_table_column_stats (catalog_id, table_id, column_id, contains_null, contains_nan, min_value, max_value, extra_stats, begin_snapshot, end_snapshot) VALUES
    (0, 19, 1, FALSE, NULL, '0', '20', NULL, 51, NULL),
    (0, 19, 1, FALSE, NULL, '0', '9', NULL, 48, 51),
    (0, 19, 2, FALSE, NULL, 'more', 'n9', NULL, 51, NULL),
    (0, 19, 2, FALSE, NULL, 'n0', 'n9', NULL, 48, 51),
    (0, 2, 1, FALSE, NULL, '0', '19', NULL, 3, 35),
    (0, 2, 1, FALSE, NULL, '0', '311', NULL, 35, 44),
    (0, 2, 1, FALSE, NULL, '0', '411', NULL, 44, NULL),
    (0, 2, 2, FALSE, NULL, 'c0', 'c2', NULL, 3, 35),
    (0, 2, 2, FALSE, NULL, 'c0', 'later', NULL, 35, NULL),
    (0, 2, 3, FALSE, NULL, '0.00', '4.75', NULL, 3, NULL),
    (0, 2, 4, FALSE, NULL, '2024-01-01', '2024-01-20', NULL, 3, 35),
    (0, 2, 4, TRUE, NULL, '2024-01-01', '2024-01-20', NULL, 35, NULL),
    (0, 2, 5, FALSE, NULL, 'new', 'paid', NULL, 35, NULL),
    (0, 2, 5, FALSE, NULL, 'paid', 'paid', NULL, 13, 35),
    (0, 3, 1, FALSE, NULL, 'p0', 'p9', NULL, 7, NULL),
    (0, 3, 2, FALSE, NULL, '2024-02-01', '2024-02-02', NULL, 7, NULL),
    (0, 3, 3, FALSE, NULL, '0', '11', NULL, 7, NULL),
    (0, 5, 1, FALSE, NULL, '0', '11', NULL, 9, NULL),
    (0, 5, 3, FALSE, NULL, '0', 'b', NULL, 9, NULL),
    (0, 5, 5, FALSE, FALSE, '0.0', '5.5', NULL, 9, NULL),
    (0, 5, 6, FALSE, NULL, 'n0', 'n9', NULL, 9, NULL),
    (14, 2, 1, FALSE, NULL, '0', '19', NULL, 3, 38),
    (14, 2, 1, FALSE, NULL, '0', '411', NULL, 38, NULL),
    (14, 2, 2, FALSE, NULL, 'c0', 'c2', NULL, 3, 38),
    (14, 2, 2, FALSE, NULL, 'c0', 'later', NULL, 38, NULL),
    (14, 2, 3, FALSE, NULL, '0.00', '4.75', NULL, 3, NULL),
    (14, 2, 4, FALSE, NULL, '2024-01-01', '2024-01-20', NULL, 3, 38),
    (14, 2, 4, TRUE, NULL, '2024-01-01', '2024-01-20', NULL, 38, NULL),
    (14, 2, 5, FALSE, NULL, 'new', 'paid', NULL, 38, NULL),
    (14, 2, 5, FALSE, NULL, 'paid', 'paid', NULL, 13, 38),
    (14, 3, 1, FALSE, NULL, 'p0', 'p9', NULL, 7, NULL),
    (14, 3, 2, FALSE, NULL, '2024-02-01', '2024-02-02', NULL, 7, NULL),
    (14, 3, 3, FALSE, NULL, '0', '11', NULL, 7, NULL),
    (14, 5, 1, FALSE, NULL, '0', '11', NULL, 9, NULL),
    (14, 5, 3, FALSE, NULL, '0', 'b', NULL, 9, NULL),
    (14, 5, 5, FALSE, FALSE, '0.0', '5.5', NULL, 9, NULL),
    (14, 5, 6, FALSE, NULL, 'n0', 'n9', NULL, 9, NULL),
    (18, 3, 1, FALSE, NULL, 'deep', 'deep', NULL, 43, NULL),
    (18, 3, 2, FALSE, NULL, '2024-05-05', '2024-05-05', NULL, 43, NULL),
    (18, 3, 3, FALSE, NULL, '0', '29', NULL, 43, NULL);
DELETE FROM ducklake_table_stats;
INSERT INTO ducklake_table_stats (catalog_id, table_id, record_count, next_row_id, file_size_bytes, begin_snapshot, end_snapshot) VALUES
    (0, 11, 0, 0, 0, 23, 24),
    (0, 11, 2, 2, 0, 24, 37),
    (0, 19, 0, 0, 0, 47, 48),
    (0, 19, 10, 10, 729, 48, 50),
    (0, 19, 10, 11, 1194, 51, NULL),
    (0, 19, 9, 10, 729, 50, 51),
    (0, 2, 0, 0, 0, 2, 3),
    (0, 2, 17, 20, 1263, 12, 13),
    (0, 2, 17, 20, 3120, 13, 18),
    (0, 2, 18, 21, 3120, 18, 35),
    (0, 2, 20, 20, 1263, 3, 12),
    (0, 2, 30, 33, 4675, 35, 44),
    (0, 2, 42, 45, 6230, 44, NULL),
    (0, 3, 0, 0, 0, 5, 7),
    (0, 3, 11, 12, 1979, 36, NULL),
    (0, 3, 12, 12, 1979, 7, 36),
    (0, 5, 0, 0, 0, 8, 9),
    (0, 5, 12, 12, 1551, 9, NULL),
    (0, 6, 0, 0, 0, 15, 16),
    (0, 6, 2, 3, 0, 17, NULL),
    (0, 6, 3, 3, 0, 16, 17),
    (12, 2, 16, 22, 3120, 31, NULL),
    (12, 2, 19, 22, 3120, 30, 31),
    (12, 3, 0, 12, 0, 32, NULL),
    (14, 11, 0, 0, 0, 23, 24),
    (14, 11, 2, 2, 0, 24, 40),
    (14, 2, 0, 0, 0, 2, 3),
    (14, 2, 17, 20, 1263, 12, 13),
    (14, 2, 17, 20, 3120, 13, 18),
    (14, 2, 18, 21, 3120, 18, 38),
    (14, 2, 20, 20, 1263, 3, 12),
    (14, 2, 30, 33, 4675, 38, NULL),
    (14, 3, 0, 0, 0, 5, 7),
    (14, 3, 11, 12, 1979, 39, NULL),
    (14, 3, 12, 12, 1979, 7, 39),
    (14, 5, 0, 0, 0, 8, 9),
    (14, 5, 12, 12, 1551, 9, NULL),
    (14, 6, 0, 0, 0, 15, 16),
    (14, 6, 2, 3, 0, 17, NULL),
    (14, 6, 3, 3, 0, 16, 17),
    (18, 2, 16, 22, 3120, 42, NULL),
    (18, 3, 30, 42, 1014, 43, NULL);
DELETE FROM ducklake_tag;
INSERT INTO ducklake_tag (catalog_id, object_id, begin_snapshot, end_snapshot, key, value) VALUES
    (0, 2, 4, NULL, 'comment', 'all orders'),
    (12, 5, 33, NULL, '_forklake_dropped_names', '{"": ["tags"]}'),
    (12, 5, 33, NULL, '_forklake_highest_column', '6'),
    (14, 2, 4, NULL, 'comment', 'all orders');
DELETE FROM ducklake_tombstone;
INSERT INTO ducklake_tombstone (catalog_id, kind, table_id, entity_id, entity_key, begin_snapshot, end_snapshot) VALUES
    (12, 101, 3, 0, '', 0, 32),
    (12, 13, 2, 0, '', 18, 30),
    (12, 13, 3, 0, '', 7, 32),
    (12, 16, 2, 20, '', 18, 31),
    (12, 3, 5, 2, '', 8, 33),
    (12, 3, 5, 3, '', 8, 33),
    (12, 4, 0, 7, '', 19, 34),
    (18, 13, 2, 0, '', 31, 42),
    (18, 13, 3, 0, '', 32, 43),
    (18, 16, 2, 21, '', 30, 42);
DELETE FROM ducklake_view;
INSERT INTO ducklake_view (catalog_id, view_id, view_uuid, begin_snapshot, end_snapshot, schema_id, view_name, dialect, sql, column_aliases) VALUES
    (0, 7, '4cd964c7-c46b-4232-a539-985e4d3719c9', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL),
    (14, 7, '4cd964c7-c46b-4232-a539-985e4d3719c9', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL);
INSERT INTO reagent_automation (automation_id, name, catalog_id, workbook_path, workbook_text, parameters, isolation, schedule, time_zone, table_catalog_id, schema_name, table_name, overlap, catch_up, is_enabled, created_at, next_due_at, seen_snapshot, revision) VALUES
    (1510113710628983253, 'arrivals', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, NULL, NULL, 0, 'main', 'orders', 'queue', 'latest', TRUE, '2026-11-20 01:40:01.551124+00', NULL, 51, 0),
    (1682048048720417013, 'nightly', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, '0 2 * * *', 'UTC', NULL, NULL, NULL, 'skip', 'latest', TRUE, '2026-11-20 01:40:00.444451+00', '2026-11-20 02:00:00+00', NULL, 0);
CREATE OR REPLACE SEQUENCE ducklake_snapshot_id_seq MINVALUE 0 START 53;
CREATE OR REPLACE SEQUENCE ducklake_entity_id_seq MINVALUE 0 START 21;
CREATE OR REPLACE SEQUENCE ducklake_file_id_seq MINVALUE 0 START 14;
