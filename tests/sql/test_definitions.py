"""ATTACH, schemas, tables, columns, comments and transactions as statements."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forklake import Session
from forklake.errors import (
    AlreadyExists,
    Forbidden,
    InvalidInput,
    NotFound,
    Unavailable,
    Unsupported,
)
from forklake.model.fields import Field
from forklake.model.state import CatalogState


@pytest.fixture
def fresh() -> Iterator[Session]:
    """Yield a session without Spark, which definitions do not need."""
    with Session() as found:
        yield found
        assert found._engine is None, "a definition has started Spark"


@pytest.fixture
def defs(fresh: Session, metadata: str, tmp_path: Path) -> Session:
    """Return such a session with a new catalog."""
    fresh.execute(
        f"ATTACH '{metadata}' AS lake (CATALOG 'sales', DATA_PATH '{tmp_path / 'data'}',"
        " CREATE_IF_NOT_EXISTS); USE lake"
    )
    return fresh


def state(session: Session, alias: str = "lake") -> CatalogState:
    return session.viewing(session.attachment(alias)).state


def fields(session: Session, table: str, schema: str = "main") -> dict[str, Field]:
    now = state(session)
    return {field.name: field for field in now.fields(now.table(table, schema))}


def types(session: Session, table: str) -> dict[str, str]:
    def text(field: Field) -> str:
        inner = [f"{one.name} {text(one)}" for one in field.fields]
        return f"{field.type}({', '.join(inner)})" if inner else field.type

    return {name: text(field) for name, field in fields(session, table).items()}


def head(session: Session, alias: str = "lake") -> int:
    return int(session.snapshots(alias)[-1].snapshot_id)


# ATTACH, DETACH, USE


def test_attached_catalog_is_created_used_and_detached(
    fresh: Session, metadata: str, tmp_path: Path
) -> None:
    for statement in (
        "INSTALL ducklake; LOAD ducklake",
        f"ATTACH '{metadata}' AS my_lake (DATA_PATH '{tmp_path / 'a'}', CATALOG 'my-catalog',"
        " CREATE_IF_NOT_EXISTS true, DATA_INLINING_ROW_LIMIT = 10, TYPE ducklake)",
        "USE my_lake",
        "CREATE SCHEMA s; USE s",
    ):
        fresh.execute(statement)
    assert fresh.current == ("my_lake", "s")
    fresh.execute("USE MY_LAKE.MAIN")
    assert fresh.current == ("my_lake", "main")
    with pytest.raises(InvalidInput, match="'my_lake' is the current catalog"):
        fresh.execute("DETACH my_lake")
    fresh.execute(f"ATTACH '{metadata}' (CATALOG 'my-catalog', READ_ONLY)")
    fresh.execute('DETACH DATABASE "my-catalog"; DETACH IF EXISTS "my-catalog"')
    with pytest.raises(NotFound, match="attached as 'my-catalog'"):
        fresh.execute('DETACH "my-catalog"')


def test_attach_if_not_exists_keeps_and_or_replace_replaces(defs: Session, metadata: str) -> None:
    defs.execute("CREATE TABLE t(a INT)")
    version = head(defs)
    defs.execute(f"ATTACH '{metadata}' AS other (CATALOG 'sales')")
    with pytest.raises(AlreadyExists, match="already attached as 'Other'"):
        defs.execute(f"ATTACH '{metadata}' AS Other (CATALOG 'sales')")
    defs.execute(f"ATTACH IF NOT EXISTS '{metadata}' AS other (CATALOG 'sales', READ_ONLY)")
    defs.execute("CREATE TABLE other.main.u(a INT)")
    pinned = f"(CATALOG 'sales', SNAPSHOT_VERSION {version})"
    defs.execute(f"ATTACH OR REPLACE '{metadata}' AS other {pinned}")
    assert [table.table_name for table in state(defs, "other").tables()] == ["t"]
    with pytest.raises(Forbidden, match=f"attached at snapshot {version}"):
        defs.execute("CREATE TABLE other.main.v(a INT)")
    with pytest.raises(NotFound, match="Catalog 'nope' does not exist"):
        defs.execute(f"ATTACH OR REPLACE '{metadata}' AS other (CATALOG 'nope')")
    assert [table.table_name for table in state(defs, "other").tables()] == ["t"]


def test_attach_options_snapshot_read_only_and_metadata_catalog(
    defs: Session, metadata: str
) -> None:
    defs.execute("CREATE TABLE t(a INT)")
    then = defs.snapshots("lake")[-1].snapshot_time.isoformat(" ")
    defs.execute("CREATE TABLE u(a INT)")
    for number, time in enumerate((f"'{then}'", f"TIMESTAMPTZ '{then}'")):
        defs.execute(f"ATTACH '{metadata}' AS past{number} (CATALOG 'sales', SNAPSHOT_TIME {time})")
        assert [one.table_name for one in state(defs, f"past{number}").tables()] == ["t"]
    defs.execute(f"ATTACH '{metadata}' AS still (CATALOG 'sales', READ_ONLY true)")
    with pytest.raises(Forbidden, match="attached read-only"):
        defs.execute("DROP TABLE still.main.t")
    defs.execute(f"ATTACH '{metadata}' AS m (CATALOG 'sales', METADATA_CATALOG 'meta', READ_WRITE)")
    assert defs.attachment("m").metadata_catalog == "meta"


def test_errors_of_attaching(fresh: Session, metadata: str) -> None:
    fresh.execute(f"ATTACH '{metadata}' AS a (CATALOG 'x', CREATE_IF_NOT_EXISTS true)")
    with pytest.raises(InvalidInput) as required:
        fresh.execute(f"ATTACH '{metadata}' AS b")
    assert required.value.message == (
        "CATALOG is required. Please provide CATALOG when attaching the database."
    )
    with pytest.raises(NotFound) as missing:
        fresh.execute(f"ATTACH '{metadata}' AS b (CATALOG 'y')")
    assert missing.value.message == "Catalog 'y' does not exist"
    assert "create" in missing.value.remedy.lower()


_HOLDER = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"


def test_duckdb_file_that_another_process_holds_is_a_conflict(tmp_path: Path) -> None:
    path = tmp_path / "meta.duckdb"
    attach = f"ATTACH 'ducklake:duckdb:{path}' AS a (CATALOG 'x', CREATE_IF_NOT_EXISTS true)"
    with Session() as first:
        first.execute(attach)
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"1"
        with Session() as second, pytest.raises(Unavailable) as conflict:
            second.execute(attach)
        assert conflict.value.message.startswith("Unique file handle conflict")
        assert "PostgreSQL" in conflict.value.remedy
        holder.communicate(b"\n")
    with Session() as third:
        third.execute(attach)


# Schemas


def test_schemas_are_created_renamed_and_dropped(defs: Session) -> None:
    defs.execute('CREATE SCHEMA s; CREATE SCHEMA IF NOT EXISTS S; CREATE SCHEMA lake."odd s"')
    defs.execute('ALTER SCHEMA lake.s RENAME TO "r s"; ALTER SCHEMA IF EXISTS nope RENAME TO n')
    assert [one.schema_name for one in state(defs).schemas()] == ["main", "odd s", "r s"]
    defs.execute('CREATE TABLE "r s".t(a INT)')
    with pytest.raises(InvalidInput, match="not empty"):
        defs.execute('DROP SCHEMA "r s"')
    defs.execute('DROP SCHEMA "R S" CASCADE; DROP SCHEMA IF EXISTS nope; DROP SCHEMA "odd s"')
    assert [one.schema_name for one in state(defs).schemas()] == ["main"]


# Tables


def test_types_are_accepted_by_all_their_names(defs: Session) -> None:
    names = {
        "boolean": "BOOLEAN BOOL LOGICAL",
        "int8": "TINYINT INT1",
        "int16": "SMALLINT INT2 SHORT INT16",
        "int32": "INTEGER INT INT4 SIGNED INT32",
        "int64": "BIGINT INT8 LONG INT64",
        "int128": "HUGEINT INT128",
        "uint8": "UTINYINT UINT8",
        "uint16": "USMALLINT UINT16",
        "uint32": "UINTEGER UINT32",
        "uint64": "UBIGINT UINT64",
        "uint128": "UHUGEINT UINT128",
        "float32": "FLOAT REAL FLOAT4",
        "float64": "DOUBLE FLOAT8",
        "varchar": "VARCHAR TEXT STRING CHAR BPCHAR VARCHAR(10)",
        "blob": "BLOB BYTEA BINARY VARBINARY",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP DATETIME TIMESTAMP_US",
        "timestamp_s": "TIMESTAMP_S",
        "timestamp_ms": "TIMESTAMP_MS",
        "timestamptz": "TIMESTAMPTZ",
        "uuid": "UUID",
        "json": "JSON",
        "decimal(18,3)": "DECIMAL NUMERIC",
        "decimal(5,0)": "DECIMAL(5) DEC(5)",
        "decimal(38,10)": "DECIMAL(38,10)",
    }
    written = [(stored, name) for stored, listed in names.items() for name in listed.split()]
    written.append(("timestamptz", "TIMESTAMP WITH TIME ZONE"))
    written.append(("float64", "DOUBLE PRECISION"))
    columns = ", ".join(f"c{number} {name}" for number, (_, name) in enumerate(written))
    defs.execute(f"CREATE TABLE t({columns})")
    assert list(types(defs, "t").values()) == [stored for stored, _ in written]


def test_nested_types_become_field_trees(defs: Session) -> None:
    defs.execute(
        'CREATE TABLE t(s STRUCT(a INT, "b c" VARCHAR[]), l INT[][], m MAP(VARCHAR, ROW(x DATE)))'
    )
    assert types(defs, "t") == {
        "s": "struct(a int32, b c list(element varchar))",
        "l": "list(element list(element int32))",
        "m": "map(key varchar, value struct(x date))",
    }


def test_defaults_are_values_or_expressions(defs: Session) -> None:
    defs.execute(
        "CREATE TABLE t(a INT DEFAULT 42, b VARCHAR DEFAULT 'it''s', c DATE DEFAULT '2024-01-31',"
        " d BOOLEAN DEFAULT 1, e DECIMAL(5, 2) DEFAULT -1.5, f DOUBLE DEFAULT 1e3,"
        " g TIMESTAMP DEFAULT TIMESTAMP '2024-01-31 12:00:00', h INT DEFAULT 6 * 7,"
        " i TIMESTAMPTZ DEFAULT now(), j VARCHAR DEFAULT upper('x'), k INT[] DEFAULT [1, 2],"
        " l INT DEFAULT NULL, m INT)"
    )
    stored = {
        name: (field.default_value, field.default_value_type)
        for name, field in fields(defs, "t").items()
    }
    assert stored == {
        "a": ("42", "literal"),
        "b": ("it's", "literal"),
        "c": ("2024-01-31", "literal"),
        "d": ("true", "literal"),
        "e": ("-1.50", "literal"),
        "f": ("1000.0", "literal"),
        "g": ("2024-01-31 12:00:00", "literal"),
        "h": ("42", "literal"),
        "i": ("NOW()", "expression"),
        "j": ("UPPER('x')", "expression"),
        "k": ("[1, 2]", "expression"),
        "l": (None, None),
        "m": (None, None),
    }


def test_tables_are_created_replaced_and_dropped(defs: Session) -> None:
    defs.execute(
        "CREATE TABLE t(a INT NOT NULL COMMENT 'an a', b DATE NULL) PARTITION BY (year(b), a)"
    )
    now = state(defs)
    table = now.table("T")
    assert [(key.column_id, key.transform) for key in now.partitioning(table)] == [
        (2, "year"),
        (1, "identity"),
    ]
    assert [field.nulls_allowed for field in fields(defs, "t").values()] == [False, True]
    assert now.column_tags(now.column(table, "a")) == {"comment": "an a"}
    before = head(defs)
    defs.execute("CREATE TABLE IF NOT EXISTS t(x INT)")
    assert head(defs) == before
    with pytest.raises(AlreadyExists, match=r"'main\.t' already exists"):
        defs.execute("CREATE TABLE t(x INT)")
    defs.execute('CREATE OR REPLACE TABLE t("x y" INT)')
    assert list(fields(defs, "t")) == ["x y"]
    defs.execute("DROP TABLE t; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS nope.t")
    assert state(defs).tables() == []


def test_quoted_names_keep_special_characters_and_ignore_case(defs: Session) -> None:
    defs.execute('CREATE SCHEMA "S.1"; CREATE TABLE "S.1"."My ""Table"""("Column.One" INT, ÄÖ INT)')
    defs.execute('ALTER TABLE "s.1"."my ""table""" RENAME "column.one" TO "Spalte 1"')
    defs.execute('ALTER TABLE lake."S.1"."MY ""TABLE""" ADD COLUMN "a`b" STRUCT("c.d" INT)')
    defs.execute('ALTER TABLE lake."S.1"."MY ""TABLE""" ADD COLUMN "A`B"."E f" INT DEFAULT 3')
    found = fields(defs, 'my "table"', "s.1")
    assert list(found) == ["Spalte 1", "ÄÖ", "a`b"]
    assert [one.name for one in found["a`b"].fields] == ["c.d", "E f"]


