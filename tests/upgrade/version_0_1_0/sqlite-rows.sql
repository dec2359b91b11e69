INSERT INTO crucible_audit (audit_id, happened_at, principal_id, principal, operation, object, catalog_id, outcome) VALUES
    ('1795133737879419318083887895', '2026-11-20 00:15:37.879375+00:00', 0, 'local', 'principal.create', 'ada', NULL, 'done'),
    ('1795133739239130096753145461', '2026-11-20 00:15:39.239066+00:00', 0, 'local', 'principal.create', 'ben', NULL, 'done'),
    ('1795133740585233343244705787', '2026-11-20 00:15:40.585164+00:00', 0, 'local', 'key.create', 'ada/9ec45f0d2487ad38', NULL, 'done'),
    ('1795133742385640185996199260', '2026-11-20 00:15:42.385634+00:00', 0, 'local', 'grants.set', 'sales: reader to ben', 0, 'done'),
    ('1795133743210298120227409607', '2026-11-20 00:15:43.210240+00:00', 0, 'local', 'quota.set', 'ada', NULL, 'done');
INSERT INTO crucible_grant (principal_id, catalog_id, role, expires_at) VALUES
    (2, 0, 'reader', NULL);
INSERT INTO crucible_key (key_id, principal_id, secret_hash, created_at, revoked_at) VALUES
    ('9ec45f0d2487ad38', 1, 'dd1d1dcbeaf46187f4bf8b803007b7b74759ae3a378e2cea3a0155473d308208', '2026-11-20 00:15:40.568425+00:00', NULL);
INSERT INTO crucible_prefix_grant (principal_id, prefix, role, expires_at) VALUES
    (1, 'ada-', 'owner', NULL);
INSERT INTO crucible_principal (principal_id, name, account, is_root, created_at, disabled_at) VALUES
    (1, 'ada', 'default', FALSE, '2026-11-20 00:15:37.718575+00:00', NULL),
    (2, 'ben', 'default', FALSE, '2026-11-20 00:15:39.222284+00:00', NULL);
INSERT INTO crucible_quota (principal_id, catalogs, bytes, sessions) VALUES
    (1, 7, NULL, NULL);
INSERT INTO dl_actions (catalog_id, table_id, begin_snapshot, end_snapshot, version, kind, key, body) VALUES
    (0, 19, 47, NULL, 0, 'metaData', '', '{"id":"873900b3-3593-4768-84c0-c4eca6a1b00d","name":"published","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1795133733177}'),
    (0, 19, 47, NULL, 0, 'protocol', '', '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["sqlCommitOnly"]}'),
    (0, 19, 48, NULL, 1, 'protocol', '', '{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","sqlCommitOnly"]}');
INSERT INTO dl_mirror_status (catalog_id, table_id, mirror_engine, mirrored_version, checkpoint_version, state, last_error, last_sync_time, updated_at) VALUES
    (0, 19, 'delta', 2, NULL, 'CURRENT', NULL, '2026-11-20 00:15:35.585301+00:00', '2026-11-20 00:15:35.585301+00:00');
INSERT INTO dl_table_versions (catalog_id, table_id, begin_snapshot, end_snapshot, version, timestamp, operation, transaction_id, group_id) VALUES
    (0, 19, 47, NULL, 0, 1795133733177, 'SET TBLPROPERTIES', '5db644420b8e48148ec5f2db39578411', NULL),
    (0, 19, 48, NULL, 1, 1795133735034, 'DELETE', '46cb8058ba6545b6a046018bd63b899f', NULL),
    (0, 19, 49, NULL, 2, 1795133735528, 'WRITE', '2bf8c5839e704c479a315187e81310cb', NULL);
INSERT INTO dl_tables (catalog_id, table_id, begin_snapshot, end_snapshot, delta_id, location, mode) VALUES
    (0, 19, 47, NULL, '873900b3-3593-4768-84c0-c4eca6a1b00d', '/tmp/forklake-dump/files/sqlite-delta/published', 'own');
