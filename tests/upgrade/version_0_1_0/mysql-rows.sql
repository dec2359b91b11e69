INSERT INTO crucible_audit ("audit_id", "happened_at", "principal_id", "principal", "operation", "object", "catalog_id", "outcome") VALUES
    ('1795138765332804429589083938', '2026-11-20 01:39:25.332788', 0, 'local', 'principal.create', 'ada', NULL, 'done'),
    ('1795138765727223345314956506', '2026-11-20 01:39:25.727206', 0, 'local', 'principal.create', 'ben', NULL, 'done'),
    ('1795138766168032002445390896', '2026-11-20 01:39:26.168012', 0, 'local', 'key.create', 'ada/22da6ef2f35a6999', NULL, 'done'),
    ('1795138766567079575848511447', '2026-11-20 01:39:26.567073', 0, 'local', 'grants.set', 'sales: reader to ben', 0, 'done'),
    ('1795138767007118212658469097', '2026-11-20 01:39:27.007088', 0, 'local', 'quota.set', 'ada', NULL, 'done');
INSERT INTO crucible_grant ("principal_id", "catalog_id", "role", "expires_at") VALUES
    (2, 0, 'reader', NULL);
INSERT INTO crucible_key ("key_id", "principal_id", "secret_hash", "created_at", "revoked_at") VALUES
    ('22da6ef2f35a6999', 1, '0edb6031fe9c61d4277249733fdee6e5dd8e3fd6431301bb9990a0b1aa49f8c2', '2026-11-20 01:39:26.167213', NULL);
INSERT INTO crucible_prefix_grant ("principal_id", "prefix", "role", "expires_at") VALUES
    (1, 'ada-', 'owner', NULL);
INSERT INTO crucible_principal ("principal_id", "name", "account", "is_root", "created_at", "disabled_at") VALUES
    (1, 'ada', 'default', FALSE, '2026-11-20 01:39:25.331261', NULL),
    (2, 'ben', 'default', FALSE, '2026-11-20 01:39:25.726152', NULL);
INSERT INTO crucible_quota ("principal_id", "catalogs", "bytes", "sessions") VALUES
    (1, 7, NULL, NULL);
INSERT INTO dl_actions ("catalog_id", "table_id", "begin_snapshot", "end_snapshot", "version", "kind", "key", "body") VALUES
    (0, 19, 49, NULL, 0, 'metaData', '', '{"id":"1a74b3df-0a3e-43ff-b541-4e3b7dafa9d7","name":"published","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1795138763952}'),
    (0, 19, 49, NULL, 0, 'protocol', '', '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["sqlCommitOnly"]}'),
    (0, 19, 50, NULL, 1, 'protocol', '', '{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","sqlCommitOnly"]}');
INSERT INTO dl_mirror_status ("catalog_id", "table_id", "mirror_engine", "mirrored_version", "checkpoint_version", "state", "last_error", "last_sync_time", "updated_at") VALUES
    (0, 19, 'delta', 2, NULL, 'CURRENT', NULL, '2026-11-20 01:39:24.472037', '2026-11-20 01:39:24.472037');
INSERT INTO dl_table_versions ("catalog_id", "table_id", "begin_snapshot", "end_snapshot", "version", "timestamp", "operation", "transaction_id", "group_id") VALUES
    (0, 19, 49, NULL, 0, 1795138763952, 'SET TBLPROPERTIES', 'baf7943e36fd48ebb1f701913e15dd5e', NULL),
    (0, 19, 50, NULL, 1, 1795138764346, 'DELETE', 'a7d138c101724346b658b3c93e387e3e', NULL),
    (0, 19, 51, NULL, 2, 1795138764458, 'WRITE', 'ab1f1b20e9fc4782a95046e50f731993', NULL);
INSERT INTO dl_tables ("catalog_id", "table_id", "begin_snapshot", "end_snapshot", "delta_id", "location", "mode") VALUES
    (0, 19, 49, NULL, '1a74b3df-0a3e-43ff-b541-4e3b7dafa9d7', '/tmp/forklake-dump/files/mysql-delta/published', 'own');