# ALTER TABLE


def test_columns_are_added_dropped_and_renamed(defs: Session) -> None:
    defs.execute(
        "CREATE TABLE t(a INT, s STRUCT(i INT, j INT), l STRUCT(x INT)[],"
        " m MAP(VARCHAR, STRUCT(x INT)))"
    )
    defs.execute("ALTER TABLE t ADD COLUMN b VARCHAR DEFAULT 'x'")
    defs.execute("ALTER TABLE t ADD COLUMN IF NOT EXISTS B INT")
    defs.execute("ALTER TABLE t ADD COLUMN s.k BIGINT DEFAULT 42")
    defs.execute("ALTER TABLE t ADD COLUMN l.element.y DATE")
    defs.execute("ALTER TABLE t ADD COLUMN m.value.y DATE")
    defs.execute("ALTER TABLE t DROP COLUMN s.i")
    defs.execute("ALTER TABLE t DROP COLUMN IF EXISTS s.nope CASCADE")
    defs.execute("ALTER TABLE t RENAME s.j TO jj; ALTER TABLE t RENAME COLUMN a TO aa")
    assert types(defs, "t") == {
        "aa": "int32",
        "s": "struct(jj int32, k int64)",
        "l": "list(element struct(x int32, y date))",
        "m": "map(key varchar, value struct(x int32, y date))",
        "b": "varchar",
    }
    assert fields(defs, "t")["b"].initial_default == "x"
    defs.execute("ALTER TABLE t RENAME TO u; ALTER TABLE IF EXISTS t ADD COLUMN z INT")
    assert [one.table_name for one in state(defs).tables()] == ["u"]


