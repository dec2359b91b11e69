INSERT INTO crucible_audit (audit_id, happened_at, principal_id, principal, operation, object, catalog_id, outcome) VALUES
    ('1795133802375259230704641979', '2026-11-20 00:16:42.375131+00', 0, 'local', 'principal.create', 'ada', NULL, 'done'),
    ('1795133805591482489295887512', '2026-11-20 00:16:45.591274+00', 0, 'local', 'principal.create', 'ben', NULL, 'done'),
    ('1795133807710465179999185167', '2026-11-20 00:16:47.710298+00', 0, 'local', 'key.create', 'ada/fdc757d31f4e8c4e', NULL, 'done'),
    ('1795133810968379362881647984', '2026-11-20 00:16:50.96837+00', 0, 'local', 'grants.set', 'sales: reader to ben', 0, 'done'),
    ('1795133813130118261113479244', '2026-11-20 00:16:53.129942+00', 0, 'local', 'quota.set', 'ada', NULL, 'done');
INSERT INTO crucible_grant (principal_id, catalog_id, role, expires_at) VALUES
    (2, 0, 'reader', NULL);
INSERT INTO crucible_key (key_id, principal_id, secret_hash, created_at, revoked_at) VALUES
    ('fdc757d31f4e8c4e', 1, 'c9ce1468dcd76d6d2bcf1bd3fc4c279de2dbdd85c1259579a39b253ecea74ffb', '2026-11-20 00:16:47.707448+00', NULL);
INSERT INTO crucible_prefix_grant (principal_id, prefix, role, expires_at) VALUES
    (1, 'ada-', 'owner', NULL);
INSERT INTO crucible_principal (principal_id, name, account, is_root, created_at, disabled_at) VALUES
    (1, 'ada', 'default', FALSE, '2026-11-20 00:16:42.363742+00', NULL),
    (2, 'ben', 'default', FALSE, '2026-11-20 00:16:45.583813+00', NULL);
INSERT INTO crucible_quota (principal_id, catalogs, bytes, sessions) VALUES
    (1, 7, NULL, NULL);
INSERT INTO dl_actions (catalog_id, table_id, begin_snapshot, end_snapshot, version, kind, key, body) VALUES
    (0, 19, 47, NULL, 0, 'metaData', '', '{"id":"b254a56c-e014-43fb-bc2a-7bc4427b40b3","name":"published","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1795133795571}'),
    (0, 19, 47, NULL, 0, 'protocol', '', '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["sqlCommitOnly"]}'),
    (0, 19, 48, NULL, 1, 'protocol', '', '{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","sqlCommitOnly"]}');
INSERT INTO dl_mirror_status (catalog_id, table_id, mirror_engine, mirrored_version, checkpoint_version, state, last_error, last_sync_time, updated_at) VALUES
    (0, 19, 'delta', 2, NULL, 'CURRENT', NULL, '2026-11-20 00:16:37.623523+00', '2026-11-20 00:16:37.623523+00');
INSERT INTO dl_table_versions (catalog_id, table_id, begin_snapshot, end_snapshot, version, timestamp, operation, transaction_id, group_id) VALUES
    (0, 19, 47, NULL, 0, 1795133795571, 'SET TBLPROPERTIES', 'f4ba7d35532340a5810aaf58b07aacd5', NULL),
    (0, 19, 48, NULL, 1, 1795133796696, 'DELETE', '781688a50dac49fc85d7ec3db2214dee', NULL),
    (0, 19, 49, NULL, 2, 1795133797447, 'WRITE', 'ad3510d95af1451f9c83dff2fac080cf', NULL);
INSERT INTO dl_tables (catalog_id, table_id, begin_snapshot, end_snapshot, delta_id, location, mode) VALUES
    (0, 19, 47, NULL, 'b254a56c-e014-43fb-bc2a-7bc4427b40b3', '/tmp/forklake-dump/files/duckdb-delta/published', 'own');
