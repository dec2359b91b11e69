INSERT INTO crucible_audit (audit_id, happened_at, principal_id, principal, operation, object, catalog_id, outcome) VALUES
    ('1795138777902117470104631152', '2026-11-20 01:39:37.902097+00:00', 0, 'local', 'principal.create', 'ada', NULL, 'done'),
    ('1795138778211776862814159855', '2026-11-20 01:39:38.211752+00:00', 0, 'local', 'principal.create', 'ben', NULL, 'done'),
    ('1795138778495808491125441367', '2026-11-20 01:39:38.495784+00:00', 0, 'local', 'key.create', 'ada/a9f28a29d888c684', NULL, 'done'),
    ('1795138778811372745994367590', '2026-11-20 01:39:38.811370+00:00', 0, 'local', 'grants.set', 'sales: reader to ben', 0, 'done'),
    ('1795138779102145835508489009', '2026-11-20 01:39:39.102113+00:00', 0, 'local', 'quota.set', 'ada', NULL, 'done');
INSERT INTO crucible_grant (principal_id, catalog_id, role, expires_at) VALUES
    (2, 0, 'reader', NULL);
INSERT INTO crucible_key (key_id, principal_id, secret_hash, created_at, revoked_at) VALUES
    ('a9f28a29d888c684', 1, '7b46866851057bfcbd28d2ba0eb7dbc021e3854b5c4f1614f94dc7ab773b5d50', '2026-11-20 01:39:38.494915+00:00', NULL);
INSERT INTO crucible_prefix_grant (principal_id, prefix, role, expires_at) VALUES
    (1, 'ada-', 'owner', NULL);
INSERT INTO crucible_principal (principal_id, name, account, is_root, created_at, disabled_at) VALUES
    (1, 'ada', 'default', FALSE, '2026-11-20 01:39:37.900901+00:00', NULL),
    (2, 'ben', 'default', FALSE, '2026-11-20 01:39:38.210686+00:00', NULL);
INSERT INTO crucible_quota (principal_id, catalogs, bytes, sessions) VALUES
    (1, 7, NULL, NULL);
INSERT INTO dl_actions (catalog_id, table_id, begin_snapshot, end_snapshot, version, kind, key, body) VALUES
    (0, 19, 49, NULL, 0, 'metaData', '', '{"id":"e40158a5-2611-41e5-9881-662c508d7581","name":"published","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1795138776922}'),
    (0, 19, 49, NULL, 0, 'protocol', '', '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["sqlCommitOnly"]}'),
    (0, 19, 50, NULL, 1, 'protocol', '', '{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","sqlCommitOnly"]}');
INSERT INTO dl_mirror_status (catalog_id, table_id, mirror_engine, mirrored_version, checkpoint_version, state, last_error, last_sync_time, updated_at) VALUES
    (0, 19, 'delta', 2, NULL, 'CURRENT', NULL, '2026-11-20 01:39:37.267274+00:00', '2026-11-20 01:39:37.267274+00:00');
INSERT INTO dl_table_versions (catalog_id, table_id, begin_snapshot, end_snapshot, version, timestamp, operation, transaction_id, group_id) VALUES
    (0, 19, 49, NULL, 0, 1795138776922, 'SET TBLPROPERTIES', '145c6880d2564f9f90318fbd96aa5c28', NULL),
    (0, 19, 50, NULL, 1, 1795138777216, 'DELETE', '9df1c78722e54b0c837a4a95d2f5eda8', NULL),
    (0, 19, 51, NULL, 2, 1795138777259, 'WRITE', 'f0897e1411ce45cc997863f890cf5708', NULL);
INSERT INTO dl_tables (catalog_id, table_id, begin_snapshot, end_snapshot, delta_id, location, mode) VALUES
    (0, 19, 49, NULL, 'e40158a5-2611-41e5-9881-662c508d7581', '/tmp/forklake-dump/files/sqlite-delta/published', 'own');
