INSERT INTO crucible_audit (audit_id, happened_at, principal_id, principal, operation, object, catalog_id, outcome) VALUES
    ('1795138749619514170278349168', '2026-11-20 01:39:09.619492+00', 0, 'local', 'principal.create', 'ada', NULL, 'done'),
    ('1795138750108185540407749914', '2026-11-20 01:39:10.108165+00', 0, 'local', 'principal.create', 'ben', NULL, 'done'),
    ('1795138750492187542453278722', '2026-11-20 01:39:10.492166+00', 0, 'local', 'key.create', 'ada/31d7d3256fd45032', NULL, 'done'),
    ('1795138750875868374692952785', '2026-11-20 01:39:10.875863+00', 0, 'local', 'grants.set', 'sales: reader to ben', 0, 'done'),
    ('1795138751302530795069667307', '2026-11-20 01:39:11.302493+00', 0, 'local', 'quota.set', 'ada', NULL, 'done');
INSERT INTO crucible_grant (principal_id, catalog_id, role, expires_at) VALUES
    (2, 0, 'reader', NULL);
INSERT INTO crucible_key (key_id, principal_id, secret_hash, created_at, revoked_at) VALUES
    ('31d7d3256fd45032', 1, '354d95b15d07015a9212d9ac9455c7570f6d40f92d616b8970266b5f0779e839', '2026-11-20 01:39:10.491042+00', NULL);
INSERT INTO crucible_prefix_grant (principal_id, prefix, role, expires_at) VALUES
    (1, 'ada-', 'owner', NULL);
INSERT INTO crucible_principal (principal_id, name, account, is_root, created_at, disabled_at) VALUES
    (1, 'ada', 'default', FALSE, '2026-11-20 01:39:09.617444+00', NULL),
    (2, 'ben', 'default', FALSE, '2026-11-20 01:39:10.106658+00', NULL);
INSERT INTO crucible_quota (principal_id, catalogs, bytes, sessions) VALUES
    (1, 7, NULL, NULL);
INSERT INTO dl_actions (catalog_id, table_id, begin_snapshot, end_snapshot, version, kind, key, body) VALUES
    (0, 19, 49, NULL, 0, 'metaData', '', '{"id":"3c64509d-05ba-4e2c-ab17-c181102d93f0","name":"published","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1795138747690}'),
    (0, 19, 49, NULL, 0, 'protocol', '', '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["sqlCommitOnly"]}'),
    (0, 19, 50, NULL, 1, 'protocol', '', '{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","sqlCommitOnly"]}');
INSERT INTO dl_mirror_status (catalog_id, table_id, mirror_engine, mirrored_version, checkpoint_version, state, last_error, last_sync_time, updated_at) VALUES
    (0, 19, 'delta', 2, NULL, 'CURRENT', NULL, '2026-11-20 01:39:08.303093+00', '2026-11-20 01:39:08.303093+00');
INSERT INTO dl_table_versions (catalog_id, table_id, begin_snapshot, end_snapshot, version, timestamp, operation, transaction_id, group_id) VALUES
    (0, 19, 49, NULL, 0, 1795138747690, 'SET TBLPROPERTIES', 'd797e14714ef42a1a72c9048c9094b14', NULL),
    (0, 19, 50, NULL, 1, 1795138748038, 'DELETE', 'a0deb0e5b2d24634a8170bd6d12d2cb3', NULL),
    (0, 19, 51, NULL, 2, 1795138748272, 'WRITE', '1360a8bab2a74d7ca8b98e66239e0476', NULL);
INSERT INTO dl_tables (catalog_id, table_id, begin_snapshot, end_snapshot, delta_id, location, mode) VALUES
    (0, 19, 49, NULL, '3c64509d-05ba-4e2c-ab17-c181102d93f0', '/tmp/forklake-dump/files/postgresql-delta/published', 'own');