DELETE FROM ducklake_catalog;
INSERT INTO ducklake_catalog (catalog_id, catalog_uuid, catalog_name, begin_snapshot, end_snapshot, parent_catalog_id, fork_snapshot, data_path, path) VALUES
    (0, 'c9ff243b-1048-41a0-9244-9774502e98b8', 'sales', 1, NULL, NULL, NULL, '/tmp/forklake-dump/files/duckdb/', 'sales/'),
    (12, '130895ac-bc78-404d-b5ab-6a6303d3afeb', 'agent', 25, NULL, 0, 24, '/tmp/forklake-dump/files/duckdb/', 'agent/'),
    (13, '58379a9c-1beb-485c-b21f-74b045ccca2c', 'deep', 26, NULL, 12, 25, '/tmp/forklake-dump/files/duckdb/', 'deep/'),
    (14, '9e1eb728-4b73-408e-bbce-5eef39b9dd78', 'copy', 27, NULL, 0, 24, '/tmp/forklake-dump/files/duckdb/', 'copy/'),
    (15, '6321373d-1dc2-4843-be00-7e2587903075', 'brief', 28, NULL, 0, 24, '/tmp/forklake-dump/files/duckdb/', 'brief/'),
    (16, '7809d3f8-9d10-4973-80f1-8afc5a79761d', 'gone', 29, 43, NULL, NULL, '/tmp/forklake-dump/files/duckdb/', 'gone/'),
    (18, '0b757f94-2f46-40ef-87cd-7cfdcd0c7969', 'deeper', 40, NULL, 12, 34, '/tmp/forklake-dump/files/duckdb/', 'deeper/');
DELETE FROM ducklake_catalog_head;
INSERT INTO ducklake_catalog_head (catalog_id, snapshot_id, schema_version, snapshot_time) VALUES
    (0, 49, 18, '2026-11-20 00:16:37.447338+00'),
    (12, 34, 16, '2026-11-20 00:16:17.605454+00'),
    (13, 26, 14, '2026-11-20 00:16:06.972765+00'),
    (14, 39, 15, '2026-11-20 00:16:20.567091+00'),
    (15, 28, 14, '2026-11-20 00:16:12.636053+00'),
    (18, 42, 16, '2026-11-20 00:16:24.535659+00');
