"""Writing to Delta tables: exactly once, and only to tables whose rules are supported."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from forklake.catalog.delta_tables import FaceReading
from forklake.delta.publication import publish_table
from forklake.delta.table_import import import_delta
from forklake.engines.spark.streams import QUERY_ID
from forklake.errors import Forbidden, Unsupported
from forklake.sql.session import Session
from tests.delta.hand_written import METADATA, HandWrittenLog
from tests.delta.mirrored import log_actions


@pytest.fixture
def published(lake: Session, tmp_path: Path) -> Session:
    """Return a lake with a Delta table t."""
    lake.execute("CREATE TABLE t (id BIGINT)")
    publish_table(lake.attachment("lake").catalog, "t", "main", str(tmp_path / "delta"))
    return lake


def versions(lake: Session) -> list[str]:
    """Return the operations of the versions of t."""
    view = lake.attachment("lake").catalog.now()
    return [one.operation for one in FaceReading(view, view.state.table("t")).versions()]


def test_an_application_version_is_written_once(published: Session) -> None:
    rows = published.sql("SELECT range AS id FROM range(3)")
    requested = [("one", 1), ("one", 1), ("one", 3), ("one", 2), ("two", 1)]
    written = [
        published.write_once(rows, "t", app_id=app, version=version) for app, version in requested
    ]
    assert written == [True, False, True, False, True]
    assert published.table("t").count() == 9
    assert versions(published) == ["SET TBLPROPERTIES", *["STREAMING UPDATE"] * 3]


def test_a_stream_batch_is_written_once_and_recorded_in_the_log(
    published: Session, tmp_path: Path
) -> None:
    rows = published.sql("SELECT range AS id FROM range(3)")
    write, context = published.stream_writer("t"), published.engine.spark.sparkContext
    context.setLocalProperty(QUERY_ID, "query")
    try:
        for batch in (0, 0, 1, 2, 1):
            write(rows.limit(0) if batch == 2 else rows, batch)
    finally:
        context.setLocalProperty(QUERY_ID, None)  # type: ignore[arg-type]
    assert published.table("t").count() == 6
    reported = DeltaTable(str(tmp_path / "delta"))
    assert (reported.version(), reported.transaction_version("query")) == (2, 1)
    by_version = [
        one["txn"]["version"] for at in (1, 2) for one in log_actions(tmp_path / "delta", at)[1:2]
    ]
    assert by_version == [0, 1]


def test_a_table_that_follows_a_foreign_log_cannot_be_changed(
    lake: Session, tmp_path: Path
) -> None:
    location = str(tmp_path / "foreign")
    write_deltalake(location, pa.table({"id": pa.array([7], pa.int64())}))
    import_delta(lake.attachment("lake").catalog, location, "t")
    before = versions(lake)
    with pytest.raises(Forbidden, match="Table 't' follows the Delta log at"):
        lake.execute("INSERT INTO t VALUES (1)")
    assert versions(lake) == before
    lake.fork("lake", "agent", attach_as="agent")
    lake.execute("INSERT INTO agent.t VALUES (1)")
    assert (lake.table("agent.t").count(), lake.table("t").count()) == (2, 1)


def test_a_table_with_unsupported_rules_cannot_be_changed(published: Session) -> None:
    published.execute("INSERT INTO t VALUES (7)")
    catalog = published.attachment("lake").catalog
    with catalog.transaction() as transaction:
        transaction.set_unwritable(transaction.table("t"), "It has conditions.")
    for change in ("INSERT INTO t VALUES (1)", "DELETE FROM t", "TRUNCATE t"):
        with pytest.raises(
            Unsupported, match=r"cannot be changed by Forklake\. It has conditions\."
        ):
            published.execute(change)
    assert published.table("t").count() == 1


def test_a_fork_of_a_table_with_unsupported_rules_cannot_be_changed(
    lake: Session, written: HandWrittenLog
) -> None:
    features = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["collations"]}
    written.commit(0, {"protocol": features}, METADATA)
    import_delta(lake.attachment("lake").catalog, str(written.root), "t")
    lake.fork("lake", "agent", attach_as="agent")
    with pytest.raises(Unsupported, match="collations"):
        lake.execute("INSERT INTO agent.t VALUES (-1)")
    assert lake.table("agent.t").count() == 0