DELETE FROM ducklake_catalog;
INSERT INTO ducklake_catalog (catalog_id, catalog_uuid, catalog_name, begin_snapshot, end_snapshot, parent_catalog_id, fork_snapshot, data_path, path) VALUES
    (0, 'bf997bf2-af67-460d-803d-03006cdc2939', 'sales', 1, NULL, NULL, NULL, '/tmp/forklake-dump/files/postgresql/', 'sales/'),
    (12, '197df01d-e409-4c00-8e15-3407d0c2af69', 'agent', 25, NULL, 0, 24, '/tmp/forklake-dump/files/postgresql/', 'agent/'),
    (13, '35ed3ab2-09a1-4bb1-883e-4449144184e2', 'deep', 26, NULL, 12, 25, '/tmp/forklake-dump/files/postgresql/', 'deep/'),
    (14, '24758dad-2ad7-4e19-9755-2cb1f2125f3f', 'copy', 27, NULL, 0, 24, '/tmp/forklake-dump/files/postgresql/', 'copy/'),
    (15, '0beaf81e-6ad2-40a0-b87a-91c26ad8a2c9', 'brief', 28, NULL, 0, 24, '/tmp/forklake-dump/files/postgresql/', 'brief/'),
    (16, '77239b84-fc82-47ab-ad4f-dabce2c9034e', 'gone', 29, 45, NULL, NULL, '/tmp/forklake-dump/files/postgresql/', 'gone/'),
    (18, '2d115563-82f6-4422-975d-b1c574c5b372', 'deeper', 41, NULL, 12, 34, '/tmp/forklake-dump/files/postgresql/', 'deeper/');
DELETE FROM ducklake_catalog_head;
INSERT INTO ducklake_catalog_head (catalog_id, snapshot_id, schema_version, snapshot_time) VALUES
    (0, 51, 18, '2026-11-20 01:39:08.272232+00'),
    (12, 34, 16, '2026-11-20 01:39:01.225104+00'),
    (13, 26, 14, '2026-11-20 01:38:57.754394+00'),
    (14, 40, 15, '2026-11-20 01:39:02.807839+00'),
    (15, 28, 14, '2026-11-20 01:38:59.352813+00'),
    (18, 43, 16, '2026-11-20 01:39:04.100382+00');
