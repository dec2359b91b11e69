"""The mirror: what it writes, and how it treats the commits of other writers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

import forklake
from forklake import Catalog, Metastore
from forklake.delta.actions import Protocol
from forklake.delta.description import GUARD, DescriptionBuilder
from forklake.delta.publication import publish_table
from forklake.delta.table_import import import_delta
from forklake.delta.takeover import take_over
from forklake.errors import Conflict, NotFound, Unsupported
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import DeltaTable as Face
from forklake.model.ids import TableId
from tests.concurrency.interruptions import once_at
from tests.delta.mirrored import (
    append,
    commit_info,
    end_oldest,
    log_actions,
    logged_versions,
    make_catalog,
    mirror,
    new_file,
    status_of,
    versions_of,
)
from tests.delta.readers import read_everywhere


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    """Yield a metastore in a file."""
    with forklake.open(f"ducklake:sqlite:{tmp_path / 'meta.db'}", create=True) as found:
        yield found


@pytest.fixture
def catalog(metastore: Metastore, tmp_path: Path) -> Catalog:
    """Return a catalog whose table `orders` is mirrored to the folder `root`."""
    return make_catalog(metastore, tmp_path, "orders")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the published root of the table."""
    return tmp_path / "delta" / "orders"


def rows(*numbers: int) -> Counter[Any]:
    """Return the rows of these numbers."""
    return Counter((number, f"n{number}") for number in numbers)


def checkpoint(root: Path, version: int, kind: str) -> list[dict[str, Any]]:
    """Return the actions of one kind in a checkpoint."""
    path = root / "_delta_log" / f"{version:020d}.checkpoint.parquet"
    return [one for one in pq.read_table(path)[kind].to_pylist() if one is not None]


# Other writers at the log


def test_a_version_committed_by_another_writer_is_never_overwritten(
    catalog: Catalog, root: Path
) -> None:
    append(catalog, ["orders"], 1)
    foreign = root / "_delta_log" / f"{1:020d}.json"
    foreign.write_text('{"commitInfo":{"operation":"WRITE","engineInfo":"other"}}\n')
    for _ in range(2):
        with pytest.raises(Conflict, match=r"Version 1 .*engine 'other'"):
            mirror(catalog, "orders")
        append(catalog, ["orders"], 2)
        status = status_of(catalog, "orders")
        assert (status.state, status.mirrored_version) == ("DIVERGED", 0)
        assert status.last_error is not None
        assert "engine 'other'" in status.last_error
    assert "other" in foreign.read_text()
    assert len(list((root / "_delta_log").glob("*.json"))) == 2
    foreign.unlink()
    mirror(catalog, "orders")
    assert status_of(catalog, "orders").state == "CURRENT"
    assert logged_versions(root) == versions_of(catalog, "orders")


def test_a_taken_over_table_refuses_other_writers(metastore: Metastore, tmp_path: Path) -> None:
    place = tmp_path / "foreign"
    data = pa.table({"id": [1, 2], "name": ["n1", "n2"]})
    write_deltalake(place, data, configuration={"delta.checkpointInterval": "2"})
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(place), "orders")
    take_over(catalog, catalog.now().state.table("orders"))
    with pytest.raises(deltalake.exceptions.DeltaError, match=GUARD):
        write_deltalake(place, data, mode="append")
    append(catalog, ["orders"], 3)
    mirror(catalog, "orders")
    assert checkpoint(place, 2, "add")
    for name, found in read_everywhere(str(place)).items():
        assert found == rows(1, 2, 3), name


def test_an_interrupted_takeover_is_finished_by_the_mirror(
    metastore: Metastore, tmp_path: Path
) -> None:
    place = tmp_path / "foreign"
    data = pa.table({"id": [1], "name": ["n1"]})
    write_deltalake(place, data)
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(place), "orders")
    table = catalog.now().state.table("orders")
    write_deltalake(place, data, mode="append")
    with pytest.raises(Conflict, match="has newer versions than 0"):
        take_over(catalog, table)
    import_delta(catalog, str(place), "orders")

    def stop() -> None:
        raise KeyboardInterrupt

    with once_at("commit.committed", stop), pytest.raises(KeyboardInterrupt):
        take_over(catalog, table)
    assert len(list((place / "_delta_log").glob("*.json"))) == 2
    mirror(catalog, "orders")
    status = status_of(catalog, "orders")
    assert (status.state, status.mirrored_version) == ("CURRENT", 2)
    assert GUARD in (DeltaTable(place).protocol().writer_features or [])


# Contents of the log


def test_a_checkpoint_agrees_with_the_commits(catalog: Catalog, root: Path) -> None:
    for number in range(9):
        append(catalog, ["orders"], number)
    end_oldest(catalog, "orders")
    mirror(catalog, "orders")
    commits = [one for version in range(11) for one in log_actions(root, version)]
    adds = {one["add"]["path"]: one["add"] for one in commits if "add" in one}
    (gone,) = [one["remove"] for one in commits if "remove" in one]
    live = {one["path"]: one for one in checkpoint(root, 10, "add")}
    assert live.keys() == adds.keys() - {gone["path"]}
    for path, one in live.items():
        for name in ("size", "modificationTime", "stats"):
            assert one[name] == adds[path][name], name
    (tombstone,) = checkpoint(root, 10, "remove")
    for name in ("path", "deletionTimestamp", "size", "extendedFileMetadata"):
        assert tombstone[name] == gone[name], name
    for version in range(10):
        (root / "_delta_log" / f"{version:020d}.json").unlink()
    for name, found in read_everywhere(str(root)).items():
        assert found == rows(*range(1, 9)), name


