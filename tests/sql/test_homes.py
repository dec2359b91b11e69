"""Names in stored queries, which refer to the storing catalog, whatever the current one."""

from __future__ import annotations

from contextlib import closing
from sqlite3 import connect

import pytest

from forklake import Session
from forklake.errors import NotFound

_SETUP = """
    ATTACH '{metadata}' AS b (CATALOG 'b', CREATE_IF_NOT_EXISTS true, DATA_INLINING_ROW_LIMIT 10);
    CREATE SCHEMA b.s;
    CREATE TABLE lake.tt AS SELECT 'lake' AS x;
    CREATE TABLE lake.only_lake AS SELECT 'lake only' AS x;
    CREATE TABLE b.tt AS SELECT 'b' AS x;
    CREATE TABLE b.only_b AS SELECT 'b only' AS x;
    CREATE TABLE b.s.tt AS SELECT 'b.s' AS x;
    CREATE MACRO lake.named() AS 'lake macro';
    CREATE MACRO b.named() AS 'b macro'
"""


@pytest.fixture
def homes(lake: Session, metadata: str) -> Session:
    """Return a session that uses the catalog `lake`, beside `b` with the same table names."""
    lake.execute(_SETUP.format(metadata=metadata))
    return lake


def value(session: Session, text: str) -> str:
    [row] = session.sql(text).collect()
    return str(row[0])


def test_names_in_a_view_refer_to_its_own_catalog_and_schema(homes: Session) -> None:
    homes.execute(
        "CREATE VIEW b.v AS SELECT * FROM tt; CREATE VIEW b.s.v AS SELECT * FROM tt;"
        "CREATE VIEW b.m AS SELECT named() AS x; CREATE VIEW b.w AS SELECT * FROM s.tt;"
        "CREATE VIEW b.s.o AS SELECT * FROM only_b; CREATE VIEW b.l AS SELECT * FROM lake.tt;"
        "CREATE VIEW b.vv AS SELECT * FROM v"
    )
    names = ["v", "s.v", "m", "w", "s.o", "l", "vv"]
    union = " UNION ALL ".join(f"SELECT '{one}' AS v, x FROM b.{one}" for one in names)
    wanted = ["b", "b.s", "b macro", "b.s", "b only", "lake", "b"]
    for used in ("lake", "b"):
        homes.execute(f"USE {used}")
        assert dict(homes.sql(union).collect()) == dict(zip(names, wanted, strict=True))


def test_view_of_a_table_that_only_the_current_catalog_has_is_refused(homes: Session) -> None:
    with pytest.raises(NotFound, match="only_lake"):
        homes.execute("CREATE VIEW b.v AS SELECT * FROM only_lake")
    with pytest.raises(NotFound, match="only_lake"):
        homes.execute("CREATE MACRO b.m() AS TABLE SELECT * FROM only_lake")


def test_names_in_a_macro_refer_to_its_own_catalog(homes: Session) -> None:
    homes.execute(
        "CREATE MACRO b.scalar() AS (SELECT max(x) FROM tt); CREATE MACRO b.other() AS named();"
        "CREATE MACRO b.listed() AS TABLE SELECT * FROM tt;"
        "CREATE MACRO b.argument(a) AS TABLE SELECT x || a AS x FROM tt"
    )
    assert value(homes, "SELECT b.scalar() || ' ' || b.other()") == "b b macro"
    assert value(homes, "FROM b.listed()") == "b"
    assert value(homes, "FROM b.argument((SELECT max(x) FROM tt))") == "blake"


def test_names_in_definitions_of_other_clients_refer_to_their_own_catalog(
    homes: Session, metadata: str
) -> None:
    homes.execute("CREATE VIEW b.v AS SELECT * FROM b.tt; CREATE MACRO b.m() AS (SELECT x FROM tt)")
    with closing(connect(metadata.removeprefix("ducklake:"))) as connection, connection:
        for table in ("ducklake_view", "ducklake_macro_impl"):
            connection.execute(
                f"UPDATE {table} SET sql = replace(sql, '{{DUCKLAKE_CATALOG}}.main.', '')"
            )
    with Session(homes.engine.spark) as other:
        other.attach(metadata, "lake", catalog="sales")
        other.attach(metadata, "b", catalog="b")
        other.use("lake")
        assert value(other, "SELECT x || b.m() FROM b.v") == "bb"


def test_time_travel_uses_snapshots_of_the_catalog_of_the_table(
    homes: Session, metadata: str
) -> None:
    version = homes.snapshots("b")[-1].snapshot_id
    homes.execute("INSERT INTO b.tt VALUES ('later')")
    homes.execute(
        f"ATTACH '{metadata}' AS young (CATALOG 'young', CREATE_IF_NOT_EXISTS true); USE young"
    )
    assert value(homes, f"SELECT count(*) FROM b.tt AT (VERSION => {version})") == "1"
    assert homes.execute(f"DESCRIBE b.tt AT (VERSION => {version})").arrow().num_rows == 1
    with pytest.raises(NotFound):
        homes.sql(f"FROM main.tt AT (VERSION => {version})")
