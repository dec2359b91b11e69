"""Dumps of metastores as this version makes them, for the upgrade tests of later versions.

`python -m tests.upgrade.make_dump FOLDER` fills a metastore on each database with a history and
writes to the folder: its rows as `<database>-rows.sql`, what this version reads of each catalog at
each of its snapshots as `<database>.reads`, and the data files. `<database>.sql`, the empty
metastore, and `<database>-optional.sql` are the schema files. PYTHONPATH chooses the version.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import forklake
from forklake import Catalog, Metastore, Session
from forklake.engines.local.compute.node import Node
from tests.fix_mariadb import MariadbServer
from tests.fix_postgres import PostgresServer

# The data path in the dumps, to be replaced by the folder of a test.
ROOT = Path("/tmp/forklake-dump")
SEQUENCES = ("ducklake_snapshot_id_seq", "ducklake_entity_id_seq", "ducklake_file_id_seq")
WORKBOOK = """
[tasks.total]
sql = "INSERT INTO totals SELECT count(*) FROM orders"
"""
HISTORY = """
CREATE TABLE orders (id BIGINT NOT NULL, customer VARCHAR, amount DECIMAL(10, 2), day DATE);
INSERT INTO orders SELECT range, 'c' || (range % 3), range / 4, DATE '2024-01-01' + range::INT
    FROM range(20);
COMMENT ON TABLE orders IS 'all orders';
CREATE TABLE visits (page VARCHAR, day DATE, seconds INTEGER);
ALTER TABLE visits SET PARTITIONED BY (day);
INSERT INTO visits SELECT 'p' || range, DATE '2024-02-01' + (range % 2)::INT, range FROM range(12);
CREATE TABLE nested (id INTEGER, tags VARCHAR[], place STRUCT(x DOUBLE, name VARCHAR));
INSERT INTO nested SELECT range, [range::VARCHAR, 'b'], {'x': range / 2, 'name': 'n' || range}
    FROM range(12);