DELETE FROM ducklake_catalog;
INSERT INTO ducklake_catalog (catalog_id, catalog_uuid, catalog_name, begin_snapshot, end_snapshot, parent_catalog_id, fork_snapshot, data_path, path) VALUES
    (0, '501393d3-9370-47c1-8e6c-b1f427aa1696', 'sales', 1, NULL, NULL, NULL, '/tmp/forklake-dump/files/sqlite/', 'sales/'),
    (12, '14b5a177-83f5-4199-9c3d-ee73717f478c', 'agent', 25, NULL, 0, 24, '/tmp/forklake-dump/files/sqlite/', 'agent/'),
    (13, '9daf5fd9-d079-4b38-a9fc-bf9ccf98a81a', 'deep', 26, NULL, 12, 25, '/tmp/forklake-dump/files/sqlite/', 'deep/'),
    (14, '08b1436b-541d-4718-9123-ed39f4f6c6f1', 'copy', 27, NULL, 0, 24, '/tmp/forklake-dump/files/sqlite/', 'copy/'),
    (15, '4b75ec7a-a562-41fb-9498-7e99e72ce2f2', 'brief', 28, NULL, 0, 24, '/tmp/forklake-dump/files/sqlite/', 'brief/'),
    (16, '8c28ec1d-b8b5-401f-801e-68332a963b97', 'gone', 29, 45, NULL, NULL, '/tmp/forklake-dump/files/sqlite/', 'gone/'),
    (18, 'f0414b11-50d7-4d57-973b-e7371d68e30d', 'deeper', 41, NULL, 12, 34, '/tmp/forklake-dump/files/sqlite/', 'deeper/');
DELETE FROM ducklake_catalog_head;
INSERT INTO ducklake_catalog_head (catalog_id, snapshot_id, schema_version, snapshot_time) VALUES
    (0, 51, 18, '2026-11-20 01:39:37.259452+00:00'),
    (12, 34, 16, '2026-11-20 01:39:34.150668+00:00'),
    (13, 26, 14, '2026-11-20 01:39:32.923100+00:00'),
    (14, 40, 15, '2026-11-20 01:39:34.815252+00:00'),
    (15, 28, 14, '2026-11-20 01:39:33.536290+00:00'),
    (18, 43, 16, '2026-11-20 01:39:35.352715+00:00');
