"""A program on Spark Connect that does everything a session can do with tables on a remote Spark.

Its arguments are the address of the server and an empty folder. It prints the results of each part,
or the error that ended it, as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import forklake
from forklake import ColumnSpec, ForklakeError, when_matched, when_not_matched

Found = dict[str, Any]


class Lake:
    """A catalog in a folder, in a session over Spark Connect."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.uri = f"ducklake:sqlite:{folder / 'metastore.db'}"
        self.session = forklake.connect(spark=spark)
        self.attach("lake", "main")
        self.session.use("lake")

    def attach(self, alias: str, catalog: str, **options: Any) -> None:
        """Attach a catalog of the metastore."""
        self.session.attach(
            self.uri,
            alias,
            catalog=catalog,
            data_path=str(self.folder / "data"),
            create_if_not_exists=True,
            **options,
        )

    def options(self, table: str, catalog: str = "main") -> dict[str, str]:
        """Return the options with which the data source finds a table."""
        return {"uri": self.uri, "catalog": catalog, "table": f"main.{table}"}

    def rows(self, name: str, *columns: str, **options: Any) -> list[list[Any]]:
        """Return the rows of a table, or some of its columns."""
        return rows_of(self.session.table(name, **options), *columns)

    def files(self) -> set[Path]:
        """Return the paths of all data and delete files."""
        return set((self.folder / "data").rglob("*.parquet"))

    def version(self) -> int:
        """Return the newest snapshot."""
        return self.session.snapshots("lake")[-1].snapshot_id


def rows_of(frame: DataFrame, *columns: str) -> list[list[Any]]:
    """Return the rows of a DataFrame, sorted."""
    return sorted(list(row) for row in frame.selectExpr(*(columns or ["*"])).collect())


def refusal(statement: Callable[[], object]) -> list[str]:
    """Return the kind and message of the Forklake error that a statement raises."""
    try:
        statement()
    except ForklakeError as error:
        return [type(error).__name__, error.message]
    return []


# Parts


def writing(lake: Lake) -> Found:
    """Create tables, and write DataFrames of the user session to them."""
    lake.session.create_table(
        "t",
        [
            ColumnSpec("id", "bigint", nulls_allowed=False),
            ColumnSpec("name", "varchar"),
            ColumnSpec("price", "decimal(10,2)"),
            ColumnSpec("at", "timestamp"),
        ],
    )
    query = """
        SELECT id, concat('n', id % 3), id / 2, TIMESTAMP_NTZ '2024-01-01' + make_dt_interval(id)
        FROM range(0, 40, 1, 2)
    """
    return {
        "native": lake.session.engine.is_native,
        "written": lake.session.write(lake.spark.sql(query), "t"),
        "version": lake.version(),
        "by name": lake.session.write(lake.spark.sql("SELECT 100L AS id"), "t", by_name=True),
        "made": lake.session.write(lake.spark.range(3), "made", mode="error"),
        "inserted": lake.session.insert("t", [{"id": 101, "name": "new", "price": "1.50"}]),
        "others": [str(one) for one in lake.folder.rglob("data/**/*.*") if one not in lake.files()],
    }


def reading(lake: Lake) -> Found:
    """Read rows now and at a snapshot, filtered, with virtual columns, and joined."""
    table = lake.session.table("t")
    virtual = lake.session.table("t", virtual=["rowid", "filename", "file_row_number"])
    mine = lake.spark.sql("SELECT 7L AS id, 'mine' AS note")
    joined = "SELECT a.id, b.note FROM {lake} a JOIN {mine} b ON a.id = b.id WHERE a.id > {least}"
    return {
        "count": table.count(),
        "row": rows_of(table.where("id = 39"), "id", "name", "price", "string(at)"),
        "some": lake.rows("t", "id", where="id > 37 AND name = 'n2'"),
        "before": lake.session.table("t", version=3).count(),
        "virtual": rows_of(
            virtual.where("id IN (0, 39, 101)"),
            "id",
            "rowid",
            "filename LIKE '%/ducklake-%'",
            "file_row_number < 20",
        ),
        "joined": rows_of(table.join(mine, "id"), "id", "note"),
        "in a query": rows_of(lake.spark.sql(joined, lake=table, mine=mine, least=1)),
    }