DELETE FROM ducklake_catalog_hold;
DELETE FROM ducklake_catalog_lease;
INSERT INTO ducklake_catalog_lease (catalog_id, expires_at) VALUES
    (15, '2026-11-20 03:38:59.350375+00');
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
    (0, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-18467afa-1206-4be5-960f-a8d39bb284e1.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (0, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-ba7fe391-584b-45a3-a7f0-08e4c572399c.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (0, 10, 19, 48, NULL, 0, 'sales/main/published/ducklake-9d25bc26-52c7-4764-8ce2-7f8267605acd.parquet', TRUE, 'parquet', 10, 729, 541, 0, NULL, NULL, NULL, NULL),
    (0, 12, 19, 51, NULL, 0, 'sales/main/published/ducklake-9bb82ee6-7b73-4d61-877e-69336555a7ec.parquet', TRUE, 'parquet', 1, 465, 287, 10, NULL, NULL, NULL, NULL),
    (0, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-ba7fe391-584b-45a3-8fb3-7efdf030576f.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (0, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-d6e8503b-b790-4c97-bef4-360f791482a2.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (0, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-fa6d0bd0-1e0f-4070-bebf-3426c61511a7.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (0, 7, 2, 35, NULL, 0, 'sales/main/orders/ducklake-8e28f28f-5c33-491d-89fa-29938cb0d27c.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (0, 8, 2, 44, NULL, 0, 'copy/main/orders/ducklake-a5c2aa90-4df1-4e4e-80b0-5b76a892a05d.parquet', TRUE, 'parquet', 12, 1555, 1099, 33, NULL, NULL, NULL, NULL),
    (14, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-18467afa-1206-4be5-960f-a8d39bb284e1.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (14, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-ba7fe391-584b-45a3-a7f0-08e4c572399c.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (14, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-ba7fe391-584b-45a3-8fb3-7efdf030576f.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (14, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-d6e8503b-b790-4c97-bef4-360f791482a2.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (14, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-fa6d0bd0-1e0f-4070-bebf-3426c61511a7.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (14, 8, 2, 38, NULL, 0, 'copy/main/orders/ducklake-a5c2aa90-4df1-4e4e-80b0-5b76a892a05d.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (18, 9, 3, 43, NULL, 0, 'deeper/main/visits/day=2024-05-05/ducklake-53d62036-143f-4c96-ad63-133bfb52de55.parquet', TRUE, 'parquet', 30, 1014, 737, 12, 4, NULL, NULL, NULL);
DELETE FROM ducklake_delete_file;
INSERT INTO ducklake_delete_file (catalog_id, delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, path_is_relative, format, delete_count, file_size_bytes, footer_size, encryption_key) VALUES
    (0, 11, 19, 50, NULL, 10, 'sales/main/published/ducklake-892f2362-d292-4c1f-8dd2-a9f0a3f49ca8-delete.parquet', TRUE, 'parquet', 1, 983, 510, NULL),
    (0, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-ba82c560-ff2a-418a-a9f8-e685b15d42bf-delete.parquet', TRUE, 'parquet', 3, 973, 504, NULL),
    (0, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-6544caeb-916b-46d7-bc90-5f8bbf3ba136-delete.parquet', TRUE, 'parquet', 7, 980, 504, NULL),
    (14, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-ba82c560-ff2a-418a-a9f8-e685b15d42bf-delete.parquet', TRUE, 'parquet', 3, 973, 504, NULL),
    (14, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-6544caeb-916b-46d7-bc90-5f8bbf3ba136-delete.parquet', TRUE, 'parquet', 7, 980, 504, NULL);
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
CREATE TABLE ducklake_inlined_data_11_255204071136913 (catalog_id bigint NOT NULL, table_id bigint NOT NULL, row_id bigint NOT NULL, begin_snapshot bigint NOT NULL, end_snapshot bigint, c1 text, c2 bigint, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_11_255204071136913;
INSERT INTO ducklake_inlined_data_11_255204071136913 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2) VALUES
    (0, 11, 0, 24, 37, 'start', 10),
    (0, 11, 1, 24, 37, 'end', 20),
    (14, 11, 0, 24, 40, 'start', 10),
    (14, 11, 1, 24, 40, 'end', 20);
CREATE TABLE ducklake_inlined_data_2_273384606370724 (catalog_id bigint NOT NULL, table_id bigint NOT NULL, row_id bigint NOT NULL, begin_snapshot bigint NOT NULL, end_snapshot bigint, c1 bigint, c2 text, c3 text, c4 text, c5 text, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_2_273384606370724;
INSERT INTO ducklake_inlined_data_2_273384606370724 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2, c3, c4, c5) VALUES
    (0, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (12, 2, 21, 30, NULL, 200, 'fork', '9.00', NULL, 'new'),
    (14, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (18, 2, 21, 42, NULL, 200, 'fork', '9.00', NULL, 'deep');
CREATE TABLE ducklake_inlined_data_6_253749026318082 (catalog_id bigint NOT NULL, table_id bigint NOT NULL, row_id bigint NOT NULL, begin_snapshot bigint NOT NULL, end_snapshot bigint, c1 bigint, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
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
    (0, 1, 'dc526345-febc-4e12-957a-da9bdf5f1b71', 1, NULL, 'main', 'main/', TRUE),
    (0, 10, 'ee80fab6-9ce4-4946-bc73-6d49f704123a', 22, NULL, 'web', 'web/', TRUE),
    (14, 1, 'dc526345-febc-4e12-957a-da9bdf5f1b71', 1, NULL, 'main', 'main/', TRUE),
    (14, 10, 'ee80fab6-9ce4-4946-bc73-6d49f704123a', 22, NULL, 'web', 'web/', TRUE),
    (16, 17, '00c9b13e-37fe-42d6-9a00-6eee2081e38a', 29, NULL, 'main', 'main/', TRUE);
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
    (0, '2026-11-20 01:38:45.689946+00', 0, 0, 0),
    (1, '2026-11-20 01:38:45.794774+00', 0, 2, 0),
    (10, '2026-11-20 01:38:52.858597+00', 6, 6, 4),
    (11, '2026-11-20 01:38:52.862569+00', 7, 6, 4),
    (12, '2026-11-20 01:38:54.220239+00', 7, 6, 5),
    (13, '2026-11-20 01:38:55.802134+00', 7, 6, 7),
    (14, '2026-11-20 01:38:55.811444+00', 8, 6, 7),
    (15, '2026-11-20 01:38:55.823351+00', 9, 7, 7),
    (16, '2026-11-20 01:38:55.827683+00', 9, 7, 7),
    (17, '2026-11-20 01:38:55.841148+00', 9, 7, 7),
    (18, '2026-11-20 01:38:55.845515+00', 9, 7, 7),
    (19, '2026-11-20 01:38:55.987156+00', 10, 8, 7),
    (2, '2026-11-20 01:38:45.976712+00', 1, 3, 0),
    (20, '2026-11-20 01:38:55.994038+00', 11, 9, 7),
    (21, '2026-11-20 01:38:56.000755+00', 12, 10, 7),
    (22, '2026-11-20 01:38:56.007692+00', 13, 11, 7),
    (23, '2026-11-20 01:38:56.015052+00', 14, 12, 7),
    (24, '2026-11-20 01:38:56.035352+00', 14, 12, 7),
    (25, '2026-11-20 01:38:56.836134+00', 14, 13, 7),
    (26, '2026-11-20 01:38:57.754394+00', 14, 14, 7),
    (27, '2026-11-20 01:38:58.529933+00', 14, 15, 7),
    (28, '2026-11-20 01:38:59.352813+00', 14, 16, 7),
    (29, '2026-11-20 01:39:00.175809+00', 0, 18, 7),
    (3, '2026-11-20 01:38:50.685552+00', 1, 3, 1),
    (30, '2026-11-20 01:39:00.311117+00', 14, 18, 7),
    (31, '2026-11-20 01:39:01.195916+00', 14, 18, 7),
    (32, '2026-11-20 01:39:01.201543+00', 14, 18, 7),
    (33, '2026-11-20 01:39:01.213683+00', 15, 18, 7),
    (34, '2026-11-20 01:39:01.225104+00', 16, 18, 7),
    (35, '2026-11-20 01:39:01.745357+00', 14, 18, 8),
    (36, '2026-11-20 01:39:02.106078+00', 14, 18, 8),
    (37, '2026-11-20 01:39:02.116488+00', 15, 18, 8),
    (38, '2026-11-20 01:39:02.582167+00', 14, 18, 9),
    (39, '2026-11-20 01:39:02.79898+00', 14, 18, 9),
    (4, '2026-11-20 01:38:50.69867+00', 2, 3, 1),
    (40, '2026-11-20 01:39:02.807839+00', 15, 18, 9),
    (41, '2026-11-20 01:39:03.423541+00', 16, 19, 9),
    (42, '2026-11-20 01:39:03.639626+00', 16, 19, 9),
    (43, '2026-11-20 01:39:04.100382+00', 16, 19, 10),
    (44, '2026-11-20 01:39:05.040984+00', 15, 19, 10),
    (45, '2026-11-20 01:39:05.871669+00', 0, 19, 10),
    (46, '2026-11-20 01:39:06.090526+00', 16, 19, 10),
    (47, '2026-11-20 01:39:06.15012+00', 17, 20, 10),
    (48, '2026-11-20 01:39:06.495448+00', 17, 20, 11),
    (49, '2026-11-20 01:39:07.690338+00', 18, 20, 11),
    (5, '2026-11-20 01:38:50.704742+00', 3, 4, 1),
    (50, '2026-11-20 01:39:08.038167+00', 18, 20, 12),
    (51, '2026-11-20 01:39:08.272232+00', 18, 20, 13),
    (6, '2026-11-20 01:38:50.708897+00', 4, 5, 1),
    (7, '2026-11-20 01:38:52.245808+00', 4, 5, 3),
    (8, '2026-11-20 01:38:52.260333+00', 5, 6, 3),
    (9, '2026-11-20 01:38:52.815354+00', 5, 6, 4);
DELETE FROM ducklake_snapshot_changes;
INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made, author, commit_message, commit_extra_info, idempotency_key) VALUES
    (0, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (0, 10, 'altered_table:2', NULL, NULL, NULL, '46e3e438a6ad4abea94caa90027122cd'),
    (0, 11, 'altered_table:2', NULL, NULL, NULL, 'fdb090b513fa46a8b2a25a06736ab252'),
    (0, 12, 'deleted_from_table:2', NULL, NULL, NULL, '006dbfac0e1443208e5151fdfba364bf'),
    (0, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, 'b30caa4a22014bcca91bd24f7b9bab46'),
    (0, 14, '', NULL, NULL, NULL, '3a519bb8778142cf8460e3ec106b3f02'),
    (0, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, '34b465e757f24f22bdc87af2e1cc2d55'),
    (0, 16, 'inlined_insert:6', NULL, NULL, NULL, '2bf53c05270e4a779f19f0dc712e4870'),
    (0, 17, 'inlined_delete:6', NULL, NULL, NULL, '504369503e044fa587cde4ff149601c6'),
    (0, 18, 'inlined_insert:2', NULL, NULL, NULL, '11671bd8178d44e8902489a28f23bdcd'),
    (0, 19, 'created_view:"main"."large"', NULL, NULL, NULL, 'ab3cd0e50f594f168f1cf86fd04f8e92'),
    (0, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, 'e5d8e89b50614481b093e2a36ecb5e9f'),
    (0, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, 'b5417d97217f47d5b19c2bde7095829c'),
    (0, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, '0894389a60cc420a8b53d669255e0219'),
    (0, 22, 'created_schema:"web"', NULL, NULL, NULL, 'bd52e864618849b1a37c7ecc62f252be'),
    (0, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, 'b60b94ce1de6472580c40de76f481579'),
    (0, 24, 'inlined_insert:11', NULL, NULL, NULL, '39cfbcb046b946979ee01320e1305000'),
    (0, 3, 'inserted_into_table:2', NULL, NULL, NULL, 'b15a1ac250da44ac87bbdecc98a66244'),
    (0, 35, 'inserted_into_table:2', NULL, NULL, NULL, '328905615d714bfcbcd4250463b4af47'),
    (0, 36, 'inlined_delete:3', NULL, NULL, NULL, 'fc7cd692a96e4eb7a65f2a99fd04016c'),
    (0, 37, 'dropped_table:11', NULL, NULL, NULL, '2350e012f25e41bca9f16199ef196794'),
    (0, 4, 'altered_table:2', NULL, NULL, NULL, '86737ce6255d441ea7f7475361865674'),
    (0, 44, 'inserted_into_table:2,merged_from:14', NULL, 'merge copy', NULL, '5e14f9ae084a4f79a2b4cace80513a47'),
    (0, 46, '', NULL, NULL, NULL, 'd625f3575d8f44fdbfacf378d18e6dac'),
    (0, 47, 'created_table:"main"."published"', NULL, NULL, NULL, '5f494e1d7ded45a99717011f94c36d77'),
    (0, 48, 'inserted_into_table:19', NULL, NULL, NULL, '0fc7b90c8da4412bbd68d18e7c086be2'),
    (0, 49, 'altered_table:19', NULL, 'Published to /tmp/forklake-dump/files/postgresql-delta/published', NULL, 'd797e14714ef42a1a72c9048c9094b14'),
    (0, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, 'a40b661f13ff496793048322dc9101a7'),
    (0, 50, 'deleted_from_table:19', NULL, NULL, NULL, 'a0deb0e5b2d24634a8170bd6d12d2cb3'),
    (0, 51, 'inserted_into_table:19', NULL, NULL, NULL, '1360a8bab2a74d7ca8b98e66239e0476'),
    (0, 6, 'altered_table:3', NULL, NULL, NULL, '138439a38bca4bf0a8c651bf5742bdb4'),
    (0, 7, 'inserted_into_table:3', NULL, NULL, NULL, '92af5421cbdf45b09a23da86cca55671'),
    (0, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, '8957765f432c4d5db29cfd5bc591a71a'),
    (0, 9, 'inserted_into_table:5', NULL, NULL, NULL, '76ad9bb6093f4c61a1838c2ba1f38ace'),
    (12, 25, 'forked_from:0', NULL, NULL, NULL, NULL),
    (12, 30, 'inlined_insert:2', NULL, NULL, NULL, 'f4cddc5eb4a84ffd85bce8a449cdddb3'),
    (12, 31, 'inlined_delete:2', NULL, NULL, NULL, 'b34bd3565ddd4e9c805ff9983cf15e05'),
    (12, 32, 'deleted_from_table:3', NULL, NULL, NULL, '82ae3dbe1b9340fd90c87f93e680a613'),
    (12, 33, 'altered_table:5', NULL, NULL, NULL, 'd2dd771edb9a4a28ac55301e705b95b0'),
    (12, 34, 'dropped_view:7', NULL, NULL, NULL, '8f02729f03f24be6a72f0e1550c71daf'),
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
    (14, 38, 'inserted_into_table:2', NULL, NULL, NULL, 'd74b8340ffe54eddb710554e8ba82d21'),
    (14, 39, 'inlined_delete:3', NULL, NULL, NULL, '0d6f687b263b4ac1bcb6c5161ee04715'),
    (14, 4, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 40, 'dropped_table:11', NULL, NULL, NULL, '6419ffc82a2641679767502ade4c75c2'),
    (14, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, NULL),
    (14, 6, 'altered_table:3', NULL, NULL, NULL, NULL),
    (14, 7, 'inserted_into_table:3', NULL, NULL, NULL, NULL),
    (14, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, NULL),
    (14, 9, 'inserted_into_table:5', NULL, NULL, NULL, NULL),
    (15, 28, 'forked_from:0', NULL, NULL, NULL, NULL),
    (16, 29, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (18, 41, 'forked_from:12', NULL, NULL, NULL, NULL),
    (18, 42, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL, '1327df42fd50478aac6287a5f54be638'),
    (18, 43, 'inserted_into_table:3', NULL, NULL, NULL, 'd42132e4a8754e4da08be2c1c91bfdf5');
DELETE FROM ducklake_table;
INSERT INTO ducklake_table (catalog_id, table_id, table_uuid, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative) VALUES
    (0, 11, '74c0d608-5ca4-4703-b01f-0a43644ebe03', 23, 37, 10, 'pages', 'pages/', TRUE),
    (0, 19, 'c963872e-06fa-457c-8852-82e156ba045e', 47, NULL, 1, 'published', 'published/', TRUE),
    (0, 2, 'd8cf69e6-ed26-4e36-87d7-635096cce94f', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (0, 3, 'bb652627-5330-44f5-a7ac-ba57b707b8fa', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (0, 5, '1b102a7d-14ad-4a2e-94ba-d9fa49ba5571', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (0, 6, '12271486-efb7-4f4d-a5ad-3c71627f61ff', 15, NULL, 1, 'totals', 'totals/', TRUE),
    (14, 11, '74c0d608-5ca4-4703-b01f-0a43644ebe03', 23, 40, 10, 'pages', 'pages/', TRUE),
    (14, 2, 'd8cf69e6-ed26-4e36-87d7-635096cce94f', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (14, 3, 'bb652627-5330-44f5-a7ac-ba57b707b8fa', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (14, 5, '1b102a7d-14ad-4a2e-94ba-d9fa49ba5571', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (14, 6, '12271486-efb7-4f4d-a5ad-3c71627f61ff', 15, NULL, 1, 'totals', 'totals/', TRUE);
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
    (0, 7, 'd5766d04-83c1-46e1-af79-c1d1236ac5cb', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL),
    (14, 7, 'd5766d04-83c1-46e1-af79-c1d1236ac5cb', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL);
INSERT INTO reagent_automation (automation_id, name, catalog_id, workbook_path, workbook_text, parameters, isolation, schedule, time_zone, table_catalog_id, schema_name, table_name, overlap, catch_up, is_enabled, created_at, next_due_at, seen_snapshot, revision) VALUES
    (1903529020265435891, 'arrivals', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, NULL, NULL, 0, 'main', 'orders', 'queue', 'latest', TRUE, '2026-11-20 01:39:12.454899+00', NULL, 51, 0),
    (4321310385543762697, 'nightly', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, '0 2 * * *', 'UTC', NULL, NULL, NULL, 'skip', 'latest', TRUE, '2026-11-20 01:39:11.853995+00', '2026-11-20 02:00:00+00', NULL, 0);
SELECT setval('ducklake_snapshot_id_seq', 51, true);
SELECT setval('ducklake_entity_id_seq', 19, true);
SELECT setval('ducklake_file_id_seq', 12, true);