DELETE FROM ducklake_catalog_hold;
DELETE FROM ducklake_catalog_lease;
INSERT INTO ducklake_catalog_lease (catalog_id, expires_at) VALUES
    (15, '2026-11-20 02:16:12.614871+00');
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
    (0, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-6f7fd4db-81d7-4bee-ab1c-ac394c572273.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (0, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-33fa5061-1f06-4cb3-a60e-2df50d823628.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (0, 11, 19, 49, NULL, 0, 'sales/main/published/ducklake-25e46845-641f-414b-a984-1a048332cd92.parquet', TRUE, 'parquet', 1, 465, 287, 10, NULL, NULL, NULL, NULL),
    (0, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-33fa5061-1f06-4cb3-89cc-0430ec1134bf.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (0, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-b4f38a4b-aafd-4b4d-a26f-96e115973a68.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (0, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-29d0cdca-a6c3-4637-9872-cd4065d9e632.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (0, 7, 2, 35, NULL, 0, 'sales/main/orders/ducklake-8dd6cd2f-4a60-42a4-9782-9d1784c1b6a4.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (0, 9, 19, 46, NULL, 0, 'sales/main/published/ducklake-8e15f6cd-25f5-45bd-a670-af60fbf50e58.parquet', TRUE, 'parquet', 10, 729, 541, 0, NULL, NULL, NULL, NULL),
    (14, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-6f7fd4db-81d7-4bee-ab1c-ac394c572273.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (14, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-33fa5061-1f06-4cb3-a60e-2df50d823628.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (14, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-33fa5061-1f06-4cb3-89cc-0430ec1134bf.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (14, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-b4f38a4b-aafd-4b4d-a26f-96e115973a68.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (14, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-29d0cdca-a6c3-4637-9872-cd4065d9e632.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (18, 8, 3, 42, NULL, 0, 'deeper/main/visits/day=2024-05-05/ducklake-8d5ce21a-f484-435e-aa42-8b5355f0f8fc.parquet', TRUE, 'parquet', 30, 1014, 737, 12, 4, NULL, NULL, NULL);
DELETE FROM ducklake_delete_file;
INSERT INTO ducklake_delete_file (catalog_id, delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, path_is_relative, format, delete_count, file_size_bytes, footer_size, encryption_key) VALUES
    (0, 10, 19, 48, NULL, 9, 'sales/main/published/ducklake-1ed29d8d-7227-48f4-99f0-62afb8127dc9-delete.parquet', TRUE, 'parquet', 1, 961, 502, NULL),
    (0, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-382be0ec-36f7-408e-b0eb-33943fd31f5c-delete.parquet', TRUE, 'parquet', 3, 950, 496, NULL),
    (0, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-e1956d0d-ed63-4eea-9720-c1fdd97c48f5-delete.parquet', TRUE, 'parquet', 7, 957, 496, NULL),
    (14, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-382be0ec-36f7-408e-b0eb-33943fd31f5c-delete.parquet', TRUE, 'parquet', 3, 950, 496, NULL),
    (14, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-e1956d0d-ed63-4eea-9720-c1fdd97c48f5-delete.parquet', TRUE, 'parquet', 7, 957, 496, NULL);
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
CREATE TABLE ducklake_inlined_data_11_255204071136913 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 VARCHAR, c2 BIGINT, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_11_255204071136913;
INSERT INTO ducklake_inlined_data_11_255204071136913 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2) VALUES
    (0, 11, 0, 24, 37, 'start', 10),
    (0, 11, 1, 24, 37, 'end', 20),
    (14, 11, 0, 24, 39, 'start', 10),
    (14, 11, 1, 24, 39, 'end', 20);
CREATE TABLE ducklake_inlined_data_2_273384606370724 (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL, row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT, c1 BIGINT, c2 VARCHAR, c3 VARCHAR, c4 VARCHAR, c5 VARCHAR, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_2_273384606370724;
INSERT INTO ducklake_inlined_data_2_273384606370724 (catalog_id, table_id, row_id, begin_snapshot, end_snapshot, c1, c2, c3, c4, c5) VALUES
    (0, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (12, 2, 21, 30, NULL, 200, 'fork', '9.00', NULL, 'new'),
    (14, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (18, 2, 21, 41, NULL, 200, 'fork', '9.00', NULL, 'deep');
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
    (0, 1, 'fde8ab60-86d1-4313-8dd3-d1ff2b6f189e', 1, NULL, 'main', 'main/', TRUE),
    (0, 10, '338f2a24-39e0-45ad-876b-9b6e9f6fa03f', 22, NULL, 'web', 'web/', TRUE),
    (14, 1, 'fde8ab60-86d1-4313-8dd3-d1ff2b6f189e', 1, NULL, 'main', 'main/', TRUE),
    (14, 10, '338f2a24-39e0-45ad-876b-9b6e9f6fa03f', 22, NULL, 'web', 'web/', TRUE),
    (16, 17, '5fded345-84e7-44b2-987a-e53ff2c30964', 29, NULL, 'main', 'main/', TRUE);
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
DELETE FROM ducklake_snapshot;
INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id) VALUES
    (0, '2026-11-20 00:15:58.497289+00', 0, 0, 0),
    (1, '2026-11-20 00:15:58.84568+00', 0, 2, 0),
    (10, '2026-11-20 00:16:00.559616+00', 6, 6, 4),
    (11, '2026-11-20 00:16:00.586061+00', 7, 6, 4),
    (12, '2026-11-20 00:16:00.803482+00', 7, 6, 5),
    (13, '2026-11-20 00:16:01.932824+00', 7, 6, 7),
    (14, '2026-11-20 00:16:01.963013+00', 8, 6, 7),
    (15, '2026-11-20 00:16:01.995213+00', 9, 7, 7),
    (16, '2026-11-20 00:16:02.016283+00', 9, 7, 7),
    (17, '2026-11-20 00:16:02.086609+00', 9, 7, 7),
    (18, '2026-11-20 00:16:02.10686+00', 9, 7, 7),
    (19, '2026-11-20 00:16:02.169951+00', 10, 8, 7),
    (2, '2026-11-20 00:15:58.886485+00', 1, 3, 0),
    (20, '2026-11-20 00:16:02.186193+00', 11, 9, 7),
    (21, '2026-11-20 00:16:02.257526+00', 12, 10, 7),
    (22, '2026-11-20 00:16:02.294246+00', 13, 11, 7),
    (23, '2026-11-20 00:16:02.347518+00', 14, 12, 7),
    (24, '2026-11-20 00:16:02.388392+00', 14, 12, 7),
    (25, '2026-11-20 00:16:04.393239+00', 14, 13, 8),
    (26, '2026-11-20 00:16:06.972765+00', 14, 14, 8),
    (27, '2026-11-20 00:16:09.389491+00', 14, 15, 8),
    (28, '2026-11-20 00:16:12.636053+00', 14, 16, 8),
    (29, '2026-11-20 00:16:15.490432+00', 0, 18, 8),
    (3, '2026-11-20 00:15:59.415153+00', 1, 3, 1),
    (30, '2026-11-20 00:16:16.479872+00', 14, 19, 8),
    (31, '2026-11-20 00:16:17.477791+00', 14, 19, 8),
    (32, '2026-11-20 00:16:17.520266+00', 14, 19, 8),
    (33, '2026-11-20 00:16:17.546573+00', 15, 19, 8),
    (34, '2026-11-20 00:16:17.605454+00', 16, 19, 8),
    (35, '2026-11-20 00:16:18.588996+00', 14, 19, 8),
    (36, '2026-11-20 00:16:19.355164+00', 14, 19, 8),
    (37, '2026-11-20 00:16:19.408427+00', 15, 19, 8),
    (38, '2026-11-20 00:16:20.471204+00', 14, 19, 9),
    (39, '2026-11-20 00:16:20.567091+00', 15, 19, 9),
    (4, '2026-11-20 00:15:59.446432+00', 2, 3, 1),
    (40, '2026-11-20 00:16:22.816316+00', 16, 19, 9),
    (41, '2026-11-20 00:16:23.853664+00', 16, 20, 9),
    (42, '2026-11-20 00:16:24.535659+00', 16, 20, 9),
    (43, '2026-11-20 00:16:31.2573+00', 0, 20, 10),
    (44, '2026-11-20 00:16:32.066474+00', 16, 20, 10),
    (45, '2026-11-20 00:16:32.16567+00', 17, 20, 10),
    (46, '2026-11-20 00:16:33.049537+00', 17, 20, 10),
    (47, '2026-11-20 00:16:35.571352+00', 18, 21, 11),
    (48, '2026-11-20 00:16:36.696029+00', 18, 21, 11),
    (49, '2026-11-20 00:16:37.447338+00', 18, 21, 12),
    (5, '2026-11-20 00:15:59.472391+00', 3, 4, 1),
    (6, '2026-11-20 00:15:59.495616+00', 4, 5, 1),
    (7, '2026-11-20 00:16:00.170017+00', 4, 5, 3),
    (8, '2026-11-20 00:16:00.199094+00', 5, 6, 3),
    (9, '2026-11-20 00:16:00.534347+00', 5, 6, 4);
DELETE FROM ducklake_snapshot_changes;
INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made, author, commit_message, commit_extra_info, idempotency_key) VALUES
    (0, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (0, 10, 'altered_table:2', NULL, NULL, NULL, '477eb165aa864398abdf4a05a039eec1'),
    (0, 11, 'altered_table:2', NULL, NULL, NULL, '98bf3299061644b181f61bf91294df45'),
    (0, 12, 'deleted_from_table:2', NULL, NULL, NULL, 'cea1ec2d0e1244f18caf7811e423403a'),
    (0, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, 'bb9f37b0e6be40d18336d991d294a10e'),
    (0, 14, '', NULL, NULL, NULL, 'e35c5684c797442a89cab36e370b7825'),
    (0, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, 'b427a7729bf740869da786764b56091c'),
    (0, 16, 'inlined_insert:6', NULL, NULL, NULL, '0afd48e7c34149b69c5f215507116f71'),
    (0, 17, 'inlined_delete:6', NULL, NULL, NULL, '0910d5dc43344fb6a9981c69945fbfc6'),
    (0, 18, 'inlined_insert:2', NULL, NULL, NULL, 'fd54c5fbb7334e8e8795699daa5645df'),
    (0, 19, 'created_view:"main"."large"', NULL, NULL, NULL, '7d54be9f3d474f5abeb31c199acba38e'),
    (0, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, '98e68a3db6bb4e72a404315322dabd17'),
    (0, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, 'ef3f42540f2f4de1a71d028e4844e425'),
    (0, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, '26372fe3dbcb41269a3af57990429b2b'),
    (0, 22, 'created_schema:"web"', NULL, NULL, NULL, '9f911cc6f1d64d1fb7e49cedb4018a0c'),
    (0, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, '27c55e0d98744cd1810d336aff80870d'),
    (0, 24, 'inlined_insert:11', NULL, NULL, NULL, '810ca7e221ae4bec9302a2962d9424e2'),
    (0, 3, 'inserted_into_table:2', NULL, NULL, NULL, '2e0984e8921c4dd2b92502a2cb844d2c'),
    (0, 35, 'inserted_into_table:2', NULL, NULL, NULL, 'c807991b89a441458a89b08c947a12c3'),
    (0, 36, 'inlined_delete:3', NULL, NULL, NULL, '29433634955144a68ce731646ec8a49f'),
    (0, 37, 'dropped_table:11', NULL, NULL, NULL, 'c888721f5b6942d3bb08c37faf1737e7'),
    (0, 4, 'altered_table:2', NULL, NULL, NULL, 'd69fee0952cb470ab9fecfde1d4e7ef5'),
    (0, 44, '', NULL, NULL, NULL, 'c59a1305df6047339edbb8a3b4d7bf56'),
    (0, 45, 'created_table:"main"."published"', NULL, NULL, NULL, '106806ac456647028c46a7bfceb79e91'),
    (0, 46, 'inserted_into_table:19', NULL, NULL, NULL, '3a32a91e559f4d01bdc48c9e92689031'),
    (0, 47, 'altered_table:19', NULL, 'Published to /tmp/forklake-dump/files/duckdb-delta/published', NULL, 'f4ba7d35532340a5810aaf58b07aacd5'),
    (0, 48, 'deleted_from_table:19', NULL, NULL, NULL, '781688a50dac49fc85d7ec3db2214dee'),
    (0, 49, 'inserted_into_table:19', NULL, NULL, NULL, 'ad3510d95af1451f9c83dff2fac080cf'),
    (0, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, '7b314109a3734f1bba3d363acc6949ba'),
    (0, 6, 'altered_table:3', NULL, NULL, NULL, 'dec70ca7db1a4fcc9a9462f9e736b0d8'),
    (0, 7, 'inserted_into_table:3', NULL, NULL, NULL, '8d2ae2336c304fb18fda2c7fe1c582df'),
    (0, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, '54ed20cf87c847e0a2ee730c722bf8b7'),
    (0, 9, 'inserted_into_table:5', NULL, NULL, NULL, 'e08952ab229d4eea8611f43ce8483a5f'),
    (12, 25, 'forked_from:0', NULL, NULL, NULL, NULL),
    (12, 30, 'inlined_insert:2', NULL, NULL, NULL, 'd8793af3581342eca8a4954b10fcff95'),
    (12, 31, 'inlined_delete:2', NULL, NULL, NULL, '60b2e4a8cc7a4817bb7b6b23b9bfc0b9'),
    (12, 32, 'deleted_from_table:3', NULL, NULL, NULL, 'e65c5859669d48ae9c267747e418666b'),
    (12, 33, 'altered_table:5', NULL, NULL, NULL, '8aa27f93a3ba490f8b2fe4ff9d610301'),
    (12, 34, 'dropped_view:7', NULL, NULL, NULL, 'd8d9d8bc19a04be8b88bd20942e9571d'),
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
    (14, 38, 'inlined_delete:3', NULL, NULL, NULL, 'b8213072d54d43d5a4a8d05f2ecb7d6d'),
    (14, 39, 'dropped_table:11', NULL, NULL, NULL, '7c56c0edfe134d8a882bfe61ccf2e6cb'),
    (14, 4, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, NULL),
    (14, 6, 'altered_table:3', NULL, NULL, NULL, NULL),
    (14, 7, 'inserted_into_table:3', NULL, NULL, NULL, NULL),
    (14, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, NULL),
    (14, 9, 'inserted_into_table:5', NULL, NULL, NULL, NULL),
    (15, 28, 'forked_from:0', NULL, NULL, NULL, NULL),
    (16, 29, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (18, 40, 'forked_from:12', NULL, NULL, NULL, NULL),
    (18, 41, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL, '5b9ab7b7e9d3412d9604c2925db04178'),
    (18, 42, 'inserted_into_table:3', NULL, NULL, NULL, '02079de412d341bcba2501d61b6967b8');
DELETE FROM ducklake_table;
INSERT INTO ducklake_table (catalog_id, table_id, table_uuid, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative) VALUES
    (0, 11, 'b03e2a11-ed12-4402-ab46-0c282d0768bb', 23, 37, 10, 'pages', 'pages/', TRUE),
    (0, 19, 'f6819a0d-bae8-4cfa-a608-fca2130955a1', 45, NULL, 1, 'published', 'published/', TRUE),
    (0, 2, 'fe2ef982-a630-47b7-b9b6-da0b14e5608a', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (0, 3, '47630cdf-4edc-4d73-a2f3-a48abd6bd53c', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (0, 5, '61c64e00-52fa-4942-8def-744a5f47f4bb', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (0, 6, '00326431-1363-49b9-9adc-008945d96226', 15, NULL, 1, 'totals', 'totals/', TRUE),
    (14, 11, 'b03e2a11-ed12-4402-ab46-0c282d0768bb', 23, 39, 10, 'pages', 'pages/', TRUE),
    (14, 2, 'fe2ef982-a630-47b7-b9b6-da0b14e5608a', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (14, 3, '47630cdf-4edc-4d73-a2f3-a48abd6bd53c', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (14, 5, '61c64e00-52fa-4942-8def-744a5f47f4bb', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (14, 6, '00326431-1363-49b9-9adc-008945d96226', 15, NULL, 1, 'totals', 'totals/', TRUE);
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
    (0, 7, '3f0193b7-b2e0-44b6-8401-db3f99016389', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL),
    (14, 7, '3f0193b7-b2e0-44b6-8401-db3f99016389', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL);
INSERT INTO reagent_automation (automation_id, name, catalog_id, workbook_path, workbook_text, parameters, isolation, schedule, time_zone, table_catalog_id, schema_name, table_name, overlap, catch_up, is_enabled, created_at, next_due_at, seen_snapshot, revision) VALUES
    (2483243086675563070, 'arrivals', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, NULL, NULL, 0, 'main', 'orders', 'queue', 'latest', TRUE, '2026-11-20 00:16:58.406046+00', NULL, 49, 0),
    (3916628962769736302, 'nightly', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, '0 2 * * *', 'UTC', NULL, NULL, NULL, 'skip', 'latest', TRUE, '2026-11-20 00:16:56.699532+00', '2026-11-20 02:00:00+00', NULL, 0);
CREATE OR REPLACE SEQUENCE ducklake_snapshot_id_seq MINVALUE 0 START 51;
CREATE OR REPLACE SEQUENCE ducklake_entity_id_seq MINVALUE 0 START 21;
CREATE OR REPLACE SEQUENCE ducklake_file_id_seq MINVALUE 0 START 13;