def changing(lake: Lake) -> Found:
    """Delete, update and merge rows, which keep their ids."""
    lake.session.write(lake.spark.range(0, 20, 1, 2).selectExpr("id", "0 AS n"), "c", mode="error")
    before = lake.files()
    found: Found = {"deleted": lake.session.delete("c", "id IN (1, 2)")}
    found["delete files"] = len(lake.files() - before)
    found["deleted more"] = lake.session.delete("c", F.col("id") == 3)
    using = lake.spark.sql("SELECT 4L AS id")
    found["deleted by others"] = lake.session.delete("c", "target.id = source.id", using=using)
    found["updated"] = lake.session.update("c", {"n": "id + 1"}, "id >= 18")
    found["updated by others"] = lake.session.update(
        "c",
        {"n": "source.n"},
        source=lake.spark.sql("SELECT 5L AS id, -5 AS n"),
        on="target.id = source.id",
    )
    source = lake.spark.sql("SELECT 6L AS id, -6 AS n UNION ALL SELECT 77L, -77")
    merged = lake.session.merge(
        "c",
        source,
        "target.id = source.id",
        [when_matched().update(), when_not_matched().insert()],
    )
    found["merged"] = [merged.updated, merged.inserted]
    found["rows"] = rows_of(lake.session.table("c", virtual=["rowid"]).where("n <> 0"))
    found["ids"] = [row[0] for row in lake.rows("c", "id")]
    found["truncated"] = lake.session.truncate("c")
    found["left"] = lake.rows("c")
    return found


def chance(lake: Lake) -> Found:
    """Update and merge rows by a random condition, which selects each row once."""
    lake.session.write(lake.spark.range(200).selectExpr("id", "0 AS n"), "dice", mode="error")
    updated = lake.session.update("dice", {"n": "1"}, "rand() < 0.5")
    source = lake.spark.range(200).where("rand() < 0.5")
    merged = lake.session.merge(
        "dice", source, "target.id = source.id", [when_matched().update({"n": "2"})]
    )
    rows = lake.rows("dice")
    return {
        "ids": [row[0] for row in rows] == list(range(200)),
        "updated": sum(row[1] != 0 for row in rows) >= updated > 0,
        "merged": sum(row[1] == 2 for row in rows) == merged.updated > 0,
    }


def evolving(lake: Lake) -> Found:
    """Add, rename, drop and promote columns and nested fields."""
    query = """
        SELECT int(id) AS id, int(id) AS a, named_struct('x', int(id), 'y', 'y') AS s,
               array(named_struct('z', id)) AS l, map('k', id) AS m
        FROM range(3)
    """
    lake.session.write(lake.spark.sql(query), "e", mode="error")
    before = lake.version()
    lake.session.delete("e", "id = 2")
    lake.session.rename_column("e", "a", "b")
    lake.session.add_column("e", "c", "varchar", default="old")
    lake.session.add_column("e", "s.w", "int", default="7")
    lake.session.rename_column("e", "s.x", "xx")
    lake.session.drop_column("e", "s.y")
    lake.session.set_column_type("e", "id", "bigint")
    lake.session.write(
        lake.spark.sql(
            "SELECT 3000000000, 3, named_struct('xx', 3, 'w', 3), array(named_struct('z', 3L)),"
            " map('k', 3L), 'new'"
        ),
        "e",
    )
    shown = ("id", "b", "s.xx", "s.w", "l[0].z", "m['k']", "c")
    return {
        "rows": lake.rows("e", *shown),
        "some": lake.rows("e", "id", where="c = 'old' AND s.xx = 1"),
        "before": lake.rows("e", "id", "a", "s.x", "s.y", version=before),
    }


def inlining(lake: Lake) -> Found:
    """Keep small writes in the metastore, beside the rows of files."""
    lake.session.write(lake.spark.range(10).selectExpr("id", "'f' AS k"), "i", mode="error")
    lake.session.set_option("lake", "data_inlining_row_limit", 5, table="i")
    before = lake.files()
    lake.session.write(lake.spark.sql("SELECT 20L, 'a' UNION ALL SELECT 21L, 'b'"), "i")
    lake.session.insert("i", [(22, "c")])
    lake.session.delete("i", "id IN (0, 20)")
    lake.session.update("i", {"k": "upper(k)"}, "id IN (1, 21)")
    return {
        "new files": len(lake.files() - before),
        "rows": lake.rows("i", where="id < 3 OR id > 9"),
        "rowids": lake.rows("i", "rowid", where="id IN (1, 21)", virtual=["rowid"]),
    }