ALTER TABLE orders ADD COLUMN state VARCHAR DEFAULT 'new';
ALTER TABLE orders RENAME COLUMN customer TO client;
DELETE FROM orders WHERE id % 7 = 0;
UPDATE orders SET state = 'paid' WHERE id < 5;
CALL lake.set_option('data_inlining_row_limit', 10);
CREATE TABLE totals (count BIGINT);
INSERT INTO totals VALUES (1), (2), (3);
DELETE FROM totals WHERE count = 2;
INSERT INTO orders VALUES (100, 'late', 1.5, DATE '2024-03-01', NULL);
CREATE VIEW large AS SELECT id, amount FROM orders WHERE amount > 2;
CREATE MACRO tax(price, rate := 0.25) AS price * rate;
CREATE MACRO above(least) AS TABLE SELECT * FROM orders WHERE id > least;
CREATE SCHEMA web;
CREATE TABLE web.pages (name VARCHAR, size INTEGER);
INSERT INTO web.pages VALUES ('start', 10), ('end', 20);
"""
IN_FORK = """
INSERT INTO lake.orders VALUES (200, 'fork', 9, NULL, 'new');
DELETE FROM lake.orders WHERE id IN (1, 8, 100);
TRUNCATE lake.visits;
ALTER TABLE lake.nested DROP COLUMN tags;
DROP VIEW lake.large;
"""
IN_FORK_OF_FORK = """
UPDATE lake.orders SET state = 'deep' WHERE id = 200;
INSERT INTO lake.visits SELECT 'deep', DATE '2024-05-05', range FROM range(30);
"""
LATER = """
INSERT INTO orders SELECT range, 'later', 1, NULL, 'new' FROM range(300, 312);
DELETE FROM visits WHERE page = 'p3';
DROP TABLE web.pages;
"""


def main(folder: Path) -> None:
    """Write the dumps of all databases."""
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir()
    with ExitStack() as stack:
        postgres = stack.enter_context(PostgresServer())
        mariadb = stack.enter_context(MariadbServer())
        from forklake.engines.spark.engine import Engine

        engine = Engine.start(cores=2, memory="1500m")
        stack.callback(engine.close)
        for name, uri in (
            ("sqlite", f"ducklake:sqlite:{ROOT / 'sqlite.db'}"),
            ("duckdb", f"ducklake:duckdb:{ROOT / 'duckdb.db'}"),
            ("postgresql", f"ducklake:postgres:{postgres.dsn()}"),
            ("mysql", f"ducklake:mysql:{mariadb.address()} database=lake"),
        ):
            fill(name, uri, engine.spark)
            with forklake.open(uri) as metastore:
                (folder / f"{name}.reads").write_text(format_reads(read(metastore)))
                rows = "\n".join(dump(metastore, name)) + "\n"
            (folder / f"{name}-rows.sql").write_text(rows)
    shutil.copytree(ROOT / "files", folder / "files", dirs_exist_ok=True)


def fill(name: str, uri: str, spark: Any) -> None:
    """Create a metastore with all that an upgrade must keep."""
    files = str(ROOT / "files" / name)
    run(uri, "init")
    with Session(spark) as session:
        session.attach(uri, "lake", catalog="sales", data_path=files, create_if_not_exists=True)
        session.use("lake")
        session.sql(HISTORY)
    run(uri, "fork", "sales", "agent")
    run(uri, "fork", "agent", "deep")
    run(uri, "fork", "sales", "copy", "--mode", "copy")
    run(uri, "fork", "sales", "brief", "--ttl", "2h")
    run(uri, "create", "gone", "--data-path", files)
    for catalog, text in (
        ("agent", IN_FORK),
        ("sales", LATER),
        ("copy", LATER.replace("300, 312", "400, 412")),
    ):
        execute(spark, uri, catalog, text)
    run(uri, "fork", "agent", "deeper")
    execute(spark, uri, "deeper", IN_FORK_OF_FORK)
    run(uri, "merge", "copy", "--table", "orders")
    run(uri, "drop", "gone")
    with Session(spark) as session:
        session.attach(uri, "lake", catalog="sales")
        session.use("lake")
        session.sql("CALL lake.set_option('data_inlining_row_limit', 0)")
        session.sql("CREATE TABLE published (id BIGINT, name VARCHAR)")
        session.sql("INSERT INTO published SELECT range, 'n' || range FROM range(10)")
    run(uri, "delta", "publish", "sales.main.published", f"{files}-delta/published")
    execute(spark, uri, "sales", "DELETE FROM lake.published WHERE id = 4")
    execute(spark, uri, "sales", "INSERT INTO lake.published SELECT 20, 'more'")
    run(uri, "access", "init")
    run(uri, "access", "principal", "add", "ada", "--prefix", "ada-")
    run(uri, "access", "principal", "add", "ben")
    run(uri, "access", "key", "add", "ada")
    run(uri, "access", "grant", "reader", "ben", "--catalog", "sales")
    run(uri, "access", "quota", "ada", "--catalogs", "7")
    (ROOT / "totals.toml").write_text(WORKBOOK)
    run(
        uri,
        "automations",
        "add",
        "nightly",
        "sales",
        f"{ROOT}/totals.toml",
        "--schedule",
        "0 2 * * *",
    )
    run(uri, "automations", "add", "arrivals", "sales", f"{ROOT}/totals.toml", "--table", "orders")


def run(uri: str, *arguments: str) -> None:
    """Run a command."""
    command = [sys.executable, "-m", "forklake.cli.main", *arguments, "--metastore", uri]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def execute(spark: Any, uri: str, catalog: str, text: str) -> None:
    """Run statements in a catalog, whose alias is `lake`."""
    with Session(spark) as session:
        session.attach(uri, "lake", catalog=catalog)
        session.use("lake")
        session.sql(text)


def read(metastore: Metastore) -> dict[str, Any]:
    """Return the rows of each table, by catalog and snapshot."""
    return {
        row.catalog_name: {
            str(snapshot): dict(read_snapshot(metastore.catalog(row.catalog_name), snapshot))
            for snapshot in snapshots_of(metastore.catalog(row.catalog_name))
            if snapshot >= row.begin_snapshot  # before it, a fork reads what its parent reads
        }
        for row in metastore.all_catalogs()
    }


def format_reads(found: dict[str, Any]) -> str:
    """Return what was read as JSON, with a line for each table."""
    lines = [
        f"{json.dumps([catalog, snapshot, table])}: {json.dumps(rows, default=str)}"
        for catalog, snapshots in found.items()
        for snapshot, tables in snapshots.items()
        for table, rows in tables.items()
    ]
    return "\n".join(sorted(lines)) + "\n"


def snapshots_of(catalog: Catalog) -> list[int]:
    """Return the snapshots of a catalog."""
    return sorted(int(one.snapshot_id) for one in catalog.snapshots())


def read_snapshot(catalog: Catalog, snapshot: int) -> Iterator[tuple[str, Any]]:
    """Yield the tables and views of a catalog at a snapshot with their rows, and the macros."""
    state = catalog.at(version=snapshot).state
    with Node(catalog, version=snapshot) as node:
        for schema in state.schemas():
            name = schema.schema_name
            relations = [one.table_name for one in state.tables(name)]
            relations += [one.view_name for one in state.views(name)]
            for relation in relations:
                found = node.sql(f'SELECT * FROM "{name}"."{relation}"')
                assert found is not None
                rows = json.loads(json.dumps(found.fetchall(), default=str))
                yield f"{name}.{relation}", sorted(rows, key=str)
    yield "macros", sorted(one.macro_name for one in state.macros())


# Rows as SQL


def dump(metastore: Metastore, name: str) -> Iterator[str]:
    """Yield the statements that fill the tables of an empty metastore."""
    with metastore.database.reading() as connection:
        declared: dict[str, list[tuple[str, str]]] = {}
        for table, column, kind in connection.fetch(connection.dialect.every_column):
            declared.setdefault(table, []).append((column, kind))
        views = {"dl_marked_files", "dl_earlier_files", "dl_add_files", "dl_remove_files"}
        views |= {"dl_metadata_updates", "dl_protocol_updates", "dl_txn_actions"}
        for table, found in sorted(declared.items()):
            if table in {*views, "ducklake_lock"} or table.startswith("sqlite_"):
                continue
            columns = [one for one in found if one[0] != "live_name"]  # computed by MySQL
            if table.startswith("ducklake_inlined_data_") and table[-1].isdigit():
                yield _creation(table, columns)
            rows = connection.fetch(f"SELECT {_shown(name, columns)} FROM {table}")
            if table.startswith("ducklake_"):
                yield f"DELETE FROM {table};"
            if rows:
                names = ", ".join(_quoted(name, column) for column, _ in columns)
                values = (", ".join(_literal(name, one) for one in row) for row in rows)
                yield f"INSERT INTO {table} ({names}) VALUES"
                yield ",\n".join(f"    ({one})" for one in sorted(values)) + ";"
        for sequence in SEQUENCES if name in {"postgresql", "duckdb"} else ():
            yield _sequence(connection, name, sequence)


def _shown(name: str, columns: list[tuple[str, str]]) -> str:
    cast = {"postgresql": "{0}::text", "duckdb": "CAST({0} AS VARCHAR)", "sqlite": "{0} || ''"}
    return ", ".join(
        cast.get(name, "{0}").format(column)
        if kind.lower().startswith(("timestamp", "uuid"))
        else _quoted(name, column)
        for column, kind in columns
    )


def _quoted(name: str, column: str) -> str:
    return f'"{column}"' if name == "mysql" else column


def _creation(table: str, columns: list[tuple[str, str]]) -> str:
    keys = {"catalog_id", "table_id", "row_id", "begin_snapshot"}
    lines = [f"{one} {kind}{' NOT NULL' if one in keys else ''}" for one, kind in columns]
    key = "PRIMARY KEY (catalog_id, row_id, begin_snapshot)"
    return f"CREATE TABLE {table} ({', '.join([*lines, key])});"


def _sequence(connection: Any, name: str, sequence: str) -> str:
    if name == "postgresql":
        ((value, is_called),) = connection.fetch(f"SELECT last_value, is_called FROM {sequence}")
        return f"SELECT setval('{sequence}', {value}, {str(is_called).lower()});"
    ((value,),) = connection.fetch(
        "SELECT coalesce(last_value + 1, start_value) FROM duckdb_sequences()"
        f" WHERE sequence_name = '{sequence}'"
    )
    return f"CREATE OR REPLACE SEQUENCE {sequence} MINVALUE 0 START {value};"


def _literal(name: str, value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int() | float():
            return repr(value)
        case bytes() | memoryview():
            text = bytes(value).hex()
            forms = {"postgresql": f"'\\x{text}'", "duckdb": f"unhex('{text}')"}
            return forms.get(name, f"X'{text}'")
        case datetime():  # in UTC; only MySQL returns such values, and it has no time zones
            return f"'{value.replace(tzinfo=None).isoformat(sep=' ')}'"
        case str() | UUID():
            return "'" + str(value).replace("'", "''") + "'"
    raise TypeError(type(value))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
