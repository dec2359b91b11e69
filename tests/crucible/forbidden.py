"""Statements that no session of the service may run, whatever the rights of its user.

In all of them `{file}` is an existing file, `{folder}` a folder, `{uri}` the address of the
service's metastore. The session uses a catalog of alice as `lake`; bob has the table
`bob-sales.main.secret`, with the text `canary` in it.
"""

# Files by their paths
FILES = """
SELECT * FROM read_csv('{file}')
SELECT * FROM read_csv_auto('{file}')
SELECT * FROM read_json('{file}')
SELECT * FROM read_json_auto('{file}')
SELECT * FROM read_ndjson('{file}')
SELECT * FROM read_parquet('{folder}/*.parquet')
SELECT * FROM parquet_scan('{folder}/*.parquet')
SELECT * FROM read_parquet(['{folder}/**/*.parquet'])
SELECT * FROM read_csv('file://{file}')
SELECT * FROM read_csv('file://localhost{file}')
SELECT * FROM read_csv('{folder}/../../../../../../etc/passwd')
SELECT * FROM read_csv('/etc/passwd', header = false)
SELECT * FROM read_csv('s3://other-bucket/data.csv')
SELECT * FROM read_csv('http://127.0.0.1:1/data.csv')
SELECT * FROM read_text('{file}')
SELECT * FROM read_blob('{file}')
SELECT * FROM glob('{folder}/*')
SELECT * FROM sniff_csv('{file}')
SELECT * FROM '{file}'
SELECT * FROM "{file}"
SELECT * FROM '{folder}/*.parquet'
FROM '{file}'
FROM '/etc/passwd.csv'
SELECT * FROM csv."{file}"
SELECT * FROM parquet."{folder}"
SELECT * FROM text."/etc/passwd"
SELECT * FROM delta."{folder}"
SELECT * FROM (SELECT * FROM read_csv('{file}')) AS x
SELECT (SELECT count(*) FROM read_csv('{file}'))
WITH x AS (FROM '{file}') SELECT * FROM x
SELECT * FROM t WHERE id IN (SELECT 1 FROM read_csv('{file}'))
INSERT INTO t SELECT 1, 'x' FROM read_csv('{file}')
CREATE TABLE stolen AS SELECT * FROM read_csv('{file}')
CREATE TABLE stolen AS FROM '{file}'
CREATE VIEW stolen AS SELECT * FROM read_csv('{file}')
UPDATE t SET s = 'x' FROM read_csv('{file}') AS f WHERE t.id = 1
DELETE FROM t USING read_csv('{file}') AS f WHERE t.id = 1
MERGE INTO t USING (FROM '{file}') AS f ON t.id = 1 WHEN MATCHED THEN DELETE
DESCRIBE SELECT * FROM read_csv('{file}')
DESCRIBE '{file}'
SUMMARIZE SELECT * FROM read_csv('{file}')
SUMMARIZE '{file}'
EXPLAIN SELECT * FROM read_csv('{file}')
EXPLAIN ANALYZE SELECT * FROM read_csv('{file}')
CALL read_csv('{file}')
PREPARE p AS SELECT * FROM read_csv('{file}'); EXECUTE p
CALL ducklake_add_data_files('lake', 't', '{folder}/x.parquet')
CALL lake.add_data_files('t', '/etc/passwd')
SELECT * FROM ducklake_add_data_files('lake', 't', ['{file}'])
COPY t TO '{folder}/stolen.csv'
COPY t TO '{folder}/stolen.parquet' (FORMAT parquet)
COPY (SELECT 1) TO '/tmp/stolen.csv'
COPY t FROM '{file}'
COPY FROM DATABASE lake TO other
EXPORT DATABASE '{folder}'
IMPORT DATABASE '{folder}'
INSERT OVERWRITE DIRECTORY '{folder}' SELECT 1
CREATE TABLE stolen USING csv LOCATION '{file}'
CREATE TABLE stolen (x INTEGER) LOCATION '{folder}'
LOAD DATA INPATH '{file}' INTO TABLE t
"""