DELETE FROM ducklake_catalog;
INSERT INTO ducklake_catalog (catalog_id, catalog_uuid, catalog_name, begin_snapshot, end_snapshot, parent_catalog_id, fork_snapshot, data_path, path) VALUES
    (0, '785a298b-25da-4469-a84c-9d3c38904aba', 'sales', 1, NULL, NULL, NULL, '/tmp/forklake-dump/files/sqlite/', 'sales/'),
    (12, '6e789d77-1a8b-42e8-b0d5-df09f7ed808c', 'agent', 25, NULL, 0, 24, '/tmp/forklake-dump/files/sqlite/', 'agent/'),
    (13, '3eac3418-3acd-487f-ab79-a3e78ab080f0', 'deep', 26, NULL, 12, 25, '/tmp/forklake-dump/files/sqlite/', 'deep/'),
    (14, '3dea46d6-08b1-4394-8d51-ee96c398eaa4', 'copy', 27, NULL, 0, 24, '/tmp/forklake-dump/files/sqlite/', 'copy/'),
    (15, '470a5815-191a-4532-b5b5-dc54228a6da1', 'brief', 28, NULL, 0, 24, '/tmp/forklake-dump/files/sqlite/', 'brief/'),
    (16, '9b9e4d5f-7362-4095-8fd7-4e213c170ba8', 'gone', 29, 43, NULL, NULL, '/tmp/forklake-dump/files/sqlite/', 'gone/'),
    (18, 'fe72ee4c-d10e-4a57-b9ec-742b6846bad5', 'deeper', 40, NULL, 12, 34, '/tmp/forklake-dump/files/sqlite/', 'deeper/');
DELETE FROM ducklake_catalog_head;
INSERT INTO ducklake_catalog_head (catalog_id, snapshot_id, schema_version, snapshot_time) VALUES
    (0, 49, 18, '2026-11-20 00:15:35.528271+00:00'),
    (12, 34, 16, '2026-11-20 00:15:21.206233+00:00'),
    (13, 26, 14, '2026-11-20 00:15:18.425153+00:00'),
    (14, 39, 15, '2026-11-20 00:15:23.076156+00:00'),
    (15, 28, 14, '2026-11-20 00:15:19.207850+00:00'),
    (18, 42, 16, '2026-11-20 00:15:25.255786+00:00');