DELETE FROM ducklake_catalog_hold;
DELETE FROM ducklake_catalog_lease;
INSERT INTO ducklake_catalog_lease (catalog_id, expires_at) VALUES
    (15, '2026-11-20 03:39:33.535831+00:00');
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
    (0, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-1d969452-3be3-4834-9877-fd46520a73d0.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (0, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-0b9aba92-368a-4904-a1c8-0fcb09f31605.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (0, 10, 19, 48, NULL, 0, 'sales/main/published/ducklake-bf10e8de-dc42-4b0d-9651-31f1843ccd2c.parquet', TRUE, 'parquet', 10, 729, 541, 0, NULL, NULL, NULL, NULL),
    (0, 12, 19, 51, NULL, 0, 'sales/main/published/ducklake-730e7f66-ee9b-405c-9c6b-6cef6c9fa178.parquet', TRUE, 'parquet', 1, 465, 287, 10, NULL, NULL, NULL, NULL),
    (0, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-0b9aba92-368a-4904-89c5-fabea34f7bcb.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (0, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-8b0fb9ad-b7d9-4f76-a0fc-2fe43946335c.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (0, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-987b79f0-1527-4b08-bd55-aa4e8d0ac27e.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (0, 7, 2, 35, NULL, 0, 'sales/main/orders/ducklake-4cd9fdce-65e2-4f80-9e05-0079fdbb1ad1.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (0, 8, 2, 44, NULL, 0, 'copy/main/orders/ducklake-1874284c-d45e-41ad-ae54-df4279300efa.parquet', TRUE, 'parquet', 12, 1555, 1099, 33, NULL, NULL, NULL, NULL),
    (14, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-1d969452-3be3-4834-9877-fd46520a73d0.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (14, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-0b9aba92-368a-4904-a1c8-0fcb09f31605.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (14, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-0b9aba92-368a-4904-89c5-fabea34f7bcb.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (14, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-8b0fb9ad-b7d9-4f76-a0fc-2fe43946335c.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (14, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-987b79f0-1527-4b08-bd55-aa4e8d0ac27e.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (14, 8, 2, 38, NULL, 0, 'copy/main/orders/ducklake-1874284c-d45e-41ad-ae54-df4279300efa.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (18, 9, 3, 43, NULL, 0, 'deeper/main/visits/day=2024-05-05/ducklake-908d83cf-d872-4c72-bd65-57ae93f8564e.parquet', TRUE, 'parquet', 30, 1014, 737, 12, 4, NULL, NULL, NULL);
DELETE FROM ducklake_delete_file;
INSERT INTO ducklake_delete_file (catalog_id, delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, path_is_relative, format, delete_count, file_size_bytes, footer_size, encryption_key) VALUES
    (0, 11, 19, 50, NULL, 10, 'sales/main/published/ducklake-885b6088-20cc-4dc3-b316-f8bc0b2c47a4-delete.parquet', TRUE, 'parquet', 1, 965, 502, NULL),
    (0, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-3db2daca-6797-4514-930f-aa3f00401ca6-delete.parquet', TRUE, 'parquet', 3, 955, 496, NULL),
    (0, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-5af0b689-61ce-4db9-b7c9-df69c5fda0f5-delete.parquet', TRUE, 'parquet', 7, 962, 496, NULL),
    (14, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-3db2daca-6797-4514-930f-aa3f00401ca6-delete.parquet', TRUE, 'parquet', 3, 955, 496, NULL),
    (14, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-5af0b689-61ce-4db9-b7c9-df69c5fda0f5-delete.parquet', TRUE, 'parquet', 7, 962, 496, NULL);
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
CREATE TABLE ducklake_inlined_data_11_255204071136913 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 TEXT, c2 INTEGER, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_11_255204071136913;
INSERT INTO ducklake_inlined_data_11_255204071136913 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2) VALUES
    (0, 11, 0, 24, 37, 'start', 10),
    (0, 11, 1, 24, 37, 'end', 20),
    (14, 11, 0, 24, 40, 'start', 10),
    (14, 11, 1, 24, 40, 'end', 20);
CREATE TABLE ducklake_inlined_data_2_273384606370724 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 INTEGER, c2 TEXT, c3 TEXT, c4 TEXT, c5 TEXT, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_2_273384606370724;
INSERT INTO ducklake_inlined_data_2_273384606370724 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2, c3, c4, c5) VALUES
    (0, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (12, 2, 21, 30, NULL, 200, 'fork', '9.00', NULL, 'new'),
    (14, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (18, 2, 21, 42, NULL, 200, 'fork', '9.00', NULL, 'deep');
CREATE TABLE ducklake_inlined_data_6_253749026318082 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 INTEGER, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
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
    (0, 1, 'ebd31141-6a4e-431f-9df0-18fc1e472502', 1, NULL, 'main', 'main/', TRUE),
    (0, 10, '1a32ceef-3f71-466a-b444-8ae53a307e0d', 22, NULL, 'web', 'web/', TRUE),
    (14, 1, 'ebd31141-6a4e-431f-9df0-18fc1e472502', 1, NULL, 'main', 'main/', TRUE),
    (14, 10, '1a32ceef-3f71-466a-b444-8ae53a307e0d', 22, NULL, 'web', 'web/', TRUE),
    (16, 17, 'a9d941ec-d267-496f-b3f7-6ea60af8a350', 29, NULL, 'main', 'main/', TRUE);
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
DELETE FROM ducklake_sequence;
INSERT INTO ducklake_sequence (name, next_value) VALUES
    ('entity', 20),
    ('file', 13),
    ('snapshot', 52);
DELETE FROM ducklake_snapshot;
INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id) VALUES
    (0, '2026-11-20 01:39:30.979000+00:00', 0, 0, 0),
    (1, '2026-11-20 01:39:31.036464+00:00', 0, 2, 0),
    (10, '2026-11-20 01:39:31.772818+00:00', 6, 6, 4),
    (11, '2026-11-20 01:39:31.774084+00:00', 7, 6, 4),
    (12, '2026-11-20 01:39:31.904580+00:00', 7, 6, 5),
    (13, '2026-11-20 01:39:32.210056+00:00', 7, 6, 7),
    (14, '2026-11-20 01:39:32.216842+00:00', 8, 6, 7),
    (15, '2026-11-20 01:39:32.218518+00:00', 9, 7, 7),
    (16, '2026-11-20 01:39:32.220779+00:00', 9, 7, 7),
    (17, '2026-11-20 01:39:32.224728+00:00', 9, 7, 7),
    (18, '2026-11-20 01:39:32.227500+00:00', 9, 7, 7),
    (19, '2026-11-20 01:39:32.251085+00:00', 10, 8, 7),
    (2, '2026-11-20 01:39:31.044214+00:00', 1, 3, 0),
    (20, '2026-11-20 01:39:32.255430+00:00', 11, 9, 7),
    (21, '2026-11-20 01:39:32.257127+00:00', 12, 10, 7),
    (22, '2026-11-20 01:39:32.259057+00:00', 13, 11, 7),
    (23, '2026-11-20 01:39:32.260451+00:00', 14, 12, 7),
    (24, '2026-11-20 01:39:32.263640+00:00', 14, 12, 7),
    (25, '2026-11-20 01:39:32.587168+00:00', 14, 13, 7),
    (26, '2026-11-20 01:39:32.923100+00:00', 14, 14, 7),
    (27, '2026-11-20 01:39:33.250353+00:00', 14, 15, 7),
    (28, '2026-11-20 01:39:33.536290+00:00', 14, 16, 7),
    (29, '2026-11-20 01:39:33.833898+00:00', 0, 18, 7),
    (3, '2026-11-20 01:39:31.309320+00:00', 1, 3, 1),
    (30, '2026-11-20 01:39:33.884072+00:00', 14, 18, 7),
    (31, '2026-11-20 01:39:34.141367+00:00', 14, 18, 7),
    (32, '2026-11-20 01:39:34.148220+00:00', 14, 18, 7),
    (33, '2026-11-20 01:39:34.149295+00:00', 15, 18, 7),
    (34, '2026-11-20 01:39:34.150668+00:00', 16, 18, 7),
    (35, '2026-11-20 01:39:34.281886+00:00', 14, 18, 8),
    (36, '2026-11-20 01:39:34.424686+00:00', 14, 18, 8),
    (37, '2026-11-20 01:39:34.429155+00:00', 15, 18, 8),
    (38, '2026-11-20 01:39:34.684540+00:00', 14, 18, 9),
    (39, '2026-11-20 01:39:34.811094+00:00', 14, 18, 9),
    (4, '2026-11-20 01:39:31.315883+00:00', 2, 3, 1),
    (40, '2026-11-20 01:39:34.815252+00:00', 15, 18, 9),
    (41, '2026-11-20 01:39:35.069575+00:00', 16, 19, 9),
    (42, '2026-11-20 01:39:35.119529+00:00', 16, 19, 9),
    (43, '2026-11-20 01:39:35.352715+00:00', 16, 19, 10),
    (44, '2026-11-20 01:39:35.850211+00:00', 15, 19, 10),
    (45, '2026-11-20 01:39:36.177234+00:00', 0, 19, 10),
    (46, '2026-11-20 01:39:36.221801+00:00', 16, 19, 10),
    (47, '2026-11-20 01:39:36.236504+00:00', 17, 20, 10),
    (48, '2026-11-20 01:39:36.393278+00:00', 17, 20, 11),
    (49, '2026-11-20 01:39:36.922269+00:00', 18, 20, 11),
    (5, '2026-11-20 01:39:31.317206+00:00', 3, 4, 1),
    (50, '2026-11-20 01:39:37.216877+00:00', 18, 20, 12),
    (51, '2026-11-20 01:39:37.259452+00:00', 18, 20, 13),
    (6, '2026-11-20 01:39:31.318257+00:00', 4, 5, 1),
    (7, '2026-11-20 01:39:31.611435+00:00', 4, 5, 3),
    (8, '2026-11-20 01:39:31.616153+00:00', 5, 6, 3),
    (9, '2026-11-20 01:39:31.767742+00:00', 5, 6, 4);
DELETE FROM ducklake_snapshot_changes;
INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made, author, commit_message, commit_extra_info, idempotency_key) VALUES
    (0, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (0, 10, 'altered_table:2', NULL, NULL, NULL, 'af302173492747f094208387c6889bc7'),
    (0, 11, 'altered_table:2', NULL, NULL, NULL, 'e0df001c5f08486ba1db24ab5fcd713c'),
    (0, 12, 'deleted_from_table:2', NULL, NULL, NULL, '1b495e9035f84cfabd1d803e6489cdd7'),
    (0, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, '423a0ee49ac74fb1b1d4c0358e0a7292'),
    (0, 14, '', NULL, NULL, NULL, '87361e95517b470e8670996d3cd1ec9b'),
    (0, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, 'f000fad37ce044bbb317516ef551cbe8'),
    (0, 16, 'inlined_insert:6', NULL, NULL, NULL, 'a93f10608a444e97b97b20d282bb8b18'),
    (0, 17, 'inlined_delete:6', NULL, NULL, NULL, 'fed8b12140234aa694126181f633c8de'),
    (0, 18, 'inlined_insert:2', NULL, NULL, NULL, '911e23d20b4c448bb497aa17ee40a875'),
    (0, 19, 'created_view:"main"."large"', NULL, NULL, NULL, '6fd2dfc2d080412899ccc7e68ff70097'),
    (0, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, '04330f2cc1bc46579b77db9dadb1be54'),
    (0, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, '742800a7c670447ab369f75bd2f4fa3e'),
    (0, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, 'c78051b1acbf4872b829a0506c48e128'),
    (0, 22, 'created_schema:"web"', NULL, NULL, NULL, '3b062115fac84bcfa7052ea088c728b1'),
    (0, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, '19b4da7d66244a93b6155467d4499acf'),
    (0, 24, 'inlined_insert:11', NULL, NULL, NULL, '353679493ead41aaa50782525ad44aa5'),
    (0, 3, 'inserted_into_table:2', NULL, NULL, NULL, '62cab82ee5cf4711a01b593136376d5a'),
    (0, 35, 'inserted_into_table:2', NULL, NULL, NULL, 'b7ff8cce69a44e2a9e2dad2f67f9d0c8'),
    (0, 36, 'inlined_delete:3', NULL, NULL, NULL, '9c9fdd46c8c8413980f09f02d6447ad3'),
    (0, 37, 'dropped_table:11', NULL, NULL, NULL, '05db895c4d864889849a9f3cb3e618c6'),
    (0, 4, 'altered_table:2', NULL, NULL, NULL, '15d667d50dfe4bd6be0fa90d129091e1'),
    (0, 44, 'inserted_into_table:2,merged_from:14', NULL, 'merge copy', NULL, '4757d8fa6a99406693850083854443d7'),
    (0, 46, '', NULL, NULL, NULL, '1ff8bcfaeab84aacbe3d149f3d6622e9'),
    (0, 47, 'created_table:"main"."published"', NULL, NULL, NULL, 'f04f2d2920b74057a945836963c7ffcc'),
    (0, 48, 'inserted_into_table:19', NULL, NULL, NULL, '392a9d51f7bc44fb98a4d84d4919ea49'),
    (0, 49, 'altered_table:19', NULL, 'Published to /tmp/forklake-dump/files/sqlite-delta/published', NULL, '145c6880d2564f9f90318fbd96aa5c28'),
    (0, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, 'ce663a90063f46758badb0eb1f0e0170'),
    (0, 50, 'deleted_from_table:19', NULL, NULL, NULL, '9df1c78722e54b0c837a4a95d2f5eda8'),
    (0, 51, 'inserted_into_table:19', NULL, NULL, NULL, 'f0897e1411ce45cc997863f890cf5708'),
    (0, 6, 'altered_table:3', NULL, NULL, NULL, '14f71ee124a948a093b06c9bbacc124a'),
    (0, 7, 'inserted_into_table:3', NULL, NULL, NULL, 'd0ee9c1312ef4c7a9d94d4e9f12c77d8'),
    (0, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, '0dcb973b2a764155bb01be959ac14e1c'),
    (0, 9, 'inserted_into_table:5', NULL, NULL, NULL, '5f74569468e74249a54a710ee1f60fce'),
    (12, 25, 'forked_from:0', NULL, NULL, NULL, NULL),
    (12, 30, 'inlined_insert:2', NULL, NULL, NULL, '413d83c07e7b4e3ea8115890c649d8d5'),
    (12, 31, 'inlined_delete:2', NULL, NULL, NULL, 'bbf2af9048214253b008a5f5b371b09b'),
    (12, 32, 'deleted_from_table:3', NULL, NULL, NULL, '0f901302189f488ca2e581953d38dba6'),
    (12, 33, 'altered_table:5', NULL, NULL, NULL, '55bdf4bb4c114966b9c4f271081ef3ef'),
    (12, 34, 'dropped_view:7', NULL, NULL, NULL, 'fbd01dd6b7ae41b8be0010f5e4aca007'),
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
    (14, 38, 'inserted_into_table:2', NULL, NULL, NULL, '454083ee3a38466c9c721fbc6bcda110'),
    (14, 39, 'inlined_delete:3', NULL, NULL, NULL, '3ed61c9969ff45639a1daa07e963596b'),
    (14, 4, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 40, 'dropped_table:11', NULL, NULL, NULL, 'd5e9c43a7f4a46e580dfb95d4888ea16'),
    (14, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, NULL),
    (14, 6, 'altered_table:3', NULL, NULL, NULL, NULL),
    (14, 7, 'inserted_into_table:3', NULL, NULL, NULL, NULL),
    (14, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, NULL),
    (14, 9, 'inserted_into_table:5', NULL, NULL, NULL, NULL),
    (15, 28, 'forked_from:0', NULL, NULL, NULL, NULL),
    (16, 29, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (18, 41, 'forked_from:12', NULL, NULL, NULL, NULL),
    (18, 42, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL, '2a768504f714483cad29be1cbd15b2b5'),
    (18, 43, 'inserted_into_table:3', NULL, NULL, NULL, '6b69d4fd1a0746aab84315ea833da042');
DELETE FROM ducklake_table;
INSERT INTO ducklake_table (catalog_id, table_id, table_uuid, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative) VALUES
    (0, 11, '9167f428-76a0-4940-8654-c3de0b656e94', 23, 37, 10, 'pages', 'pages/', TRUE),
    (0, 19, 'bbeeadc5-26b4-4301-bd5c-21cf6f0a25e1', 47, NULL, 1, 'published', 'published/', TRUE),
    (0, 2, 'ecb81352-2730-4431-a2e5-2959071a7f0c', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (0, 3, 'c841df32-40bb-4016-8582-9af8a458dfcb', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (0, 5, 'e2dc7c09-8903-4a58-b02f-52ecb74000da', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (0, 6, '7af80fba-345c-4e1d-9bb4-6ac7104c29c0', 15, NULL, 1, 'totals', 'totals/', TRUE),
    (14, 11, '9167f428-76a0-4940-8654-c3de0b656e94', 23, 40, 10, 'pages', 'pages/', TRUE),
    (14, 2, 'ecb81352-2730-4431-a2e5-2959071a7f0c', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (14, 3, 'c841df32-40bb-4016-8582-9af8a458dfcb', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (14, 5, 'e2dc7c09-8903-4a58-b02f-52ecb74000da', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (14, 6, '7af80fba-345c-4e1d-9bb4-6ac7104c29c0', 15, NULL, 1, 'totals', 'totals/', TRUE);
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
    (0, 7, 'bf85079d-e66d-43c0-9eba-e851f8923709', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL),
    (14, 7, 'bf85079d-e66d-43c0-9eba-e851f8923709', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL);
INSERT INTO reagent_automation (automation_id, name, catalog_id, workbook_path, workbook_text, parameters, isolation, schedule, time_zone, table_catalog_id, schema_name, table_name, overlap, catch_up, is_enabled, created_at, next_due_at, seen_snapshot, revision) VALUES
    (2098833922003997310, 'nightly', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, '0 2 * * *', 'UTC', NULL, NULL, NULL, 'skip', 'latest', TRUE, '2026-11-20 01:39:39.629000+00:00', '2026-11-20 02:00:00.000000+00:00', NULL, 0),
    (537276162145374873, 'arrivals', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, NULL, NULL, 0, 'main', 'orders', 'queue', 'latest', TRUE, '2026-11-20 01:39:40.268000+00:00', NULL, 51, 0);