# Other catalogs, other metastores, and the tables of this one
METASTORE = """
ATTACH '{uri}' AS other (CATALOG 'bob-sales')
ATTACH '{uri}' AS other (CATALOG 'alice-sales')
ATTACH 'ducklake:{folder}/new.db' AS other (CATALOG 'x', CREATE_IF_NOT_EXISTS)
ATTACH '{folder}/some.db' AS other
ATTACH 'bob-sales' AS other
ATTACH 'bob-sales' AS other (READ_ONLY)
ATTACH 'missing-sales' AS other
ATTACH 'alice-new' AS other (CREATE_IF_NOT_EXISTS)
ATTACH 'alice-sales' AS other (DATA_PATH '{folder}', OVERRIDE_DATA_PATH)
ATTACH 'alice-sales' AS other (METADATA_CATALOG 'meta')
ATTACH 'alice-sales' AS other (METADATA_SCHEMA 'public')
ATTACH 'alice-sales' AS other (ENCRYPTED)
ATTACH ':memory:' AS other
ATTACH 'postgres:dbname=postgres' AS other (TYPE postgres)
USE "bob-sales"
SET schema = 'bob-sales'
DETACH "bob-sales"
SELECT * FROM "bob-sales".main.secret
SELECT * FROM "bob-sales".secret
INSERT INTO "bob-sales".main.secret VALUES ('x')
DROP TABLE "bob-sales".main.secret
CREATE VIEW stolen AS SELECT * FROM "bob-sales".main.secret
SELECT * FROM __ducklake_metadata_lake.ducklake_catalog
SELECT * FROM __ducklake_metadata_lake.main.ducklake_data_file
SELECT * FROM __ducklake_metadata_lake.forklake_key
CREATE TABLE stolen AS FROM __ducklake_metadata_lake.ducklake_snapshot
CREATE VIEW stolen AS FROM __ducklake_metadata_lake.ducklake_catalog
DESCRIBE __ducklake_metadata_lake.ducklake_catalog
CALL ducklake_fork_catalog('bob-sales', 'alice-stolen')
CALL ducklake_fork_catalog('lake', 'bob-stolen')
CALL ducklake_fork_catalog('lake', 'alice-placed', '{folder}')
SELECT * FROM ducklake_fork_catalog('bob-sales', 'alice-stolen')
SELECT * FROM ducklake_snapshots('bob-sales')
SELECT * FROM ducklake_table_info('bob-sales')
CALL ducklake_set_option('bob-sales', 'target_file_size', '1MB')
CALL ducklake_expire_snapshots('bob-sales', older_than => now())
CHECKPOINT "bob-sales"
"""

# Ways out of SQL
ESCAPES = """
SELECT reflect('java.lang.System', 'getProperty', 'user.home')
SELECT java_method('java.lang.System', 'getenv', 'PATH')
SELECT try_reflect('java.lang.Runtime', 'getRuntime')
SELECT reflect('java.lang.System', 'getProperty', s) FROM t
SELECT upper(java_method('java.lang.System', 'getenv', 'PATH'))
INSERT INTO t SELECT 1, reflect('java.lang.System', 'getProperty', 'user.home')
INSERT INTO t VALUES (1, reflect('java.lang.System', 'getProperty', 'user.home'))
UPDATE t SET s = reflect('java.lang.System', 'getProperty', 'user.home')
DELETE FROM t WHERE reflect('java.lang.System', 'exit', '1') IS NULL
CREATE MACRO way_out() AS reflect('java.lang.System', 'getenv'); SELECT way_out()
CREATE VIEW stolen AS SELECT reflect('java.lang.System', 'getenv', 'PATH')
CREATE TABLE stolen (s VARCHAR DEFAULT reflect('java.lang.System', 'getenv', 'PATH'))
ALTER TABLE t ALTER COLUMN s SET DEFAULT reflect('java.lang.System', 'getenv', 'PATH')
PREPARE p AS SELECT reflect('java.lang.System', 'getenv', 'PATH'); EXECUTE p
SELECT from_xml('x', 'y')
SELECT xpath_string('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 'a')
SELECT input_file_name()
SELECT current_user()
SELECT spark_partition_id()
SELECT getenv('PATH')
SELECT getvariable('x')
SELECT current_setting('temp_directory')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM pragma_database_list()
SELECT * FROM query('SELECT 1')
SELECT * FROM query_table('t')
SELECT * FROM postgres_scan('host=127.0.0.1', 'public', 't')
SELECT * FROM sqlite_scan('{file}', 't')
SELECT * FROM iceberg_scan('{folder}')
SELECT * FROM delta_scan('{folder}')
SELECT * FROM python_worker_logs()
SELECT TRANSFORM(id) USING 'cat /etc/passwd' AS x FROM t
ADD JAR '{file}'
ADD FILE '{file}'
ADD ARCHIVE '{file}'
LIST JARS
CREATE FUNCTION f AS 'java.lang.System' USING JAR '{file}'
CREATE TEMPORARY FUNCTION f AS 'org.apache.Evil'
CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET 'y')
CREATE TEMP TABLE x AS SELECT 1
CREATE INDEX i ON t (id)
SET spark.sql.ansi.enabled = false
SET spark.hadoop.fs.s3a.access.key = 'x'
SET enable_external_access = true
SET VARIABLE x = 1
RESET spark.sql.ansi.enabled
PRAGMA enable_external_access
PRAGMA database_list
VACUUM
ANALYZE t
KILL 1
SHUTDOWN
DO $$ BEGIN END $$
"""


def statements(text: str) -> list[str]:
    """Return the statements of a text with one statement per line."""
    return [line for line in text.splitlines() if line.strip()]


FORBIDDEN = statements(FILES) + statements(METASTORE) + statements(ESCAPES)