def partitioning(lake: Lake) -> Found:
    """Write files into partition folders; the files keep the partition columns."""
    query = "SELECT id, make_date(int(2020 + id % 2), 5, 1) AS d, 'k' || id % 2 AS k FROM range(8)"
    lake.session.write(lake.spark.sql(query), "p", mode="error", partition_by=["year(d)", "k"])
    some = lake.session.table("p", where="d = DATE '2021-05-01' AND k = 'k1'", virtual=["filename"])
    rows = some.collect()
    return {
        "folders": sorted({"/".join(one.parts[-3:-1]) for one in lake.files() if "k=" in str(one)}),
        "read": sorted({"/".join(row.filename.split("/")[-3:-1]) for row in rows}),
        "rows": [[row.id, row.d.year, row.k] for row in sorted(rows)],
    }


def feeding(lake: Lake) -> Found:
    """Read the change feed."""
    lake.session.write(lake.spark.range(4).selectExpr("id", "0 AS n"), "feed", mode="error")
    start = lake.version()
    lake.session.delete("feed", "id = 0")
    lake.session.update("feed", {"n": "9"}, "id = 1")
    changes = lake.session.table_changes("feed", start, lake.version())
    return {
        "changes": rows_of(changes, f"snapshot_id - {start}", "change_type", "id", "n"),
        "insertions": lake.session.table_insertions("feed", start, start).count(),
        "deletions": rows_of(lake.session.table_deletions("feed", start, start + 1), "id"),
    }


def transactions(lake: Lake) -> Found:
    """Roll back a transaction, and write to a fork without affecting its parent."""
    lake.session.write(lake.spark.range(3), "x", mode="error")
    before, version = lake.files(), lake.version()
    found: Found = {}
    try:
        with lake.session.transaction():
            lake.session.write(lake.spark.range(10, 12), "x")
            lake.session.delete("x", "id = 0")
            found["inside"] = lake.rows("x")
            raise KeyError
    except KeyError:
        found["outside"] = lake.rows("x")
    found["no files"] = lake.files() == before
    with lake.session.transaction():
        lake.session.write(lake.spark.range(10, 11), "x")
        lake.session.delete("x", "id = 0")
    found["snapshots"] = lake.version() - version
    lake.session.fork("lake", "fork", attach_as="fork")
    lake.session.delete("fork.x", "id > 1")
    found["parent and fork"] = [lake.rows("lake.x"), lake.rows("fork.x")]
    return found


def encryption(lake: Lake) -> Found:
    """Refuse Spark reads and writes of encrypted files; inlined rows work without Spark."""
    lake.attach("secret", "secret", encrypted=True)
    lake.session.create_table("secret.main.s", [ColumnSpec("id", "bigint")])
    return {
        "write": refusal(lambda: lake.session.write(lake.spark.range(3), "secret.s")),
        "inserted": lake.session.insert("secret.s", [(1,), (2,)]),
        "read": refusal(lambda: lake.session.table("secret.s")),
    }


def sources(lake: Lake) -> Found:
    """Read and write tables with the data source, also encrypted ones."""
    lake.session.write(lake.spark.range(5).selectExpr("id", "'a' AS k"), "d", mode="error")
    frame = lake.spark.range(10, 12).selectExpr("'b' AS k", "id")
    frame.write.format("forklake").options(**lake.options("d")).mode("append").save()
    reader = lake.spark.read.format("forklake").options(**lake.options("s", "secret"))
    return {"written": lake.rows("d", where="id > 3"), "read": rows_of(reader.load())}