def test_types_defaults_and_nulls_of_columns_change(defs: Session) -> None:
    defs.execute("CREATE TABLE t(a INT, s STRUCT(x SMALLINT), d DATE, v VARCHAR DEFAULT 'x')")
    defs.execute("ALTER TABLE t ALTER COLUMN a SET DATA TYPE BIGINT")
    defs.execute("ALTER TABLE t ALTER s.x TYPE INTEGER; ALTER TABLE t ALTER d TYPE TIMESTAMP")
    assert types(defs, "t") == {
        "a": "int64",
        "s": "struct(x int32)",
        "d": "timestamp",
        "v": "varchar",
    }
    defs.execute("ALTER TABLE t ALTER a SET DEFAULT 7; ALTER TABLE t ALTER v DROP DEFAULT")
    defs.execute("ALTER TABLE t ALTER d SET DEFAULT now(); ALTER TABLE t ALTER a SET NOT NULL")
    found = fields(defs, "t")
    assert [found[name].default_value for name in "adv"] == ["7", "NOW()", None]
    assert not found["a"].nulls_allowed
    defs.execute("ALTER TABLE t ALTER a DROP NOT NULL; ALTER TABLE t ALTER a SET DEFAULT NULL")
    assert fields(defs, "t")["a"].nulls_allowed
    assert fields(defs, "t")["a"].default_value is None


