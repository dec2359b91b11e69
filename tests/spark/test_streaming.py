"""Streams from tables and into tables, which neither lose nor repeat rows."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.datasource import ReadAllAvailable

from forklake import ColumnSpec, NewDataFile, Session
from forklake.delta.mirror_writer import mirror_catalog
from forklake.delta.publication import publish_table
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.files.footers import leaf_fields, new_data_file, read_footer
from forklake.model.changes import ChangeKind
from forklake.session.places import Place
from pyspark_forklake.datasource import ForklakeSource
from pyspark_forklake.streaming import StreamReader
from tests.spark.builders import add_file, delete_rows, insert, rows_of, write_parquet

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("name", "varchar")]
EVERYTHING = ReadAllAvailable()
NOW = {"availableNow": True}


def people(*ids: int) -> list[dict[str, Any]]:
    """Return rows with a number and a name."""
    return [{"id": one, "name": f"n{one}"} for one in ids]


def pairs(*ids: int) -> list[tuple[Any, ...]]:
    """Return the rows of `people` as they are read."""
    return sorted(((one, f"n{one}") for one in ids), key=repr)


def head(lake: Session, alias: str = "lake") -> int:
    """Return the newest snapshot."""
    return lake.attachment(alias).catalog.current_snapshot()


def files_on_disk(lake: Session) -> list[Path]:
    """Return the paths of all data files of the lake."""
    return sorted(Path(lake.attachment("lake").data_path).rglob("*.parquet"))


class Stream:
    """A stream in this process: the reader that Spark would call, without Spark."""

    def __init__(self, metadata: str, table: str = "t", catalog: str = "sales", **further: object):
        given = {"uri": metadata, "catalog": catalog, "table": table, **further}
        source = ForklakeSource({name: str(value) for name, value in given.items()})
        reader = source.streamReader(source.schema())
        assert isinstance(reader, StreamReader)
        self.reader = reader
        self.offset: dict[str, int] | None = None

    def batch(self) -> list[tuple[Any, ...]]:
        """Return the rows of the next batch, empty if there are no new ones."""
        start = self.offset or self.reader.initialOffset()
        self.offset = self.reader.latestOffset(start, EVERYTHING)
        return self.between(start, self.offset)

    def between(self, start: dict[str, int], end: dict[str, int]) -> list[tuple[Any, ...]]:
        """Return the rows from one offset to another."""
        parts = self.reader.partitions(start, end)
        batches = [batch for part in parts for batch in self.reader.read(part)]
        rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        return sorted(rows, key=repr)


# Through Spark


@pytest.mark.slow
def test_a_stream_continues_from_its_checkpoint_and_a_repeated_batch_changes_nothing(
    lake: Session, tmp_path: Path
) -> None:
    lake.attachment("lake").catalog.set_option("data_inlining_row_limit", 0)
    for name in ("t", "u", "v"):
        lake.create_table(name, COLUMNS)
    catalog = lake.attachment("lake").catalog
    for name in ("u", "v"):
        publish_table(catalog, name, "main", str(tmp_path / "delta" / name))
    add_file(lake, "t", people(1, 2))

    def native() -> str:
        rows = lake.read_stream("t")
        query = lake.write_stream(rows, "u", checkpoint=str(tmp_path / "native"), trigger=NOW)
        query.awaitTermination()
        return str(query.id)

    def by_format() -> str:
        rows = lake.read_stream("t", maxSnapshotsPerTrigger=1)
        place = Place.attached(lake.resolve("v"))
        writer = rows.writeStream.format("forklake").options(**place.options())
        checkpoint = str(tmp_path / "format")
        query = writer.option("checkpointLocation", checkpoint).trigger(**NOW).start()
        query.awaitTermination()
        return str(query.id)

    for run, table, folder in ((native, "u", "native"), (by_format, "v", "format")):
        run()
        assert rows_of(lake.table(table)) == rows_of(lake.table("t"))
        new = 10 + len(rows_of(lake.table("t")))
        add_file(lake, "t", people(new))
        add_file(lake, "t", people(new + 1))
        run()
        assert rows_of(lake.table(table)) == rows_of(lake.table("t"))
        before, files = rows_of(lake.table(table)), files_on_disk(lake)
        forget_last_commit(tmp_path / folder)
        query_id = run()
        assert rows_of(lake.table(table)) == before
        assert files_on_disk(lake) == files
        mirror_catalog(catalog)
        reported = DeltaTable(str(tmp_path / "delta" / table))
        assert reported.to_pyarrow_table().num_rows == len(before)
        assert (reported.transaction_version(query_id) or 0) > 0


@pytest.mark.slow
@pytest.mark.parametrize("by_format", [False, True], ids=["native", "format"])
def test_batch_repeated_after_its_snapshot_expired_changes_nothing(
    lake: Session, tmp_path: Path, by_format: bool
) -> None:
    uri = lake.attachment("lake").uri
    lake.attachment("lake").metastore.create_catalog("source", data_path=str(tmp_path / "source"))
    lake.attach(uri, "source", catalog="source")
    lake.create_table("source.t", COLUMNS)
    lake.create_table("u", COLUMNS)

    def run() -> None:
        rows = lake.read_stream("source.t", maxSnapshotsPerTrigger=1)
        checkpoint = str(tmp_path / "checkpoint")
        if by_format:
            place = Place.attached(lake.resolve("u"))
            writer = rows.writeStream.format("forklake").options(**place.options())
            query = writer.option("checkpointLocation", checkpoint).trigger(**NOW).start()
        else:
            query = lake.write_stream(rows, "u", checkpoint=checkpoint, trigger=NOW)
        query.awaitTermination()

    for name in (1, 2):
        add_file(lake, "source.t", people(name))
        run()
    add_file(lake, "u", people(3))
    assert lake.attachment("lake").catalog.expire_snapshots(older_than=timedelta(0))
    lake.sql("CREATE OR REPLACE TABLE u AS SELECT * FROM u")  # gives the table another id
    before = rows_of(lake.table("u"))
    forget_last_commit(tmp_path / "checkpoint")
    run()
    assert rows_of(lake.table("u")) == before


def forget_last_commit(checkpoint: Path) -> None:
    """Remove the last commit, as if Spark had died after a batch and before it recorded the end."""
    done = sorted(
        (one for one in (checkpoint / "commits").iterdir() if one.name.isdigit()),
        key=lambda one: int(one.name),
    )
    assert len(done) > 1
    done[-1].unlink()
    (done[-1].parent / f".{done[-1].name}.crc").unlink()


def test_a_stream_of_inserts_fails_on_deletes_and_a_feed_shows_them(
    lake: Session, tmp_path: Path
) -> None:
    lake.create_table("t", COLUMNS)
    file = add_file(lake, "t", people(1, 2))
    start = head(lake)
    delete_rows(lake, "t", {file: [1]})

    def collected(rows: DataFrame, name: str) -> list[tuple[Any, ...]]:
        query = rows.writeStream.format("memory").queryName(name).trigger(**NOW).start()
        query.awaitTermination()
        return rows_of(lake.engine.spark.table(name))

    feed = lake.read_stream("t", readChangeFeed=True, startingVersion=start)
    assert collected(feed, "feed") == [
        (1, "n1", "insert", start, 0),
        (2, "n2", "delete", start + 1, 1),
        (2, "n2", "insert", start, 1),
    ]
    with pytest.raises(StreamingQueryException, match="deleted or updated rows of table"):
        collected(lake.read_stream("t", startingVersion=start), "inserts")


# Offsets


def test_a_stream_begins_with_the_whole_table_then_reads_what_is_inserted(
    lake: Session, metadata: str
) -> None:
    lake.create_table("t", COLUMNS)
    file = add_file(lake, "t", people(1, 2))
    insert(lake, "t", people(3))
    delete_rows(lake, "t", {file: [0]})
    stream = Stream(metadata)
    assert stream.batch() == pairs(2, 3)
    assert stream.batch() == []
    add_file(lake, "t", people(4))
    insert(lake, "t", people(5))
    begin = stream.offset
    assert stream.batch() == pairs(4, 5)
    lake.create_table("other", COLUMNS)
    end = stream.offset
    assert stream.batch() == []
    assert stream.offset == end  # changes of other tables make no batches
    again = Stream(metadata)
    assert begin is not None
    assert end is not None
    assert again.between(begin, end) == pairs(4, 5)
    assert again.between(again.reader.initialOffset(), begin) == pairs(2, 3)
    stream.reader.stop()


def test_streams_begin_at_the_given_start(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    add_file(lake, "t", people(2))
    second = head(lake)
    add_file(lake, "t", people(3))
    assert Stream(metadata, startingVersion=second).batch() == pairs(2, 3)
    assert Stream(metadata, startingVersion=1).batch() == pairs(1, 2, 3)
    latest = Stream(metadata, startingVersion="latest")
    assert latest.batch() == []
    add_file(lake, "t", people(4))
    assert latest.batch() == pairs(4)
    with pytest.raises(NotFound, match="Snapshot 1000, at which the stream should start"):
        Stream(metadata, startingVersion=1000).batch()
    with pytest.raises(InvalidInput, match="startingVersion cannot be 'soon'"):
        Stream(metadata, startingVersion="soon").batch()


def test_batches_are_limited_and_end_at_the_initial_head(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    first = head(lake)
    for number in (1, 2, 3):
        add_file(lake, "t", people(number))
    stream = Stream(metadata, startingVersion=first, maxSnapshotsPerTrigger=2)
    stream.reader.prepareForTriggerAvailableNow()
    assert stream.batch() == pairs(1, 2)
    add_file(lake, "t", people(4))
    assert stream.batch() == pairs(3)
    assert stream.batch() == []
    for most in ("0", "many"):
        with pytest.raises(InvalidInput, match="maxSnapshotsPerTrigger cannot be"):
            Stream(metadata, maxSnapshotsPerTrigger=most)


def test_deletes_and_changes_are_ignored_with_the_option(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    file = add_file(lake, "t", people(1, 2))
    first = head(lake)
    delete_rows(lake, "t", {file: [0]})
    assert Stream(metadata, startingVersion=first, ignoreDeletes=True).batch() == pairs(1, 2)
    lake.update("t", {"name": "'new'"}, "id = 2")
    with pytest.raises(InvalidInput, match="Set the option ignoreChanges"):
        Stream(metadata, startingVersion=first, ignoreDeletes=True).batch()
    changed = Stream(metadata, startingVersion=first, ignoreChanges=True).batch()
    assert changed == [*pairs(1, 2), (2, "new")]


# The feed


@pytest.mark.parametrize("limit", [0, 10])
def test_a_feed_pairs_the_versions_of_updated_rows(
    lake: Session, metadata: str, limit: int
) -> None:
    lake.attachment("lake").catalog.set_option("data_inlining_row_limit", limit)
    lake.create_table("t", COLUMNS)
    start = head(lake) + 1
    lake.write(lake.engine.spark.range(1, 4).selectExpr("id", "'a' AS name").coalesce(1), "t")
    lake.update("t", {"name": "'b'"}, "id >= 2")
    lake.delete("t", "id = 2")
    rows = Stream(metadata, readChangeFeed=True, startingVersion=start).batch()
    expected = lake.table_changes("t", start, head(lake))
    shown = expected.select("id", "name", "change_type", "snapshot_id", "rowid")
    assert rows == rows_of(shown)
    assert [row[2] for row in rows].count("update_postimage") == 2
    whole = Stream(metadata, readChangeFeed=True).batch()
    assert [row[:3] for row in whole] == [(1, "a", "insert"), (3, "b", "insert")]


def test_compaction_does_not_appear_in_a_feed(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    start = head(lake) + 1
    add_file(lake, "t", people(1))
    add_file(lake, "t", people(2))
    stream = Stream(metadata, readChangeFeed=True, startingVersion=start)
    assert len(stream.batch()) == 2
    place = lake.resolve("t")
    with lake.changing(place.attachment) as change:
        table = lake.find_table(change.transaction, place)
        merged = merged_file(lake, change.transaction.state.fields(table), start)
        files = change.transaction.data_files(table)
        change.transaction.compact(table, ChangeKind.MERGED, files=files, data_files=[merged])
    assert rows_of(lake.table("t")) == pairs(1, 2)
    assert stream.batch() == []
    assert len(Stream(metadata, readChangeFeed=True, startingVersion=start).batch()) == 2
    assert Stream(metadata, startingVersion=start).batch() == pairs(1, 2)
    assert Stream(metadata).batch() == pairs(1, 2)


def merged_file(lake: Session, fields: Any, start: int) -> NewDataFile:
    """Write the two files of one row each as one file, whose rows have their ids and snapshots."""
    import pyarrow as pa

    place = lake.resolve("t")
    path = f"{place.attachment.folder(lake.viewing(place.attachment).state, _table(lake))}m.parquet"
    full = place.attachment.located(path)
    rows = pa.Table.from_pylist(people(1, 2))
    rows = rows.append_column("_ducklake_internal_row_id", pa.array([0, 1]))
    rows = rows.append_column("_ducklake_internal_snapshot_id", pa.array([start, start + 1]))
    write_parquet(full, rows)
    footer = read_footer(full, leaf_fields(fields))
    return new_data_file(footer, path=path, row_ids=False)


def _table(lake: Session) -> Any:
    place = lake.resolve("t")
    return lake.find_table(lake.viewing(place.attachment), place)


# Forks and ended streams


def test_a_fork_also_streams_the_history_of_its_parent(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    first = head(lake)
    add_file(lake, "t", people(1))
    lake.fork("lake", "child", attach_as="child")
    add_file(lake, "t", people(2))
    add_file(lake, "child.main.t", people(3))
    assert Stream(metadata, catalog="child", startingVersion=first).batch() == pairs(1, 3)
    assert Stream(metadata, catalog="child").batch() == pairs(1, 3)
    assert Stream(metadata, startingVersion=first).batch() == pairs(1, 2)


def test_dropped_replaced_and_altered_tables_end_a_stream(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    stream, other = Stream(metadata), Stream(metadata)
    stream.batch()
    lake.add_column("t", "more", "int32", default="7")
    with pytest.raises(InvalidInput, match="have changed"):
        stream.batch()
    again = Stream(metadata)
    again.offset = stream.offset
    add_file(lake, "t", people(2))
    assert again.batch() == [(2, "n2", None)]
    assert again.between(again.reader.initialOffset(), stream.offset or {}) == [(1, "n1", 7)]
    lake.create_table("t", COLUMNS, or_replace=True)
    with pytest.raises(NotFound, match="was dropped while a stream was reading it"):
        again.batch()
    replaced = Stream(metadata)
    replaced.offset = again.offset
    with pytest.raises(InvalidInput, match="checkpoint belongs to a former table"):
        replaced.batch()
    other.reader.stop()


def test_an_expired_start_snapshot_is_an_error(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    stream = Stream(metadata)
    stream.batch()
    expired = head(lake)
    add_file(lake, "t", people(2))
    catalog = lake.attachment("lake").catalog
    with catalog.database.writing() as connection:
        connection.fetch("DELETE FROM ducklake_snapshot WHERE snapshot_id = :at", at=expired)
        connection.commit([])
    with pytest.raises(NotFound, match=f"Snapshot {expired} of 'lake.main.t'.* has expired"):
        stream.batch()


def test_unsupported_streams_are_refused_at_the_start(
    lake: Session, session: Session, tmp_path: Path
) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("rowid", "int64")])
    with pytest.raises(NotFound, match=r"'lake\.main\.nothing' does not exist"):
        lake.read_stream("nothing")
    with pytest.raises(NotFound, match=r"'lake\.main\.nothing' does not exist"):
        lake.stream_writer("nothing")
    with pytest.raises(InvalidInput, match="has a column 'rowid', which is also"):
        Stream(lake.attachment("lake").uri, readChangeFeed=True)
    session.attach(
        f"ducklake:duckdb:{tmp_path / 'meta.duckdb'}",
        "ducks",
        catalog="c",
        data_path=str(tmp_path / "files"),
        create_if_not_exists=True,
    )
    session.create_table("ducks.main.t", COLUMNS)
    with pytest.raises(Unsupported, match="other processes cannot open"):
        session.read_stream("ducks.main.t")