DELETE FROM ducklake_catalog;
INSERT INTO ducklake_catalog ("catalog_id", "catalog_uuid", "catalog_name", "begin_snapshot", "end_snapshot", "parent_catalog_id", "fork_snapshot", "data_path", "path") VALUES
    (0, 'e2cae567-4a3b-43df-9265-fe6862737873', 'sales', 1, NULL, NULL, NULL, '/tmp/forklake-dump/files/mysql/', 'sales/'),
    (12, 'a677b9fa-db4c-469a-ad13-fc38bcd32627', 'agent', 25, NULL, 0, 24, '/tmp/forklake-dump/files/mysql/', 'agent/'),
    (13, '3f05952e-619c-45a5-a77b-df0eb190bb78', 'deep', 26, NULL, 12, 25, '/tmp/forklake-dump/files/mysql/', 'deep/'),
    (14, '325a0d10-7dc5-4719-b84e-cc26409af234', 'copy', 27, NULL, 0, 24, '/tmp/forklake-dump/files/mysql/', 'copy/'),
    (15, 'cb2d9cb5-ab6d-4245-bda4-0f2390eb7080', 'brief', 28, NULL, 0, 24, '/tmp/forklake-dump/files/mysql/', 'brief/'),
    (16, 'c29a5055-0fbc-4a73-8d60-0e2382037c57', 'gone', 29, 45, NULL, NULL, '/tmp/forklake-dump/files/mysql/', 'gone/'),
    (18, '47b1b44e-88da-4da2-82f8-7e684fa6d739', 'deeper', 41, NULL, 12, 34, '/tmp/forklake-dump/files/mysql/', 'deeper/');
DELETE FROM ducklake_catalog_head;
INSERT INTO ducklake_catalog_head ("catalog_id", "snapshot_id", "schema_version", "snapshot_time") VALUES
    (0, 51, 18, '2026-11-20 01:39:24.458444'),
    (12, 34, 16, '2026-11-20 01:39:20.035731'),
    (13, 26, 14, '2026-11-20 01:39:18.386678'),
    (14, 40, 15, '2026-11-20 01:39:21.027113'),
    (15, 28, 14, '2026-11-20 01:39:19.140661'),
    (18, 43, 16, '2026-11-20 01:39:21.861178');
DELETE FROM ducklake_catalog_hold;
DELETE FROM ducklake_catalog_lease;
INSERT INTO ducklake_catalog_lease ("catalog_id", "expires_at") VALUES
    (15, '2026-11-20 03:39:19.122366');
DELETE FROM ducklake_catalog_lineage;
INSERT INTO ducklake_catalog_lineage ("catalog_id", "depth", "ancestor_id", "upto_snapshot") VALUES
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
INSERT INTO ducklake_catalog_merge ("catalog_id", "snapshot_id", "source_catalog_id", "source_snapshot", "table_id", "first_row_id", "row_count", "becomes") VALUES
    (0, 44, 14, 40, 2, 21, 12, 33);
DELETE FROM ducklake_column;
INSERT INTO ducklake_column ("catalog_id", "column_id", "begin_snapshot", "end_snapshot", "table_id", "column_order", "column_name", "column_type", "initial_default", "default_value", "nulls_allowed", "parent_column", "default_value_type", "default_value_dialect") VALUES
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
INSERT INTO ducklake_column_tag ("catalog_id", "table_id", "column_id", "begin_snapshot", "end_snapshot", "key", "value") VALUES
    (0, 2, 2, 11, NULL, '_forklake_physical_name', 'customer'),
    (14, 2, 2, 11, NULL, '_forklake_physical_name', 'customer');