def test_partitioning_is_set_and_reset(defs: Session) -> None:
    defs.execute("CREATE TABLE t(a INT, d TIMESTAMP)")
    defs.execute("ALTER TABLE t SET PARTITIONED BY (identity(a), month(d), hour(d))")
    now = state(defs)
    keys = [key.transform for key in now.partitioning(now.table("t"))]
    assert keys == ["identity", "month", "hour"]
    defs.execute("ALTER TABLE t RESET PARTITIONED BY")
    assert state(defs).partitioning(state(defs).table("t")) == []


def test_orders_are_set_and_reset(defs: Session) -> None:
    defs.execute("CREATE TABLE t(a INT, d TIMESTAMP)")
    defs.execute("ALTER TABLE t SET SORTED BY (d DESC NULLS FIRST, a)")
    now = state(defs)
    keys = [(key.is_descending, key.nulls_first) for key in now.sort_order(now.table("t"))]
    assert keys == [(True, True), (False, False)]
    defs.execute("ALTER TABLE t RESET SORTED BY")
    assert list(state(defs).sort_order(state(defs).table("t"))) == []


def test_comments_are_set_and_removed(defs: Session) -> None:
    defs.execute("CREATE SCHEMA s; CREATE TABLE s.t(a INT, n STRUCT(x INT))")
    defs.execute("COMMENT ON SCHEMA s IS 'a schema'; COMMENT ON TABLE s.t IS 'a table'")
    defs.execute(
        "COMMENT ON COLUMN s.t.a IS 'a column'; COMMENT ON COLUMN lake.s.t.n.x IS 'a field'"
    )
    now = state(defs)
    schema, table = now.schema("s"), now.table("t", "s")
    assert now.tags(schema.schema_id) == {"comment": "a schema"}
    assert now.tags(table.table_id) == {"comment": "a table"}
    assert now.column_tags(now.column(table, "a")) == {"comment": "a column"}
    assert now.column_tags(now.column(table, "n", "x")) == {"comment": "a field"}
    defs.execute("COMMENT ON TABLE s.t IS NULL; USE s; COMMENT ON COLUMN t.a IS NULL")
    now = state(defs)
    assert now.tags(table.table_id) == {}
    assert now.column_tags(now.column(table, "a")) == {}


