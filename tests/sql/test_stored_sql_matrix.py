"""Every hostile text in every stored object by every trigger: nothing changes, no file is read.

The texts are generated from the registry of functions, and written as another client of the
metastore could write them, without the checks of CREATE. All are refused before Spark is needed.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from forklake import Session
from forklake.catalog.definitions import MacroSpec
from forklake.errors import ForklakeError, InvalidInput
from forklake.sql.functions.files import READ_FUNCTIONS
from forklake.sql.functions.registry import FUNCTIONS
from forklake.sql.query import stored_sql
from tests.sql.conftest import fill

CANARY = "canary-51c0"
CHANGING = [name for name, one in FUNCTIONS.items() if one.changes_data]
SPELLINGS = ["ducklake_{}('lake', 'target')", "lake.{}('target')", "LAKE.main.\"{}\"('target')"]
# Sources in FROM.
SOURCES = [
    *(f"{reader}('{{file}}')" for reader in READ_FUNCTIONS),
    *("READ_CSV(['{file}'])", "'{file}'", '"{file}"', "'{file}.parquet'"),
    *(
        "__ducklake_metadata_lake.ducklake_snapshot",
        "__DUCKLAKE_METADATA_lake.main.ducklake_schema",
    ),
    *("ducklake_diff('sales', 'target')", "ducklake_settings('other')", "other.options()"),
    *("(SELECT 1) q, lake.merge('target')", "t WHERE a IN (SELECT id FROM lake.merge('target'))"),
]
STATEMENTS = [
    *("DROP TABLE t", "DELETE FROM t", "CALL lake.merge('target')", "COMMIT", "SELECT 1 INTO x"),
    *("INSERT INTO t VALUES (3, 'z')", "CREATE TABLE x AS SELECT 1 AS a", "SELECT 1; SELECT 2"),
    "WITH w AS (DELETE FROM t RETURNING a) SELECT * FROM w",
]
SPARK = [
    "SELECT reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT system.builtin.java_method('java.lang.System', 'exit', 3)",
    "SELECT `try_reflect`('java.lang.System', 'getProperty', 'user.home')",
    "SELECT TRANSFORM (a) USING 'cat /etc/passwd' FROM {DUCKLAKE_CATALOG}.main.t",
    "SELECT * FROM IDENTIFIER('csv.`{file}`')",
    "SELECT * FROM read_files('{file}')",
    "SELECT * FROM csv.`{file}`",
    "SELECT a_function_of_the_session(a) FROM {DUCKLAKE_CATALOG}.main.t",
    "INSERT OVERWRITE DIRECTORY '{file}' SELECT 1",
]
TRIGGERS = [
    *("SELECT * FROM {}", "FROM {} LIMIT 0", "SELECT (SELECT count(*) FROM {})"),
    *("SELECT 1 WHERE EXISTS (FROM {})", "WITH w AS (FROM {}) SELECT 1 FROM w"),
    *("SELECT 1 FROM {} UNION ALL SELECT a FROM t", "DESCRIBE SELECT * FROM {}"),
    *("EXPLAIN SELECT * FROM {}", "EXPLAIN ANALYZE SELECT * FROM {}"),
    *("SUMMARIZE SELECT * FROM {}", "CREATE VIEW over AS SELECT * FROM {}"),
    *("CREATE TABLE copy AS SELECT * FROM {}", "INSERT INTO t SELECT 1, 'a' FROM {}"),
    *("UPDATE t SET a = 1 FROM {} AS s", "DELETE FROM t USING {} AS s WHERE true"),
    "MERGE INTO t USING (SELECT 1 AS id FROM {}) AS s ON t.a = s.id WHEN MATCHED THEN DELETE",
    "PREPARE p AS SELECT * FROM {}; EXECUTE p",
]
DEFAULTS = [
    *("current_setting('secret_directory')", "getenv('HOME')", "version()", "sleep_ms(1)"),
    *("(SELECT count(*) FROM '{file}')", "(SELECT a FROM read_csv('{file}'))"),
    *("(SELECT value FROM duckdb_settings())", "(FROM duckdb_settings())", "nextval('s')"),
    *("reflect('java.lang.System', 'getProperty', 'user.home')", "read_text('{file}')"),
    *("ducklake_merge('target')", "lake.merge('target')", "query('DROP TABLE t')"),
]


@pytest.fixture
def shop(session: Session, tmp_path: Path) -> Session:
    """Return a lake with a second attached catalog, a fork to merge, and a file beside it."""
    (tmp_path / "secret.csv").write_text(f"a\n{CANARY}\n")
    fill(session, tmp_path)
    session.execute("CALL ducklake_fork_catalog('sales', 'target')")
    session.execute("CREATE TABLE d(a INT, x VARCHAR)")
    session.execute(f"ATTACH 'ducklake:{tmp_path / 'meta.db'}' AS other (CATALOG 'target')")
    return session


def witness(shop: Session) -> list[object]:
    """Return everything that a changing function would affect."""
    metastore = shop.attachment("lake").metastore
    rows = sorted(metastore.all_catalogs(), key=lambda row: row.catalog_id)
    heads = [metastore.catalog(row.catalog_name).now().snapshot_id for row in rows]
    return [len(rows), *heads, shop.execute("CALL lake.options()").arrow().to_pylist()]


def plant(shop: Session, body: str, dialect: str = "duckdb") -> list[str]:
    """Write a body into every kind of stored object, and return sources that use them."""
    scalar = body if dialect == "spark" else f"SELECT count(*) FROM ({body})"
    with shop.changing(shop.attachment("lake")) as change:
        work = change.transaction
        work.create_view("v", body, schema="main", dialect=dialect, or_replace=True)
        above = "SELECT * FROM {DUCKLAKE_CATALOG}.main.v"
        work.create_view("vv", above, schema="main", dialect="duckdb", or_replace=True)
        for name, type, text, parameters, defaults in (
            ("tm", "table", body, [], {}),
            ("m", "scalar", f"({scalar})", [], {}),
            ("md", "scalar", "p", ["p"], {"p": f"({scalar})"}),
            ("tmd", "table", "SELECT p", ["p"], {"p": f"({scalar})"}),
        ):
            spec = MacroSpec(text, parameters, defaults, dialect)
            work.create_macro(name, [spec], schema="main", type=type, or_replace=True)
    return ["v", "main.VV", "tm()", "(SELECT m() AS x)", "(SELECT lake.main.md() AS x)", "tmd()"]


def refuse_all(shop: Session, body: str, dialect: str = "duckdb", *, every: int = 1) -> int:
    """Run every trigger, or every nth, over every object, and return the number of combinations."""
    sources = plant(shop, body, dialect)
    before, cells = witness(shop), 0
    for number, (source, trigger) in enumerate(product(sources, TRIGGERS), start=len(body)):
        if number % every:
            continue
        with pytest.raises(ForklakeError) as refused:
            shop.execute(trigger.format(source))
        assert CANARY not in str(refused.value), (body, source, trigger)
        cells += 1
    for trigger in ("SHOW TABLES", "SHOW ALL TABLES", "DESCRIBE d"):  # these show definitions
        shop.execute(trigger)
    with pytest.raises(ForklakeError):
        shop.table("v")
    assert witness(shop) == before, body
    return cells


def test_stored_bodies_change_nothing_and_read_nothing_else(shop: Session, tmp_path: Path) -> None:
    file = str(tmp_path / "secret.csv")
    cells = 0
    for number, name in enumerate(CHANGING):
        call = SPELLINGS[number % len(SPELLINGS)].format(name)
        cells += refuse_all(shop, f"SELECT * FROM {call}")
    for source in SOURCES:
        cells += refuse_all(shop, f"SELECT * FROM {source.format(file=file)}", every=7)
    for statement in STATEMENTS:
        cells += refuse_all(shop, statement, every=7)
    for text in SPARK:
        cells += refuse_all(shop, text.replace("{file}", file), "spark", every=7)
    assert cells > len(CHANGING) * 6 * len(TRIGGERS), cells


def test_stored_bodies_are_refused_at_creation(shop: Session, tmp_path: Path) -> None:
    file = str(tmp_path / "secret.csv")
    before = witness(shop)
    calls = [one.format(name) for name, one in product(CHANGING, SPELLINGS)]
    for source in [*SOURCES, *calls]:
        body = f"SELECT * FROM {source.format(file=file)}"
        for definition in (
            f"VIEW w AS {body}",
            f"MACRO w() AS TABLE {body}",
            f"MACRO w() AS (SELECT count(*) FROM ({body}))",
            f"MACRO w(p := (SELECT count(*) FROM ({body}))) AS p",
        ):
            with pytest.raises(ForklakeError):
                shop.execute(f"CREATE {definition}")
    assert witness(shop) == before


def test_changing_functions_are_refused_inside_expressions(shop: Session) -> None:
    before = witness(shop)
    for name, spelling in product(CHANGING, SPELLINGS):
        source = f"(SELECT * FROM {spelling.format(name)}) AS s"
        for trigger in TRIGGERS:
            with pytest.raises(InvalidInput):
                shop.execute(trigger.format(source))
    assert witness(shop) == before


def test_defaults_cannot_read_or_change_anything(shop: Session, tmp_path: Path) -> None:
    for text in (one.format(file=tmp_path / "secret.csv") for one in DEFAULTS):
        with pytest.raises(ForklakeError):
            shop.execute(f"ALTER TABLE d ALTER x SET DEFAULT {text}")
        shop.set_default("d", "x", text, default_type="expression")  # as another client could
        before = witness(shop)
        for statement in (
            "INSERT INTO d (a) VALUES (1)",
            "INSERT INTO d VALUES (1, DEFAULT)",
            "INSERT INTO d DEFAULT VALUES",
        ):
            with pytest.raises(ForklakeError):
                shop.execute(statement)
        with pytest.raises(ForklakeError):
            shop.insert("d", [{"a": 1}])
        shop.execute("DESCRIBE d")
        assert witness(shop) == before, text


def test_no_macro_has_the_name_of_a_built_in_function(shop: Session) -> None:
    for name in stored_sql.built_in_names():
        with pytest.raises(InvalidInput, match="a built-in function has this name"):
            stored_sql.refuse_built_in(name.swapcase())
    for name in ("count", '"Now"', "main.UPPER", "lake.main.range", "read_csv", "duckdb_tables"):
        for definition in ("(x) AS 1", "() AS TABLE SELECT 1 AS a"):
            with pytest.raises(InvalidInput, match="a built-in function has this name"):
                shop.execute(f"CREATE OR REPLACE MACRO {name}{definition}")