DELETE FROM ducklake_data_file;
INSERT INTO ducklake_data_file ("catalog_id", "data_file_id", "table_id", "begin_snapshot", "end_snapshot", "file_order", "path", "path_is_relative", "file_format", "record_count", "file_size_bytes", "footer_size", "row_id_start", "partition_id", "encryption_key", "partial_file_info", "mapping_id") VALUES
    (0, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-a28e1f25-9675-49a8-9835-7a090bac1712.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (0, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-beb7930e-ad41-4d6f-85ec-a684f0d7fa38.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (0, 10, 19, 48, NULL, 0, 'sales/main/published/ducklake-b9af84ea-6cb7-4ca7-af0f-7847572cd668.parquet', TRUE, 'parquet', 10, 729, 541, 0, NULL, NULL, NULL, NULL),
    (0, 12, 19, 51, NULL, 0, 'sales/main/published/ducklake-7e1cdeb7-e1c3-4383-9b2c-6bf217564447.parquet', TRUE, 'parquet', 1, 465, 287, 10, NULL, NULL, NULL, NULL),
    (0, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-beb7930e-ad41-4d6f-985a-c5528472a5e2.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (0, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-95dd3069-95ec-44be-8261-a1a45cabfba9.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (0, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-11966b3a-74db-4d93-94ba-aed1bb5b2969.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (0, 7, 2, 35, NULL, 0, 'sales/main/orders/ducklake-5f0cf77d-1d55-43b7-ad23-18dcd1a2a2ee.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (0, 8, 2, 44, NULL, 0, 'copy/main/orders/ducklake-9f5f2185-d995-4f14-b23c-fb74d486aa0a.parquet', TRUE, 'parquet', 12, 1555, 1099, 33, NULL, NULL, NULL, NULL),
    (14, 0, 2, 3, NULL, 0, 'sales/main/orders/ducklake-a28e1f25-9675-49a8-9835-7a090bac1712.parquet', TRUE, 'parquet', 20, 1263, 899, 0, NULL, NULL, NULL, NULL),
    (14, 1, 3, 7, NULL, 0, 'sales/main/visits/day=2024-02-01/ducklake-beb7930e-ad41-4d6f-85ec-a684f0d7fa38.parquet', TRUE, 'parquet', 6, 990, 711, 0, 4, NULL, NULL, NULL),
    (14, 2, 3, 7, NULL, 1, 'sales/main/visits/day=2024-02-02/ducklake-beb7930e-ad41-4d6f-985a-c5528472a5e2.parquet', TRUE, 'parquet', 6, 989, 711, 6, 4, NULL, NULL, NULL),
    (14, 3, 5, 9, NULL, 0, 'sales/main/nested/ducklake-95dd3069-95ec-44be-8261-a1a45cabfba9.parquet', TRUE, 'parquet', 12, 1551, 1063, 0, NULL, NULL, NULL, NULL),
    (14, 6, 2, 13, NULL, 0, 'sales/main/orders/ducklake-11966b3a-74db-4d93-94ba-aed1bb5b2969.parquet', TRUE, 'parquet', 4, 1857, 1311, NULL, NULL, NULL, NULL, NULL),
    (14, 8, 2, 38, NULL, 0, 'copy/main/orders/ducklake-9f5f2185-d995-4f14-b23c-fb74d486aa0a.parquet', TRUE, 'parquet', 12, 1555, 1099, 21, NULL, NULL, NULL, NULL),
    (18, 9, 3, 43, NULL, 0, 'deeper/main/visits/day=2024-05-05/ducklake-77bd62c7-af02-4af7-8214-fad67563f852.parquet', TRUE, 'parquet', 30, 1014, 737, 12, 4, NULL, NULL, NULL);
DELETE FROM ducklake_delete_file;
INSERT INTO ducklake_delete_file ("catalog_id", "delete_file_id", "table_id", "begin_snapshot", "end_snapshot", "data_file_id", "path", "path_is_relative", "format", "delete_count", "file_size_bytes", "footer_size", "encryption_key") VALUES
    (0, 11, 19, 50, NULL, 10, 'sales/main/published/ducklake-31359db1-9864-4fe5-a53c-1949310172aa-delete.parquet', TRUE, 'parquet', 1, 957, 500, NULL),
    (0, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-1a77d352-cf71-4054-8106-dcdc55d72067-delete.parquet', TRUE, 'parquet', 3, 947, 494, NULL),
    (0, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-a7b4dca2-b451-435f-8a57-56e379bc80a9-delete.parquet', TRUE, 'parquet', 7, 954, 494, NULL),
    (14, 4, 2, 12, 13, 0, 'sales/main/orders/ducklake-1a77d352-cf71-4054-8106-dcdc55d72067-delete.parquet', TRUE, 'parquet', 3, 947, 494, NULL),
    (14, 5, 2, 13, NULL, 0, 'sales/main/orders/ducklake-a7b4dca2-b451-435f-8a57-56e379bc80a9-delete.parquet', TRUE, 'parquet', 7, 954, 494, NULL);
DELETE FROM ducklake_expired_snapshots;
DELETE FROM ducklake_file_column_stats;
INSERT INTO ducklake_file_column_stats ("catalog_id", "data_file_id", "table_id", "column_id", "column_size_bytes", "value_count", "null_count", "min_value", "max_value", "contains_nan", "extra_stats") VALUES
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
INSERT INTO ducklake_file_partition_value ("catalog_id", "data_file_id", "table_id", "partition_key_index", "partition_value") VALUES
    (0, 1, 3, 0, '2024-02-01'),
    (0, 2, 3, 0, '2024-02-02'),
    (18, 9, 3, 0, '2024-05-05');
DELETE FROM ducklake_files_scheduled_for_deletion;
CREATE TABLE ducklake_inlined_data_11_255204071136913 (catalog_id bigint NOT NULL, table_id bigint NOT NULL, row_id bigint NOT NULL, begin_snapshot bigint NOT NULL, end_snapshot bigint, c1 longtext, c2 bigint, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_11_255204071136913;
INSERT INTO ducklake_inlined_data_11_255204071136913 ("catalog_id", "table_id", "row_id", "begin_snapshot", "end_snapshot", "c1", "c2") VALUES
    (0, 11, 0, 24, 37, 'start', 10),
    (0, 11, 1, 24, 37, 'end', 20),
    (14, 11, 0, 24, 40, 'start', 10),
    (14, 11, 1, 24, 40, 'end', 20);
CREATE TABLE ducklake_inlined_data_2_273384606370724 (catalog_id bigint NOT NULL, table_id bigint NOT NULL, row_id bigint NOT NULL, begin_snapshot bigint NOT NULL, end_snapshot bigint, c1 bigint, c2 longtext, c3 longtext, c4 longtext, c5 longtext, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_2_273384606370724;
INSERT INTO ducklake_inlined_data_2_273384606370724 ("catalog_id", "table_id", "row_id", "begin_snapshot", "end_snapshot", "c1", "c2", "c3", "c4", "c5") VALUES
    (0, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (12, 2, 21, 30, NULL, 200, 'fork', '9.00', NULL, 'new'),
    (14, 2, 20, 18, NULL, 100, 'late', '1.50', '2024-03-01', NULL),
    (18, 2, 21, 42, NULL, 200, 'fork', '9.00', NULL, 'deep');
CREATE TABLE ducklake_inlined_data_6_253749026318082 (catalog_id bigint NOT NULL, table_id bigint NOT NULL, row_id bigint NOT NULL, begin_snapshot bigint NOT NULL, end_snapshot bigint, c1 bigint, PRIMARY KEY (catalog_id, row_id, begin_snapshot));
DELETE FROM ducklake_inlined_data_6_253749026318082;
INSERT INTO ducklake_inlined_data_6_253749026318082 ("catalog_id", "table_id", "row_id", "begin_snapshot", "end_snapshot", "c1") VALUES
    (0, 6, 0, 16, NULL, 1),
    (0, 6, 1, 16, 17, 2),
    (0, 6, 2, 16, NULL, 3),
    (14, 6, 0, 16, NULL, 1),
    (14, 6, 1, 16, 17, 2),
    (14, 6, 2, 16, NULL, 3);
DELETE FROM ducklake_inlined_data_tables;
INSERT INTO ducklake_inlined_data_tables ("catalog_id", "table_id", "table_name", "schema_version", "begin_snapshot", "end_snapshot") VALUES
    (0, 11, 'ducklake_inlined_data_11_255204071136913', 255204071136913, 24, 37),
    (0, 2, 'ducklake_inlined_data_2_273384606370724', 273384606370724, 18, NULL),
    (0, 6, 'ducklake_inlined_data_6_253749026318082', 253749026318082, 16, NULL),
    (14, 11, 'ducklake_inlined_data_11_255204071136913', 255204071136913, 24, 40),
    (14, 2, 'ducklake_inlined_data_2_273384606370724', 273384606370724, 18, NULL),
    (14, 6, 'ducklake_inlined_data_6_253749026318082', 253749026318082, 16, NULL);
DELETE FROM ducklake_inlined_delete;
INSERT INTO ducklake_inlined_delete ("catalog_id", "table_id", "data_file_id", "row_position", "begin_snapshot", "end_snapshot") VALUES
    (0, 3, 2, 1, 36, NULL),
    (12, 2, 0, 8, 31, NULL),
    (12, 2, 6, 0, 31, NULL),
    (14, 3, 2, 1, 39, NULL);
DELETE FROM ducklake_macro;
INSERT INTO ducklake_macro ("catalog_id", "schema_id", "macro_id", "macro_name", "begin_snapshot", "end_snapshot") VALUES
    (0, 1, 8, 'tax', 20, NULL),
    (0, 1, 9, 'above', 21, NULL),
    (14, 1, 8, 'tax', 20, NULL),
    (14, 1, 9, 'above', 21, NULL);
DELETE FROM ducklake_macro_impl;
INSERT INTO ducklake_macro_impl ("catalog_id", "macro_id", "impl_id", "dialect", "sql", "type") VALUES
    (0, 8, 0, 'duckdb', 'price * rate', 'scalar'),
    (0, 9, 0, 'duckdb', 'SELECT * FROM {DUCKLAKE_CATALOG}.main.orders WHERE id > least', 'table');
DELETE FROM ducklake_macro_parameters;
INSERT INTO ducklake_macro_parameters ("catalog_id", "macro_id", "impl_id", "column_id", "parameter_name", "parameter_type", "default_value", "default_value_type") VALUES
    (0, 8, 0, 0, 'price', 'unknown', NULL, NULL),
    (0, 8, 0, 1, 'rate', 'unknown', '0.25', 'literal'),
    (0, 9, 0, 0, 'least', 'unknown', NULL, NULL);
DELETE FROM ducklake_metadata;
INSERT INTO ducklake_metadata ("key", "value", "scope", "scope_id", "catalog_id", "begin_snapshot", "end_snapshot") VALUES
    ('data_inlining_row_limit', '0', 'catalog', 0, 0, 46, NULL),
    ('data_inlining_row_limit', '10', 'catalog', 0, 0, 14, 46),
    ('data_inlining_row_limit', '10', 'catalog', 0, 14, 14, NULL),
    ('version', '0.5-dev1', NULL, NULL, NULL, NULL, NULL);
DELETE FROM ducklake_name_mapping;
DELETE FROM ducklake_partition_column;
INSERT INTO ducklake_partition_column ("catalog_id", "partition_id", "table_id", "partition_key_index", "column_id", "transform") VALUES
    (0, 4, 3, 0, 2, 'identity');
DELETE FROM ducklake_partition_info;
INSERT INTO ducklake_partition_info ("catalog_id", "partition_id", "table_id", "begin_snapshot", "end_snapshot") VALUES
    (0, 4, 3, 6, NULL),
    (14, 4, 3, 6, NULL);
DELETE FROM ducklake_schema;
INSERT INTO ducklake_schema ("catalog_id", "schema_id", "schema_uuid", "begin_snapshot", "end_snapshot", "schema_name", "path", "path_is_relative") VALUES
    (0, 1, 'a94c14ad-8c93-460c-ad65-5472f75076ff', 1, NULL, 'main', 'main/', TRUE),
    (0, 10, '3e86580a-2de8-43d1-b342-a6d07f5b9470', 22, NULL, 'web', 'web/', TRUE),
    (14, 1, 'a94c14ad-8c93-460c-ad65-5472f75076ff', 1, NULL, 'main', 'main/', TRUE),
    (14, 10, '3e86580a-2de8-43d1-b342-a6d07f5b9470', 22, NULL, 'web', 'web/', TRUE),
    (16, 17, '8c960d86-6111-4ac0-a36b-940019b4a3f1', 29, NULL, 'main', 'main/', TRUE);
DELETE FROM ducklake_schema_versions;
INSERT INTO ducklake_schema_versions ("catalog_id", "begin_snapshot", "schema_version") VALUES
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
INSERT INTO ducklake_sequence ("name", "next_value") VALUES
    ('entity', 20),
    ('file', 13),
    ('snapshot', 52);
DELETE FROM ducklake_snapshot;
INSERT INTO ducklake_snapshot ("snapshot_id", "snapshot_time", "schema_version", "next_catalog_id", "next_file_id") VALUES
    (0, '2026-11-20 01:39:16.275597', 0, 0, 0),
    (1, '2026-11-20 01:39:16.367553', 0, 2, 0),
    (10, '2026-11-20 01:39:17.122854', 6, 6, 4),
    (11, '2026-11-20 01:39:17.132934', 7, 6, 4),
    (12, '2026-11-20 01:39:17.271733', 7, 6, 5),
    (13, '2026-11-20 01:39:17.660932', 7, 6, 7),
    (14, '2026-11-20 01:39:17.666612', 8, 6, 7),
    (15, '2026-11-20 01:39:17.673858', 9, 7, 7),
    (16, '2026-11-20 01:39:17.677873', 9, 7, 7),
    (17, '2026-11-20 01:39:17.685040', 9, 7, 7),
    (18, '2026-11-20 01:39:17.688429', 9, 7, 7),
    (19, '2026-11-20 01:39:17.716675', 10, 8, 7),
    (2, '2026-11-20 01:39:16.377487', 1, 3, 0),
    (20, '2026-11-20 01:39:17.725131', 11, 9, 7),
    (21, '2026-11-20 01:39:17.728934', 12, 10, 7),
    (22, '2026-11-20 01:39:17.731998', 13, 11, 7),
    (23, '2026-11-20 01:39:17.735221', 14, 12, 7),
    (24, '2026-11-20 01:39:17.740216', 14, 12, 7),
    (25, '2026-11-20 01:39:18.039145', 14, 13, 7),
    (26, '2026-11-20 01:39:18.386678', 14, 14, 7),
    (27, '2026-11-20 01:39:18.788127', 14, 15, 7),
    (28, '2026-11-20 01:39:19.140661', 14, 16, 7),
    (29, '2026-11-20 01:39:19.495178', 0, 18, 7),
    (3, '2026-11-20 01:39:16.586542', 1, 3, 1),
    (30, '2026-11-20 01:39:19.599237', 14, 18, 7),
    (31, '2026-11-20 01:39:19.994946', 14, 18, 7),
    (32, '2026-11-20 01:39:20.010941', 14, 18, 7),
    (33, '2026-11-20 01:39:20.020497', 15, 18, 7),
    (34, '2026-11-20 01:39:20.035731', 16, 18, 7),
    (35, '2026-11-20 01:39:20.299367', 14, 18, 8),
    (36, '2026-11-20 01:39:20.495644', 14, 18, 8),
    (37, '2026-11-20 01:39:20.503744', 15, 18, 8),
    (38, '2026-11-20 01:39:20.793531', 14, 18, 9),
    (39, '2026-11-20 01:39:21.020162', 14, 18, 9),
    (4, '2026-11-20 01:39:16.592091', 2, 3, 1),
    (40, '2026-11-20 01:39:21.027113', 15, 18, 9),
    (41, '2026-11-20 01:39:21.375767', 16, 19, 9),
    (42, '2026-11-20 01:39:21.545611', 16, 19, 9),
    (43, '2026-11-20 01:39:21.861178', 16, 19, 10),
    (44, '2026-11-20 01:39:22.596956', 15, 19, 10),
    (45, '2026-11-20 01:39:23.034485', 0, 19, 10),
    (46, '2026-11-20 01:39:23.146502', 16, 19, 10),
    (47, '2026-11-20 01:39:23.167186', 17, 20, 10),
    (48, '2026-11-20 01:39:23.305962', 17, 20, 11),
    (49, '2026-11-20 01:39:23.952751', 18, 20, 11),
    (5, '2026-11-20 01:39:16.603077', 3, 4, 1),
    (50, '2026-11-20 01:39:24.346336', 18, 20, 12),
    (51, '2026-11-20 01:39:24.458444', 18, 20, 13),
    (6, '2026-11-20 01:39:16.606355', 4, 5, 1),
    (7, '2026-11-20 01:39:16.915281', 4, 5, 3),
    (8, '2026-11-20 01:39:16.921262', 5, 6, 3),
    (9, '2026-11-20 01:39:17.107341', 5, 6, 4);
DELETE FROM ducklake_snapshot_changes;
INSERT INTO ducklake_snapshot_changes ("catalog_id", "snapshot_id", "changes_made", "author", "commit_message", "commit_extra_info", "idempotency_key") VALUES
    (0, 1, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (0, 10, 'altered_table:2', NULL, NULL, NULL, '673c9e3b0f904ceaaa2dce5ca720f828'),
    (0, 11, 'altered_table:2', NULL, NULL, NULL, '7838d8c94de6431dab6db78433ee7793'),
    (0, 12, 'deleted_from_table:2', NULL, NULL, NULL, '1a2761a54919440fb2d0a6935c766e6a'),
    (0, 13, 'inserted_into_table:2,deleted_from_table:2', NULL, NULL, NULL, '1020cbf85722473e82a32cf3bd63fd1b'),
    (0, 14, '', NULL, NULL, NULL, '9200f3cb2cda45da8565709e571342ae'),
    (0, 15, 'created_table:"main"."totals"', NULL, NULL, NULL, '0cd69620edee48c4a3cd57f632be9658'),
    (0, 16, 'inlined_insert:6', NULL, NULL, NULL, 'f13131d196c74850a678fae85a4275ae'),
    (0, 17, 'inlined_delete:6', NULL, NULL, NULL, '11d7c6b64a3a473f92240d7d20b5a08e'),
    (0, 18, 'inlined_insert:2', NULL, NULL, NULL, 'b8d82a376dc14a2f9794bc58815a0827'),
    (0, 19, 'created_view:"main"."large"', NULL, NULL, NULL, 'febc08458c6c4e0fa9e342433fe9fb8a'),
    (0, 2, 'created_table:"main"."orders"', NULL, NULL, NULL, '7d57ced2991343889b548b5c9a6bba1c'),
    (0, 20, 'created_scalar_macro:"main"."tax"', NULL, NULL, NULL, '4ada854c7ddd455486237bfb17248883'),
    (0, 21, 'created_table_macro:"main"."above"', NULL, NULL, NULL, '088ea4269b064844b26223d217875d21'),
    (0, 22, 'created_schema:"web"', NULL, NULL, NULL, 'a3aaf495440f4047afe1550430fe71b2'),
    (0, 23, 'created_table:"web"."pages"', NULL, NULL, NULL, '017679a6eb9f4da5938fe35195e020fe'),
    (0, 24, 'inlined_insert:11', NULL, NULL, NULL, '344affb1b39146d5925f69494a323f9c'),
    (0, 3, 'inserted_into_table:2', NULL, NULL, NULL, 'c2706468b76444dc9490e04a29c6698e'),
    (0, 35, 'inserted_into_table:2', NULL, NULL, NULL, 'b89b5a6386064e219a9154a4349c7a43'),
    (0, 36, 'inlined_delete:3', NULL, NULL, NULL, 'e73c4a27786f440ea8b7b9ca5a5131fc'),
    (0, 37, 'dropped_table:11', NULL, NULL, NULL, '3cfc52371e8f435c981b80833688c870'),
    (0, 4, 'altered_table:2', NULL, NULL, NULL, 'f353b70ac79e47a4888919063e70f649'),
    (0, 44, 'inserted_into_table:2,merged_from:14', NULL, 'merge copy', NULL, 'baa3e4b1b0f24cee8721469d75fb559f'),
    (0, 46, '', NULL, NULL, NULL, 'a6495d14034844a5918eee5848f75035'),
    (0, 47, 'created_table:"main"."published"', NULL, NULL, NULL, 'd3464cd75b2d4e3f8ae518743793653c'),
    (0, 48, 'inserted_into_table:19', NULL, NULL, NULL, 'dec2a0e45be943ae87502933a7ecca7a'),
    (0, 49, 'altered_table:19', NULL, 'Published to /tmp/forklake-dump/files/mysql-delta/published', NULL, 'baf7943e36fd48ebb1f701913e15dd5e'),
    (0, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, '9bf0b96a7f77436fadcd6f367ecbba64'),
    (0, 50, 'deleted_from_table:19', NULL, NULL, NULL, 'a7d138c101724346b658b3c93e387e3e'),
    (0, 51, 'inserted_into_table:19', NULL, NULL, NULL, 'ab1f1b20e9fc4782a95046e50f731993'),
    (0, 6, 'altered_table:3', NULL, NULL, NULL, 'd3fedcd2de564bbca1d8a8bd1e5b3a90'),
    (0, 7, 'inserted_into_table:3', NULL, NULL, NULL, 'd50d93c244eb4f09831ee26d5f331a6f'),
    (0, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, '579256dba4ce46308a6c0ffcbe1fade1'),
    (0, 9, 'inserted_into_table:5', NULL, NULL, NULL, '316eaa49a92f462b92d46eb8e50a0a07'),
    (12, 25, 'forked_from:0', NULL, NULL, NULL, NULL),
    (12, 30, 'inlined_insert:2', NULL, NULL, NULL, '4724b404579b45fcb951c2a008f6ac2a'),
    (12, 31, 'inlined_delete:2', NULL, NULL, NULL, '166a5a90573c466d877c99f6a30d22e2'),
    (12, 32, 'deleted_from_table:3', NULL, NULL, NULL, '861f0d59d125466792eb7cdac39bd65f'),
    (12, 33, 'altered_table:5', NULL, NULL, NULL, 'ad3bd22c39f345f98d3e00f67c4426e2'),
    (12, 34, 'dropped_view:7', NULL, NULL, NULL, '65619bee23ef44eaa249c71810ffa328'),
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
    (14, 38, 'inserted_into_table:2', NULL, NULL, NULL, '07746ad2569e423abcc554effd0dfb72'),
    (14, 39, 'inlined_delete:3', NULL, NULL, NULL, '3dadd317d3ce4d3cb5b23eb4a2a001f7'),
    (14, 4, 'altered_table:2', NULL, NULL, NULL, NULL),
    (14, 40, 'dropped_table:11', NULL, NULL, NULL, '0b6211db21274d38b1abdc72c0b7905a'),
    (14, 5, 'created_table:"main"."visits"', NULL, NULL, NULL, NULL),
    (14, 6, 'altered_table:3', NULL, NULL, NULL, NULL),
    (14, 7, 'inserted_into_table:3', NULL, NULL, NULL, NULL),
    (14, 8, 'created_table:"main"."nested"', NULL, NULL, NULL, NULL),
    (14, 9, 'inserted_into_table:5', NULL, NULL, NULL, NULL),
    (15, 28, 'forked_from:0', NULL, NULL, NULL, NULL),
    (16, 29, 'created_schema:"main"', NULL, NULL, NULL, NULL),
    (18, 41, 'forked_from:12', NULL, NULL, NULL, NULL),
    (18, 42, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL, '70294d23c2724b95b0ae1729f4ea7325'),
    (18, 43, 'inserted_into_table:3', NULL, NULL, NULL, '9f21148334434ba58463f1262bdbfe0b');
DELETE FROM ducklake_table;
INSERT INTO ducklake_table ("catalog_id", "table_id", "table_uuid", "begin_snapshot", "end_snapshot", "schema_id", "table_name", "path", "path_is_relative") VALUES
    (0, 11, '1740ea2a-87e9-41eb-a745-4bc64bf6eb39', 23, 37, 10, 'pages', 'pages/', TRUE),
    (0, 19, 'b9eb7083-f63f-4862-96b2-eefbbb79fd39', 47, NULL, 1, 'published', 'published/', TRUE),
    (0, 2, '1fee95e7-9247-40fa-b28b-e3f30669d3bc', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (0, 3, 'c68a3964-e94c-4209-8119-c9745a0f7867', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (0, 5, '976000cf-5bd9-4c11-ac48-c3e98ea5fbfa', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (0, 6, '3349cfba-05d7-4945-962f-696da51d3e79', 15, NULL, 1, 'totals', 'totals/', TRUE),
    (14, 11, '1740ea2a-87e9-41eb-a745-4bc64bf6eb39', 23, 40, 10, 'pages', 'pages/', TRUE),
    (14, 2, '1fee95e7-9247-40fa-b28b-e3f30669d3bc', 2, NULL, 1, 'orders', 'orders/', TRUE),
    (14, 3, 'c68a3964-e94c-4209-8119-c9745a0f7867', 5, NULL, 1, 'visits', 'visits/', TRUE),
    (14, 5, '976000cf-5bd9-4c11-ac48-c3e98ea5fbfa', 8, NULL, 1, 'nested', 'nested/', TRUE),
    (14, 6, '3349cfba-05d7-4945-962f-696da51d3e79', 15, NULL, 1, 'totals', 'totals/', TRUE);
DELETE FROM ducklake_table_column_stats;
INSERT INTO ducklake_table_column_stats ("catalog_id", "table_id", "column_id", "contains_null", "contains_nan", "min_value", "max_value", "extra_stats", "begin_snapshot", "end_snapshot") VALUES
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
INSERT INTO ducklake_table_stats ("catalog_id", "table_id", "record_count", "next_row_id", "file_size_bytes", "begin_snapshot", "end_snapshot") VALUES
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
INSERT INTO ducklake_tag ("catalog_id", "object_id", "begin_snapshot", "end_snapshot", "key", "value") VALUES
    (0, 2, 4, NULL, 'comment', 'all orders'),
    (12, 5, 33, NULL, '_forklake_dropped_names', '{"": ["tags"]}'),
    (12, 5, 33, NULL, '_forklake_highest_column', '6'),
    (14, 2, 4, NULL, 'comment', 'all orders');
DELETE FROM ducklake_tombstone;
INSERT INTO ducklake_tombstone ("catalog_id", "kind", "table_id", "entity_id", "entity_key", "begin_snapshot", "end_snapshot") VALUES
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
INSERT INTO ducklake_view ("catalog_id", "view_id", "view_uuid", "begin_snapshot", "end_snapshot", "schema_id", "view_name", "dialect", "sql", "column_aliases") VALUES
    (0, 7, '7605ccd1-9767-44e6-a705-27cc0764987c', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL),
    (14, 7, '7605ccd1-9767-44e6-a705-27cc0764987c', 19, NULL, 1, 'large', 'duckdb', 'SELECT id, amount FROM {DUCKLAKE_CATALOG}.main.orders WHERE amount > 2', NULL);
INSERT INTO reagent_automation ("automation_id", "name", "catalog_id", "workbook_path", "workbook_text", "parameters", "isolation", "schedule", "time_zone", "table_catalog_id", "schema_name", "table_name", "overlap", "catch_up", "is_enabled", "created_at", "next_due_at", "seen_snapshot", "revision") VALUES
    (3411739163969687576, 'arrivals', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, NULL, NULL, 0, 'main', 'orders', 'queue', 'latest', TRUE, '2026-11-20 01:39:28.313016', NULL, 51, 0),
    (3507933323063546337, 'nightly', 0, NULL, '
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
', '{}', NULL, '0 2 * * *', 'UTC', NULL, NULL, NULL, 'skip', 'latest', TRUE, '2026-11-20 01:39:27.578328', '2026-11-20 02:00:00', NULL, 0);