def test_definitions_work_in_the_spark_dialect(defs: Session) -> None:
    defs.execute(
        "CREATE TABLE t (a INT, b STRING COMMENT 'x', c TIMESTAMP, d TIMESTAMP_NTZ, e ARRAY<BYTE>,"
        " f STRUCT<a: LONG>, g MAP<STRING, SHORT>, h DECIMAL) USING parquet"
        " PARTITIONED BY (a) COMMENT 'hello'",
        dialect="spark",
    )
    defs.execute("ALTER TABLE t ADD COLUMNS (i INT, j STRING COMMENT 'y')", dialect="spark")
    assert types(defs, "t") == {
        "a": "int32",
        "b": "varchar",
        "c": "timestamptz",
        "d": "timestamp",
        "e": "list(element int8)",
        "f": "struct(a int64)",
        "g": "map(key varchar, value int16)",
        "h": "decimal(10,0)",
        "i": "int32",
        "j": "varchar",
    }
    now = state(defs)
    assert now.tags(now.table("t").table_id) == {"comment": "hello"}
    assert now.column_tags(now.column(now.table("t"), "j")) == {"comment": "y"}


# Transactions and settings


def test_transaction_is_one_snapshot_or_none(defs: Session) -> None:
    before = head(defs)
    defs.execute(
        "BEGIN; CREATE TABLE t(a INT); ALTER TABLE t ADD COLUMN b INT; CREATE SCHEMA s; END"
    )
    assert head(defs) == before + 1
    defs.execute("START TRANSACTION; DROP TABLE t; DROP SCHEMA s; ABORT")
    defs.execute("BEGIN TRANSACTION; DROP TABLE t")
    assert state(defs).tables() == []
    with pytest.raises(AlreadyExists):  # the statement fails, not the transaction
        defs.execute("CREATE SCHEMA s")
    defs.execute("ROLLBACK")
    assert head(defs) == before + 1
    assert list(fields(defs, "t")) == ["a", "b"]
    for statement in ("COMMIT", "ROLLBACK"):
        with pytest.raises(InvalidInput, match="No transaction is open"):
            defs.execute(statement)