def test_removed_files_are_kept_in_checkpoints_for_the_configured_time(
    metastore: Metastore, tmp_path: Path
) -> None:
    place = tmp_path / "foreign"
    settings = {
        "delta.checkpointInterval": "4",
        "delta.deletedFileRetentionDuration": "interval 1 millisecond",
    }
    write_deltalake(place, pa.table({"id": [1], "name": ["n1"]}), configuration=settings)
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(place), "orders")
    take_over(catalog, catalog.now().state.table("orders"))
    end_oldest(catalog, "orders")
    append(catalog, ["orders"], 2)
    end_oldest(catalog, "orders")  # version 4: the other tombstones have expired
    mirror(catalog, "orders")
    (gone,) = checkpoint(place, 4, "remove")
    assert gone["path"] == next(
        one["remove"]["path"] for one in log_actions(place, 4) if "remove" in one
    )


def test_a_new_log_begins_after_the_expired_versions(metastore: Metastore, tmp_path: Path) -> None:
    catalog = make_catalog(metastore, tmp_path, "orders")
    for number in range(3):
        append(catalog, ["orders"], number)
    end_oldest(catalog, "orders")
    snapshots = [one.snapshot_id for one in catalog.snapshots()]
    catalog.expire_snapshots(versions=[int(one) for one in snapshots[1:-2]])
    with pytest.raises(NotFound, match="expired before it was mirrored"):
        mirror(catalog, "orders")
    assert status_of(catalog, "orders").state == "FAILED"
    fork = metastore.fork("sales", "fork")
    place = tmp_path / "delta" / "fork"
    publish_table(fork, "orders", "main", str(place))
    assert [version for version, _ in logged_versions(place)] == [3, 4, 5]
    for name, found in read_everywhere(str(place)).items():
        assert found == rows(1, 2), name


def test_the_protocol_is_never_downgraded(catalog: Catalog) -> None:
    state = catalog.now().state
    fields = state.fields(state.table("orders"))
    face = Face(table_id=TableId(1), delta_id="x", location="/t", mode=FaceMode.OWN)
    newer = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=frozenset({"deletionVectors", "v2Checkpoint"}),
        writer_features=frozenset({"deletionVectors", "v2Checkpoint", "appendOnly"}),
    )
    for stated in (newer, Protocol(min_reader_version=2, min_writer_version=6), None):
        description = DescriptionBuilder(fields, face, stated, None)
        metadata = description.build_metadata("orders", 1)
        result = description.build_protocol(metadata, has_vectors=False)
        assert result.writer_features is not None
        assert GUARD in result.writer_features
        before = stated or Protocol(min_reader_version=1, min_writer_version=1)
        assert result.min_reader_version >= before.min_reader_version
        assert result.writer_features >= (before.writer_features or set())
        assert (result.reader_features or set()) >= (before.reader_features or set())
        again = DescriptionBuilder(fields, face, result, metadata)
        assert again.build_protocol(metadata, has_vectors=False) == result
        assert again.build_metadata("other", 2) == metadata


# Other logs at other places


def test_the_published_fork_of_an_imported_table_repeats_its_log(
    metastore: Metastore, tmp_path: Path
) -> None:
    place, other = tmp_path / "foreign", tmp_path / "fork"
    data = pa.table({"id": [1, 2, 3], "name": ["n1", "n2", "n3"], "part": ["a", "a", "c"]})
    settings = {"delta.enableChangeDataFeed": "true"}
    write_deltalake(place, data, partition_by=["part"], configuration=settings)
    DeltaTable(place).update({"name": "'x'"}, predicate="id = 1")
    done = CommitProperties(app_transactions=[Transaction("app", 7)])
    write_deltalake(place, data, mode="append", commit_properties=done)
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(place), "orders")
    fork = metastore.fork("sales", "fork")
    publish_table(fork, "orders", "main", str(other))
    table = DeltaTable(other)
    assert (table.version(), table.transaction_version("app")) == (3, 7)
    assert table.metadata().id != DeltaTable(place).metadata().id
    for version in range(3):
        assert read_everywhere(str(other), version) == read_everywhere(str(place), version)
    changed = [
        sorted(map(str, pa.table(one.load_cdf(1, 1)).drop(["_commit_timestamp"]).to_pylist()))
        for one in (table, DeltaTable(place))
    ]
    assert changed[0] == changed[1]
    assert len(changed[0]) == 2
    (metadata,) = {
        json.dumps(one["metaData"]) for one in log_actions(other, 0) if "metaData" in one
    }
    assert not [
        one for version in (1, 2, 3) for one in log_actions(other, version) if "metaData" in one
    ]
    assert str(table.metadata().id) in metadata


def test_encrypted_files_cannot_be_published(metastore: Metastore, tmp_path: Path) -> None:
    catalog = make_catalog(metastore, tmp_path, "orders")
    file = new_file(catalog, "orders", [1])
    with catalog.transaction() as transaction:
        secret = forklake.NewDataFile(
            file.path, file.record_count, file.file_size_bytes, encryption_key="key"
        )
        transaction.add_data_files(transaction.table("orders"), [secret])
    with pytest.raises(Unsupported, match="encrypted"):
        mirror(catalog, "orders")
    status = status_of(catalog, "orders")
    assert (status.state, status.mirrored_version) == ("FAILED", 0)
    assert commit_info(tmp_path / "delta" / "orders", 0)["operation"]