def streams(lake: Lake) -> Found:
    """Stream from one table into another."""
    lake.session.write(lake.spark.range(5).selectExpr("id", "'a' AS k"), "from", mode="error")
    lake.session.create_table("to", [ColumnSpec("n", "bigint"), ColumnSpec("k", "varchar")])
    rows = lake.session.read_stream("from")
    query = lake.session.write_stream(
        rows,
        "to",
        checkpoint=str(lake.folder / "checkpoint"),
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    few = rows.drop("k")
    return {
        "rows": lake.rows("to"),
        "columns": refusal(
            lambda: lake.session.write_stream(few, "to", checkpoint=str(lake.folder / "other"))
        ),
        "function": refusal(lambda: lake.session.stream_writer("to")),
    }


def mistakes(lake: Lake) -> Found:
    """Return the errors for bad input, none of which changes anything."""
    session, sql = lake.session, lake.spark.sql
    session.create_table(
        "b", [ColumnSpec("id", "int", nulls_allowed=False), ColumnSpec("u", "uuid")]
    )
    session.write(sql("SELECT 1, CAST(NULL AS STRING) UNION ALL SELECT 2, NULL"), "b")
    before, version = lake.files(), lake.version()
    double = sql("SELECT 1 AS id UNION ALL SELECT 1")
    clauses = [when_matched().delete()]
    found: Found = {
        "condition": refusal(lambda: session.table("b", where="nothing = 1")),
        "null": refusal(lambda: session.write(sql("SELECT NULL, NULL"), "b")),
        "overflow": refusal(lambda: session.write(sql("SELECT 3000000000, NULL"), "b")),
        "value": refusal(lambda: session.write(sql("SELECT 1, 'no uuid'"), "b")),
        "type": refusal(lambda: session.write(sql("SELECT array(1), NULL"), "b")),
        "where": refusal(lambda: session.delete("b", "nothing = 1")),
        "set": refusal(lambda: session.update("b", {"id": "nothing + 1"})),
        "division": refusal(lambda: session.update("b", {"id": "id DIV 0"})),
        "words": refusal(lambda: session.update("b", {"id": "1 +"}, "id = 1")),
        "twice": refusal(lambda: session.merge("b", double, "target.id = source.id", clauses)),
        "on": refusal(lambda: session.merge("b", double, "target.id = source.no", clauses)),
    }
    found["unchanged"] = lake.files() == before and lake.version() == version
    return found


def losses(lake: Lake) -> Found:
    """Return the errors for missing files."""

    def change(name: str) -> int:
        return lake.session.update(name, {"id": "9"}, "id = 2")

    found: Found = {}
    for kind in ("data", "deletes"):
        name = f"lost_{kind}"
        before = lake.files()
        lake.session.write(lake.spark.range(3).coalesce(1), name, mode="error")
        if kind == "deletes":
            before = lake.files()
            lake.session.delete(name, "id = 1")
        (lost,) = lake.files() - before
        lost.unlink()
        reported = refusal(partial(change, name))
        found[kind] = [text.replace(str(lost), "it") for text in reported]
    return found


def leftovers(lake: Lake) -> Found:
    """Check that file lists are deleted once loaded, while their DataFrames stay readable."""
    folder = Path(tempfile.gettempdir())

    def lists() -> int:
        gc.collect()
        return len(list(folder.glob("forklake-*")))

    own = forklake.connect(spark=lake.spark)
    own.attach(lake.uri, "lake", catalog="main")
    frame = own.table("lake.made").where("id > 0")
    own.close()
    del own
    found = {"lists": lists(), "rows": rows_of(frame)}
    del frame
    return found | {"after": lists()}


PARTS = (
    writing,
    reading,
    changing,
    chance,
    evolving,
    inlining,
    partitioning,
    feeding,
    transactions,
    encryption,
    sources,
    streams,
    mistakes,
    losses,
    leftovers,
)


def main(address: str, folder: Path) -> None:
    """Run all parts; an error ends only its own part."""
    spark = SparkSession.builder.remote(address).getOrCreate()
    lake = Lake(spark, folder)
    found: dict[str, Found] = {}
    for part in PARTS:
        try:
            found[part.__name__] = part(lake)
        except Exception:  # noqa: BLE001
            found[part.__name__] = {"error": traceback.format_exc()}
    lake.session.close()
    found["users"] = {"count": spark.range(3).count()}  # the user owns the session
    spark.stop()
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