def test_schema_is_set_and_reset(defs: Session) -> None:
    defs.execute("CREATE SCHEMA s; SET schema = 's'")
    assert defs.current == ("lake", "s")
    defs.execute("RESET schema; SET search_path TO 'lake.s'")
    assert defs.current == ("lake", "s")
    with pytest.raises(Unsupported, match="Unknown setting 'threads'"):
        defs.execute("SET threads = 4")


# Tables of queries


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in session.execute(query).arrow().to_pylist()]


def test_tables_are_created_from_queries(lake: Session) -> None:
    made = lake.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'")
    assert made.arrow().to_pylist() == [{"Count": 2}]
    assert types(lake, "t") == {"a": "int32", "b": "varchar"}
    lake.execute("CREATE TABLE IF NOT EXISTS t AS SELECT * FROM nowhere")
    with pytest.raises(AlreadyExists, match=r"'lake\.main\.t' already exists"):
        lake.execute("CREATE TABLE t AS SELECT 3 AS a")
    lake.execute("CREATE OR REPLACE TABLE t AS SELECT a + 10 AS a, b FROM t")
    assert rows(lake, "SELECT a, b FROM t ORDER BY a") == [(11, "x"), (12, "y")]
    lake.execute("CREATE TABLE u(p, q) PARTITION BY (p) AS SELECT a, b FROM t")
    lake.execute("CREATE TABLE v AS FROM u PARTITION BY (q)")
    lake.execute("CREATE TABLE w AS SELECT * FROM u WITH NO DATA")
    assert rows(lake, "SELECT q, p FROM u ORDER BY q") == [("x", 11), ("y", 12)]
    assert rows(lake, "SELECT count(*) FROM v") == [(2,)]
    assert rows(lake, "SELECT count(*) FROM w") == [(0,)]
    now = state(lake)
    partitioned = [table.table_name for table in now.tables() if now.partitioning(table)]
    assert partitioned == ["u", "v"]
    with pytest.raises(InvalidInput, match="names 3 columns, but the query has 2"):
        lake.execute("CREATE TABLE x(a, b, c) AS FROM t")


def test_not_null_is_checked_against_rows(lake: Session) -> None:
    lake.execute("CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES (1, NULL)")
    lake.execute("ALTER TABLE t ALTER a SET NOT NULL")
    with pytest.raises(InvalidInput, match="has NULL values"):
        lake.execute("ALTER TABLE t ALTER b SET NOT NULL")
    with pytest.raises(InvalidInput, match="NOT NULL constraint failed"):
        lake.execute("INSERT INTO t VALUES (NULL, 1)")


def test_columns_may_be_named_like_statements(
    lake: Session, caplog: pytest.LogCaptureFixture
) -> None:
    lake.execute("CREATE TABLE t(comment VARCHAR, load INT, start INT, version INT DEFAULT 1)")
    lake.execute("INSERT INTO t(comment, load, start) VALUES ('x', 5, 1), ('y', 6, 2)")
    lake.execute("UPDATE t SET load = load + 1 WHERE comment = 'x'")
    lake.execute("DELETE FROM t WHERE start = 2 AND load > 5")
    assert rows(lake, "SELECT version, load, comment FROM t WHERE load > 5") == [(1, 6, "x")]
    assert not [record for record in caplog.records if record.name == "sqlglot"]