DELETE FROM ducklake_catalog_hold;
DELETE FROM ducklake_catalog_lease;
INSERT INTO ducklake_catalog_lease (catalog_id, expires_at) VALUES
    (15, '2026-11-20 02:15:19.207359+00:00');
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
DELETE FROM ducklake_column;
INSERT INTO ducklake_column (catalog_id, column_id, begin_snapshot, end_snapshot, table_id, column_order, column_name, column_type, initial_default, default_value, nulls_allowed, parent_column, default_value_type, default_value_dialect) VALUES
    (0, 1, 15, NULL, 6, 0, 'count', 'int64', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 2, NULL, 2, 0, 'id', 'int64', NULL, NULL, FALSE, NULL, NULL, NULL),
    (0, 1, 23, 37, 11, 0, 'name', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 45, NULL, 19, 0, 'id', 'int64', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 5, NULL, 3, 0, 'page', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 1, 8, NULL, 5, 0, 'id', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 11, NULL, 2, 1, 'client', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 2, 11, 2, 1, 'customer', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 23, 37, 11, 1, 'size', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (0, 2, 45, NULL, 19, 1, 'name', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
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
    (14, 1, 23, 39, 11, 0, 'name', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 1, 5, NULL, 3, 0, 'page', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 1, 8, NULL, 5, 0, 'id', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 11, NULL, 2, 1, 'client', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 2, 11, 2, 1, 'customer', 'varchar', NULL, NULL, TRUE, NULL, NULL, NULL),
    (14, 2, 23, 39, 11, 1, 'size', 'int32', NULL, NULL, TRUE, NULL, NULL, NULL),
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
    (0, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-8aeeac1a-5153-49ed-94db-cd5b93d4d5ed.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (0, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-78a3de16-2dfb-4204-b7c9-c239243ff20e.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (0, 11, 19, 49, NULL, 0, 'sales/main/published/ducklake-ab932854-a764-4af5-9fc8-a71ce8789b35.parquet', TRUE, 'parquet', 1, 465, 287, 10, NULL, NULL, NULL, NULL),
    (0, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-78a3de16-2dfb-4204-be51-4880a2ffc1fc.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (0, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-7d309cd1-c072-4635-84ad-f92fbd7eca11.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (0, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-a1c4bef5-3560-4210-a6ed-6211441bba8c.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (0, 7, 2, 35, NULL, 0, 'sales/main/orders/ducklake-3d65c8ae-c93e-4b15-815a-9add1b34db66.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (0, 9, 19, 46, NULL, 0, 'sales/main/published/ducklake-210a2f49-f257-47cd-ad14-93b537bf6895.parquet', TRUE, 'parquet', 10, 729, 541, 0, NULL, NULL, NULL, NULL),
    (14, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-8aeeac1a-5153-49ed-94db-cd5b93d4d5ed.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (14, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-78a3de16-2dfb-4204-b7c9-c239243ff20e.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (14, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-78a3de16-2dfb-4204-be51-4880a2ffc1fc.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (14, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-7d309cd1-c072-4635-84ad-f92fbd7eca11.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (14, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-a1c4bef5-3560-4210-a6ed-6211441bba8c.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (18, 8, 3, 42, NULL, 0, 'deeper/main/visits/day=2024-05-05/ducklake-eb886549-829f-4227-a332-ba10316137e6.parquet', TRUE, 'parquet', 30, 1014, 737, 12, 4, NULL, NULL, NULL);
DELETE FROM ducklake_delete_file;
INSERT INTO ducklake_delete_file (catalog_id, delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, path_is_relative, format, delete_count, file_size_bytes, footer_size, encryption_key) VALUES
    (0, 10, 19, 48, NULL, 9, 'sales/main/published/ducklake-977702e7-d2d3-4860-babd-041bfcbec4ea-delete.parquet', TRUE, 'parquet', 1, 965, 502, NULL),
    (0, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-1c75b00a-e477-49fc-8b9a-d7c3b8327b73-delete.parquet', TRUE, 'parquet', 3, 955, 496, NULL),
    (0, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-cb54874b-8fc5-4f81-9ee5-8dbfcf0b74b8-delete.parquet', TRUE, 'parquet', 7, 962, 496, NULL),
    (14, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-1c75b00a-e477-49fc-8b9a-d7c3b8327b73-delete.parquet', TRUE, 'parquet', 3, 955, 496, NULL),
    (14, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-cb54874b-8fc5-4f81-9ee5-8dbfcf0b74b8-delete.parquet', TRUE, 'parquet', 7, 962, 496, NULL);
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
    (0, 11, 19, 1, 97, 1, 0, '20', '20', NULL, NULL),
    (0, 11, 19, 2, 69, 1, 0, 'more', 'more', NULL, NULL),
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
    (0, 9, 19, 1, 40, 10, 0, '0', '9', NULL, NULL),
    (0, 9, 19, 2, 63, 10, 0, 'n0', 'n9', NULL, NULL),
    (18, 8, 3, 1, 61, 30, 0, 'deep', 'deep', NULL, NULL),
    (18, 8, 3, 2, 57, 30, 0, '2024-05-05', '2024-05-05', NULL, NULL),
    (18, 8, 3, 3, 42, 30, 0, '0', '29', NULL, NULL);
DELETE FROM ducklake_file_listing;
DELETE FROM ducklake_file_partition_value;
INSERT INTO ducklake_file_partition_value (catalog_id, data_file_id, table_id, partition_key_index, partition_value) VALUES
    (0, 1, 3, 0, '2024-02-01'),
    (0, 2, 3, 0, '2024-02-02'),
    (18, 8, 3, 0, '2024-05-05');
DELETE FROM ducklake_files_scheduled_for_deletion;
CREATE TABLE ducklake_inlined_data_11_255204071136913 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 TEXT, c2 INTEGER, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_11_255204071136913;
INSERT INTO ducklake_inlined_data_11_255204071136913 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2) VALUES
    (0, 11, 0, 24, 37, 'start', 10),
    (0, 11, 1, 24, 37, 'end', 20),
    (14, 11, 0, 24, 39, 'start', 10),
    (14, 11, 1, 24, 39, 'end', 20);
CREATE TABLE ducklake_inlined_data_2_273384606370724 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 INTEGER, c2 TEXT, c3 TEXT, c4 TEXT, c5 TEXT, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_2_273384606370724;
INSERT INTO ducklake_inlined_data_2_273384606370724 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2, c3, c4, c5) VALUES
    (0, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (12, 2, 21, 30, NULL, 200, 'fork', '9.00', NULL, 'new'),
    (14, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (18, 2, 21, 41, NULL, 200, 'fork', '9.00', NULL, 'deep');
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
    (14, 11, 'ducklake_inlined_data_11_255204071136913', 255204071136913, 24, 39),
    (14, 2, 'ducklake_inlined_data_2_273384606370724', 273384606370724, 18, NULL),
    (14, 6, 'ducklake_inlined_data_6_253749026318082', 253749026318082, 16, NULL);
DELETE FROM ducklake_inlined_delete;
INSERT INTO ducklake_inlined_delete (catalog_id, table_id, data_file_id, row_position, begin_snapshot, end_snapshot) VALUES
    (0, 3, 2, 1, 36, NULL),
    (12, 2, 0, 8, 31, NULL),
    (12, 2, 6, 0, 31, NULL),
    (14, 3, 2, 1, 38, NULL);
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
    ('data_inlining_row_limit', '0', 'catalog', 0, 0, 44, NULL),
    ('data_inlining_row_limit', '10', 'catalog', 0, 0, 14, 44),
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
    (0, 1, '2396cf65-9e7b-4ae0-8cb6-cdaea8a05465', 1, NULL, 'main', 'main/', TRUE),
    (0, 10, 'f4ad70d5-a358-48ef-9789-0ca61aeaa09e', 22, NULL, 'web', 'web/', TRUE),
    (14, 1, '2396cf65-9e7b-4ae0-8cb6-cdaea8a05465', 1, NULL, 'main', 'main/', TRUE),
    (14, 10, 'f4ad70d5-a358-48ef-9789-0ca61aeaa09e', 22, NULL, 'web', 'web/', TRUE),
    (16, 17, '5e9e472e-515d-4203-9d1c-6997375e9dc6', 29, NULL, 'main', 'main/', TRUE);
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
    (0, 44, 16),
    (0, 45, 17),
    (0, 47, 18),
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
    (14, 39, 15),
    (14, 4, 2),
    (14, 5, 3),
    (14, 6, 4),
    (14, 8, 5),
    (16, 29, 0);
DELETE FROM ducklake_sequence;
INSERT INTO ducklake_sequence (name, next_value) VALUES
    ('entity', 20),
    ('file', 12),
    ('snapshot', 50);
DELETE FROM ducklake_snapshot;
INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id) VALUES
    (0, '2026-11-20 00:15:01.757000+00:00', 0, 0, 0),
    (1, '2026-11-20 00:15:01.903229+00:00', 0, 2, 0),
    (10, '2026-11-20 00:15:12.663907+00:00', 6, 6, 4),
    (11, '2026-11-20 00:15:12.677882+00:00', 7, 6, 4),
    (12, '2026-11-20 00:15:14.828874+00:00', 7, 6, 5),
    (13, '2026-11-20 00:15:16.701567+00:00', 7, 6, 7),
    (14, '2026-11-20 00:15:16.711717+00:00', 8, 6, 7),
    (15, '2026-11-20 00:15:16.721276+00:00', 9, 7, 7),
    (16, '2026-11-20 00:15:16.725336+00:00', 9, 7, 7),
    (17, '2026-11-20 00:15:16.728711+00:00', 9, 7, 7),
    (18, '2026-11-20 00:15:16.739827+00:00', 9, 7, 7),
    (19, '2026-11-20 00:15:16.845796+00:00', 10, 8, 7),
    (2, '2026-11-20 00:15:02.275213+00:00', 1, 3, 0),
    (20, '2026-11-20 00:15:16.858267+00:00', 11, 9, 7),
    (21, '2026-11-20 00:15:16.860082+00:00', 12, 10, 7),
    (22, '2026-11-20 00:15:16.869519+00:00', 13, 11, 7),
    (23, '2026-11-20 00:15:16.872587+00:00', 14, 12, 7),
    (24, '2026-11-20 00:15:16.880489+00:00', 14, 12, 7),
    (25, '2026-11-20 00:15:17.343404+00:00', 14, 13, 7),
    (26, '2026-11-20 00:15:18.425153+00:00', 14, 14, 7),
    (27, '2026-11-20 00:15:18.740515+00:00', 14, 15, 7),
    (28, '2026-11-20 00:15:19.207850+00:00', 14, 16, 7),
    (29, '2026-11-20 00:15:19.894850+00:00', 0, 18, 7),
    (3, '2026-11-20 00:15:09.593652+00:00', 1, 3, 1),
    (30, '2026-11-20 00:15:19.990899+00:00', 14, 18, 7),
    (31, '2026-11-20 00:15:21.197238+00:00', 14, 18, 7),
    (32, '2026-11-20 00:15:21.199402+00:00', 14, 18, 7),
    (33, '2026-11-20 00:15:21.203613+00:00', 15, 18, 7),
    (34, '2026-11-20 00:15:21.206233+00:00', 16, 18, 7),
    (35, '2026-11-20 00:15:21.731143+00:00', 14, 18, 8),
    (36, '2026-11-20 00:15:22.028412+00:00', 14, 18, 8),
    (37, '2026-11-20 00:15:22.031611+00:00', 15, 18, 8),
    (38, '2026-11-20 00:15:22.988822+00:00', 14, 18, 8),
    (39, '2026-11-20 00:15:23.076156+00:00', 15, 18, 8),
    (4, '2026-11-20 00:15:09.600384+00:00', 2, 3, 1),
    (40, '2026-11-20 00:15:24.225265+00:00', 16, 19, 8),
    (41, '2026-11-20 00:15:24.405499+00:00', 16, 19, 8),
    (42, '2026-11-20 00:15:25.255786+00:00', 16, 19, 9),
    (43, '2026-11-20 00:15:29.432275+00:00', 0, 19, 9),
    (44, '2026-11-20 00:15:29.709090+00:00', 16, 19, 9),
    (45, '2026-11-20 00:15:29.820195+00:00', 17, 20, 9),
    (46, '2026-11-20 00:15:30.394658+00:00', 17, 20, 10),
    (47, '2026-11-20 00:15:33.177856+00:00', 18, 20, 10),
    (48, '2026-11-20 00:15:35.034663+00:00', 18, 20, 11),
    (49, '2026-11-20 00:15:35.528271+00:00', 18, 20, 12),
    (5, '2026-11-20 00:15:09.604366+00:00', 3, 4, 1),
    (6, '2026-11-20 00:15:09.608605+00:00', 4, 5, 1),
    (7, '2026-11-20 00:15:11.836964+00:00', 4, 5, 3),
    (8, '2026-11-20 00:15:11.848514+00:00', 5, 6, 3),
    (9, '2026-11-20 00:15:12.619331+00:00', 5, 6, 4);
DELETE FROM ducklake_snapshot_changes;
INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made, author, commit_message, commit_extra_info, idempotency_key) VALUES
    (0, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (0, 10, 'altered_table:2', NULL, NULL, NULL, 'a74417c48e534bb687ba7f7ac8e79283'),
    (0, 11, 'altered_table:2', NULL, NULL, NULL, '7b35f1745afc42728de733e985ae552a'),
    (0, 12, 'deleted_from_table:2', NULL, NULL, NULL, '7c18062646b34d7fa0a0f8e57aabab04'),
    (0, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, '6eb0a1577f7349dfb54f4241b73aee79'),
    (0, 14, '', NULL, NULL, NULL, '15361393aecf4ff4a5c41a0719be7c2d'),
    (0, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, '1a48e730ad9e4e4d82b1fa2b09f9d4d6'),
    (0, 16, 'inlined_insert:6', NULL, NULL, NULL, '7e404362618449909e4b6ca82d4c053d'),
    (0, 17, 'inlined_delete:6', NULL, NULL, NULL, 'e98b53f18c7c4de28998b79a80620ed9'),
    (0, 18, 'inlined_insert:2', NULL, NULL, NULL, '5f92ea9d618b4e00923312e123ecf04a'),
    (0, 19, 'created_view:"main"."large"', NULL, NULL, NULL, '5490959600684116987abb2d377e771f'),
    (0, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, 'cb9f4e3c0e2547338bf3d2c9b8f4a9c7'),
    (0, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, '9642fdd308bc4a09bc85e7baa47c466d'),
    (0, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, 'c7583f543c8446edb635c805997237b0'),
    (0, 22, 'created_schema:"web"', NULL, NULL, NULL, '1e75acca7ded4fa7a54695a4b889526d'),
    (0, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, '1cff6982cf494fdb9ee5d9921187201b'),
    (0, 24, 'inlined_insert:11', NULL, NULL, NULL, 'd7621d5184ba49dab06df58615d7cf86'),
    (0, 3, 'inserted_into_table:2', NULL, NULL, NULL, '55d688f4d7724ab684438d93fa2d4916'),
    (0, 35, 'inserted_into_table:2', NULL, NULL, NULL, '8cb0b89d96354a03a1bd8db399d347b8'),
    (0, 36, 'inlined_delete:3', NULL, NULL, NULL, '1454401c47954c60a74bf077c76b021c'),
    (0, 37, 'dropped_table:11', NULL, NULL, NULL, '7eaba9adb95b46ad96d528bb95824733'),
    (0, 4, 'altered_table:2', NULL, NULL, NULL, 'd339bd6f69544c898df441a69be8c9ad'),
    (0, 44, '', NULL, NULL, NULL, '9ffd49ac6a53403c8c278bec91a604f1'),
    (0, 45, 'created_table:"main"."published"', NULL, NULL, NULL, '498c94fed64945a4aad9cfd93af2d3b6'),
    (0, 46, 'inserted_into_table:19', NULL, NULL, NULL, '74920624302740f7909212e15313091c'),
    (0, 47, 'altered_table:19', NULL, 'Published to /tmp/forklake-dump/files/sqlite-delta/published', NULL, '5db644420b8e48148ec5f2db39578411'),
    (0, 48, 'deleted_from_table:19', NULL, NULL, NULL, '46cb8058ba6545b6a046018bd63b899f'),
    (0, 49, 'inserted_into_table:19', NULL, NULL, NULL, '2bf8c5839e704c479a315187e81310cb'),
    (0, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, '2096d255685b47438331789859257532'),
    (0, 6, 'altered_table:3', NULL, NULL, NULL, 'd37f373e6e224c9581ae940c3ccb322b'),
    (0, 7, 'inserted_into_table:3', NULL, NULL, NULL, 'd9bf3a863d874fbca8bf68666bd5ab18'),
    (0, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, '5527beb08b3e4328be4eeec503b5c99d'),
    (0, 9, 'inserted_into_table:5', NULL, NULL, NULL, 'f8c53ad22b58403d9010d062e4def417'),
    (12, 25, 'forked_from:0', NULL, NULL, NULL, NULL),
    (12, 30, 'inlined_insert:2', NULL, NULL, NULL, 'c3f4578a747448cbb4ab3fce2c416519'),
    (12, 31, 'inlined_delete:2', NULL, NULL, NULL, '2ccca9b7891e4fa2840c7eaf524234b3'),
    (12, 32, 'deleted_from_table:3', NULL, NULL, NULL, '88211f8d8e094e5fb8b7216e649a8882'),
    (12, 33, 'altered_table:5', NULL, NULL, NULL, '4ab38d01aa2f44c9991d0a9ee3e24154'),
    (12, 34, 'dropped_view:7', NULL, NULL, NULL, 'f2ec5550858343fbb5baaea9e154a0e9'),
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
    (14, 38, 'inlined_delete:3', NULL, NULL, NULL, '808711a182564d44a92148829954cb18'),
    (14, 39, 'dropped_table:11', NULL, NULL, NULL, 'ae366e69a0ae494f87c6ec69ce36216c'),
    (14, 4, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, NULL),
    (14, 6, 'altered_table:3', NULL, NULL, NULL, NULL),
    (14, 7, 'inserted_into_table:3', NULL, NULL, NULL, NULL),
    (14, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, NULL),
    (14, 9, 'inserted_into_table:5', NULL, NULL, NULL, NULL),
    (15, 28, 'forked_from:0', NULL, NULL, NULL, NULL),
    (16, 29, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (18, 40, 'forked_from:12', NULL, NULL, NULL, NULL),
    (18, 41, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL, '288c2313bf3d4d06ae564022b058bdf6'),
    (18, 42, 'inserted_into_table:3', NULL, NULL, NULL, '1b4012b966f04f9c92b63b3443fe23a0');
DELETE FROM ducklake_table;
INSERT INTO ducklake_table (catalog_id, table_id, table_uuid, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative) VALUES
    (0, 11, 'ebed6515-e1ac-4984-b345-b072c02d3869', 23, 37, 10, 'pages', 'pages/', TRUE),
    (0, 19, '71700583-367e-4c1a-918b-8384c95488a0', 45, NULL, 1, 'published', 'published/', TRUE),
    (0, 2, '8ad91ef1-e58f-4b12-9778-6a3f3653c4b1', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (0, 3, 'bc3732a8-bf83-48fc-bd0b-52a4cd469de7', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (0, 5, '2e2b755a-57f4-4cc5-b31e-a1fd01a03ca9', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (0, 6, '4503a1fe-3ddf-455b-8b4a-a76968f05059', 15, NULL, 1, 'totals', 'totals/', TRUE),
    (14, 11, 'ebed6515-e1ac-4984-b345-b072c02d3869', 23, 39, 10, 'pages', 'pages/', TRUE),
    (14, 2, '8ad91ef1-e58f-4b12-9778-6a3f3653c4b1', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (14, 3, 'bc3732a8-bf83-48fc-bd0b-52a4cd469de7', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (14, 5, '2e2b755a-57f4-4cc5-b31e-a1fd01a03ca9', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (14, 6, '4503a1fe-3ddf-455b-8b4a-a76968f05059', 15, NULL, 1, 'totals', 'totals/', TRUE);
DELETE FROM ducklake_table_column_stats;
INSERT INTO ducklake_table_column_stats (catalog_id, table_id, column_id, contains_null, contains_nan, min_value, max_value, extra_stats, begin_snapshot, end_snapshot) VALUES
    (0, 19, 1, FALSE, NULL, '0', '20', NULL, 49, NULL),
    (0, 19, 1, FALSE, NULL, '0', '9', NULL, 46, 49),
    (0, 19, 2, FALSE, NULL, 'more', 'n9', NULL, 49, NULL),
    (0, 19, 2, FALSE, NULL, 'n0', 'n9', NULL, 46, 49),
    (0, 2, 1, FALSE, NULL, '0', '19', NULL, 3, 35),
    (0, 2, 1, FALSE, NULL, '0', '311', NULL, 35, NULL),
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
    (14, 2, 1, FALSE, NULL, '0', '19', NULL, 3, NULL),
    (14, 2, 2, FALSE, NULL, 'c0', 'c2', NULL, 3, NULL),
    (14, 2, 3, FALSE, NULL, '0.00', '4.75', NULL, 3, NULL),
    (14, 2, 4, FALSE, NULL, '2024-01-01', '2024-01-20', NULL, 3, NULL),
    (14, 2, 5, FALSE, NULL, 'paid', 'paid', NULL, 13, NULL),
    (14, 3, 1, FALSE, NULL, 'p0', 'p9', NULL, 7, NULL),
    (14, 3, 2, FALSE, NULL, '2024-02-01', '2024-02-02', NULL, 7, NULL),
    (14, 3, 3, FALSE, NULL, '0', '11', NULL, 7, NULL),
    (14, 5, 1, FALSE, NULL, '0', '11', NULL, 9, NULL),
    (14, 5, 3, FALSE, NULL, '0', 'b', NULL, 9, NULL),
    (14, 5, 5, FALSE, FALSE, '0.0', '5.5', NULL, 9, NULL),
    (14, 5, 6, FALSE, NULL, 'n0', 'n9', NULL, 9, NULL),
    (18, 3, 1, FALSE, NULL, 'deep', 'deep', NULL, 42, NULL),
    (18, 3, 2, FALSE, NULL, '2024-05-05', '2024-05-05', NULL, 42, NULL),
    (18, 3, 3, FALSE, NULL, '0', '29', NULL, 42, NULL);
DELETE FROM ducklake_table_stats;
INSERT INTO ducklake_table_stats (catalog_id, table_id, record_count, next_row_id, file_size_bytes, begin_snapshot, end_snapshot) VALUES
    (0, 11, 0, 0, 0, 23, 24),
    (0, 11, 2, 2, 0, 24, 37),
    (0, 19, 0, 0, 0, 45, 46),
    (0, 19, 10, 10, 729, 46, 48),
    (0, 19, 10, 11, 1194, 49, NULL),
    (0, 19, 9, 10, 729, 48, 49),
    (0, 2, 0, 0, 0, 2, 3),
    (0, 2, 17, 20, 1263, 12, 13),
    (0, 2, 17, 20, 3120, 13, 18),
    (0, 2, 18, 21, 3120, 18, 35),
    (0, 2, 20, 20, 1263, 3, 12),
    (0, 2, 30, 33, 4675, 35, NULL),
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
    (14, 11, 2, 2, 0, 24, 39),
    (14, 2, 0, 0, 0, 2, 3),
    (14, 2, 17, 20, 1263, 12, 13),
    (14, 2, 17, 20, 3120, 13, 18),
    (14, 2, 18, 21, 3120, 18, NULL),
    (14, 2, 20, 20, 1263, 3, 12),
    (14, 3, 0, 0, 0, 5, 7),
    (14, 3, 11, 12, 1979, 38, NULL),
    (14, 3, 12, 12, 1979, 7, 38),
    (14, 5, 0, 0, 0, 8, 9),
    (14, 5, 12, 12, 1551, 9, NULL),
    (14, 6, 0, 0, 0, 15, 16),
    (14, 6, 2, 3, 0, 17, NULL),
    (14, 6, 3, 3, 0, 16, 17),
    (18, 2, 16, 22, 3120, 41, NULL),
    (18, 3, 30, 42, 1014, 42, NULL);
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
    (18, 13, 2, 0, '', 31, 41),
    (18, 13, 3, 0, '', 32, 42),
    (18, 16, 2, 21, '', 30, 41);
DELETE FROM ducklake_view;
INSERT INTO ducklake_view (catalog_id, view_id, view_uuid, begin_snapshot, end_snapshot, schema_id, view_name, dialect, sql, column_aliases) VALUES
    (0, 7, '20856447-a389-44d6-a3ff-82c7cb8cc38b', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL),
    (14, 7, '20856447-a389-44d6-a3ff-82c7cb8cc38b', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL);
INSERT INTO reagent_automation (automation_id, name, catalog_id, workbook_path, workbook_text, parameters, isolation, schedule, time_zone, table_catalog_id, schema_name, table_name, overlap, catch_up, is_enabled, created_at, next_due_at, seen_snapshot, revision) VALUES
    (4030116378908807687, 'arrivals', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, NULL, NULL, 0, 'main', 'orders', 'queue', 'latest', TRUE, '2026-11-20 00:15:46.448000+00:00', NULL, 49, 0),
    (4247900813748506797, 'nightly', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, '0 2 * * *', 'UTC', NULL, NULL, NULL, 'skip', 'latest', TRUE, '2026-11-20 00:15:44.797000+00:00', '2026-11-20 02:00:00.000000+00:00', NULL, 0);
