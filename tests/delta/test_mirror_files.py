"""Files of a mirror: created exactly once, linked, and read alike by other readers."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, ClassVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.delta.actions import (
    CommitInfo,
    DomainMetadata,
    Txn,
)
from forklake.delta.log.delta_log import DeltaLog
from forklake.delta.log.paths import canonical_path
from forklake.delta.log.replay import replay
from forklake.delta.mirror.checkpoint_rows import FILES
from forklake.delta.mirror.checkpoints import CheckpointState, checkpoint_path, write_checkpoint
from forklake.delta.mirror.commits import commit_path, encode_commit, write_commit
from forklake.delta.mirror.links import link_missing_files, relative_uri
from forklake.errors import Conflict, Forbidden, InvalidInput, NotFound, Unsupported
from forklake.files.conditional_put import create, put, put_if_absent
from forklake.files.vectors import inline_vector, vector_in_file, write_vector
from tests.concurrency.processes import in_processes
from tests.delta.racing import contents, put_all
from tests.delta.readers import Rows, read_everywhere
from tests.delta.tables import (
    METADATA,
    PROTOCOL,
    REGIONS,
    WITH_VECTORS,
    Table,
    described,
    info,
    removal,
    state,
)

# Putting

WRITERS, NAMES = 8, 500


def test_exactly_one_of_many_writers_creates_a_file_completely(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    won = in_processes([partial(put_all, str(folder), writer, NAMES) for writer in range(WRITERS)])
    assert sorted(number for numbers in won for number in numbers) == list(range(NAMES))
    assert sum(map(bool, won)) > 1  # the writers raced
    for writer, numbers in enumerate(won):
        assert all((folder / str(number)).read_bytes() == contents(writer) for number in numbers)
    assert len(os.listdir(folder)) == NAMES  # no temporary files are left


def test_a_file_is_created_completely_or_not_at_all(tmp_path: Path) -> None:
    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        create(f"{tmp_path}/new", fail)
    assert os.listdir(tmp_path) == []
    put(f"file://{tmp_path}/a%20b", b"one")
    put(f"{tmp_path}/a b", b"two")
    assert not put_if_absent(f"{tmp_path}/a b", b"three")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a b": b"two"}


class Bucket(BaseHTTPRequestHandler):
    """A minimal object store for conditional puts."""

    objects: ClassVar[dict[str, bytes]] = {}

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        is_taken = self.headers["If-None-Match"] == "*" and self.path in self.objects
        status = 403 if self.path.endswith("/mine") else 412 if is_taken else 200
        if status == 200:
            self.objects[self.path] = data
        self.send_response(status)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URI of an empty bucket."""
    with HTTPServer(("127.0.0.1", 0), Bucket) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.setenv(name, "test")
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"s3://b{uuid4()}"
        server.shutdown()
        thread.join()


def test_puts_to_an_object_store_are_conditional(bucket: str) -> None:
    assert put_if_absent(f"{bucket}/a/b.json", b"one")
    assert not put_if_absent(f"{bucket}/a/b.json", b"two")
    path = f"/{bucket.removeprefix('s3://')}/a/b.json"
    assert Bucket.objects[path] == b"one"
    put(f"{bucket}/a/b.json", b"three")
    assert Bucket.objects[path] == b"three"
    with pytest.raises(Forbidden, match="mine"):
        put_if_absent(f"{bucket}/mine", b"")


def test_stores_without_conditional_puts_are_refused() -> None:
    with pytest.raises(Unsupported, match="ftp"):
        put_if_absent("ftp://host/x", b"")


# Commits


def test_commits_are_serialized_deterministically() -> None:
    txn = Txn(app_id="näh\n", version=7)
    assert encode_commit([txn, info("k", timestamp=5)]).decode() == (
        '{"commitInfo":{"operation":"WRITE","engineInfo":"test","txnId":"k","timestamp":5}}\n'
        '{"txn":{"appId":"näh\\n","version":7}}\n'
    )
    with pytest.raises(InvalidInput, match="surrogate character"):
        encode_commit([replace(txn, app_id="\ud800")])


def test_repeated_attempts_publish_a_commit_once(tmp_path: Path) -> None:
    first = write_commit(str(tmp_path), 3, [info("a"), Txn(app_id="x", version=1)])
    again = write_commit(str(tmp_path), 3, [info("a"), Txn(app_id="x", version=2)])
    assert first.path == commit_path(str(tmp_path), 3)
    assert (first.is_new, again) == (True, replace(first, is_new=False))
    assert b'"version":1' in Path(first.path).read_bytes()


@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        (encode_commit([Txn(app_id="x", version=1), info("other", engineInfo="Elk/9")]), "Elk/9"),
        (json.dumps(info("other").to_json(), indent=2).encode(), "'other'"),
        (b"", "None"),
        (b'{"txn": half', "None"),
    ],
)
def test_the_commit_of_another_writer_is_named_and_kept(
    tmp_path: Path, theirs: bytes, named: str
) -> None:
    put(commit_path(str(tmp_path), 0), theirs)
    with pytest.raises(Conflict, match=named) as caught:
        write_commit(str(tmp_path), 0, [info("mine")])
    assert caught.value.details["version"] == 0
    assert Path(commit_path(str(tmp_path), 0)).read_bytes() == theirs


@pytest.mark.parametrize("infos", [[], [info(None)], [info("a"), info("b")]])
def test_a_commit_without_a_unique_key_is_refused(tmp_path: Path, infos: list[CommitInfo]) -> None:
    with pytest.raises(InvalidInput, match="txnId"):
        write_commit(str(tmp_path), 0, infos)
    assert os.listdir(tmp_path) == []


# Names and links


@given(st.lists(st.text(min_size=1).filter(lambda s: "/" not in s and s not in {".", ".."})))
def test_paths_round_trip_through_uris(names: list[str]) -> None:
    path = "/".join([*names, "part-0.parquet"])
    uri = relative_uri(path)
    assert uri.isascii()
    assert not set(uri) & set(' :?#"<>[]{}|\\^`+')
    assert canonical_path(uri) == path


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "a/..", "./a"])
def test_a_path_outside_of_the_root_has_no_relative_uri(path: str) -> None:
    with pytest.raises(InvalidInput, match="root"):
        relative_uri(path)


def test_escaped_folder_names_are_escaped_again() -> None:
    assert relative_uri("region=us %2F x/ü.parquet") == "region=us%20%252F%20x/%C3%BC.parquet"


def test_a_file_on_another_disk_is_copied(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        if os.stat(other).st_dev == tmp_path.stat().st_dev:
            pytest.skip("there is only one disk")
        (tmp_path / "a").write_bytes(b"xyz")
        assert link_missing_files([(f"{tmp_path}/a", f"{other}/b")]) == 1
        assert link_missing_files([(f"{tmp_path}/a", f"{other}/b")]) == 0
        assert Path(other, "b").read_bytes() == b"xyz"
        assert os.listdir(other) == ["b"]


def test_links_never_replace_other_files(tmp_path: Path) -> None:
    for name in ("a b", "c"):
        (tmp_path / name).write_bytes(b"xyz")
    pairs = [(f"{tmp_path}/{name}", f"{tmp_path}/root/p=1/{name}") for name in ("a b", "c")]
    assert link_missing_files(pairs) == 2
    assert link_missing_files(pairs) == 0
    assert (tmp_path / "root/p=1/c").samefile(tmp_path / "c")
    (tmp_path / "c2").write_bytes(b"longer")
    with pytest.raises(Conflict, match="sizes are not equal"):
        link_missing_files([(f"{tmp_path}/c2", pairs[1][1])])
    with pytest.raises(NotFound, match="never was"):
        link_missing_files([(f"{tmp_path}/never was", f"{tmp_path}/root/d")])
    assert (tmp_path / "root/p=1/c").read_bytes() == b"xyz"


# Tables


def find_disagreeing_readers(
    table: Table, expected: Rows | None = None, version: int | None = None
) -> Mapping[str, Any]:
    """Return the readers that do not see the expected rows of a table, with their results."""
    wanted = table.expected() if expected is None else expected
    answers = read_everywhere(str(table.root), version)
    return {name: rows for name, rows in answers.items() if rows != wanted}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Return an empty table."""
    return Table(tmp_path / "table")


def test_all_readers_agree_on_commits_and_on_the_checkpoint_alone(table: Table) -> None:
    first = [table.write(region, range(10 * n, 10 * n + 4)) for n, region in enumerate(REGIONS)]
    table.commit(PROTOCOL, METADATA, *first)
    before = table.expected()
    assert sum(before.values()) == 20
    table.commit(
        removal(first[0]), table.write("us / x", range(90, 95)), Txn(app_id="stream", version=7)
    )
    assert find_disagreeing_readers(table, before, version=0) == {}
    assert find_disagreeing_readers(table) == {}
    written = write_checkpoint(
        str(table.root), 1, state(table, transactions=[Txn(app_id="stream", version=7)])
    )
    table.hide_commits()
    assert find_disagreeing_readers(table) == {}
    ours = replay(DeltaLog(str(table.root)).open())
    assert {added.path for added in ours.adds.values()} == set(table.live)
    assert (written.file_count, written.action_count) == (5, 9)
    hint = json.loads((table.root / "_delta_log/_last_checkpoint").read_text())
    size = Path(checkpoint_path(str(table.root), 1)).stat().st_size
    assert hint == {"version": 1, "size": 9, "sizeInBytes": size, "numOfAddFiles": 5}
    table.commit(table.write(None, range(100, 103)))  # a commit after a checkpoint
    assert find_disagreeing_readers(table) == {}


def test_all_readers_but_one_agree_on_deletion_vectors(table: Table) -> None:
    in_file, in_log = table.write("plain", range(6)), table.write(None, range(10, 16))
    number = uuid4()
    data = write_vector([0, 5])
    (table.root / f"deletion_vector_{number}.bin").write_bytes(data)
    table.commit(WITH_VECTORS, METADATA, in_file, in_log)
    for added, vector in ((in_file, vector_in_file(number, data)), (in_log, inline_vector([1]))):
        table.commit(removal(added), replace(added, deletion_vector=described(vector)))
    table.rows[in_file.path] = table.rows[in_file.path].slice(1, 4)
    table.rows[in_log.path] = table.rows[in_log.path].take([0, 2, 3, 4, 5])
    # This reader refuses deletion vectors.
    assert set(find_disagreeing_readers(table)) == {"deltalake and pyarrow"}
    write_checkpoint(str(table.root), 2, state(table, WITH_VECTORS))
    table.hide_commits()
    assert set(find_disagreeing_readers(table)) == {"deltalake and pyarrow"}


# Checkpoints


def test_a_checkpoint_contains_the_complete_state(table: Table) -> None:
    added = replace(
        table.write(None, range(2)),
        tags={"k": "v", "empty": None},
        base_row_id=40,
        default_row_commit_version=2,
        clustering_provider="elk",
    )
    table.commit(PROTOCOL, METADATA, added, table.write("us / x", range(2)))
    table.commit(removal(added), replace(added, path="again.parquet"))
    reported = state(
        table,
        WITH_VECTORS,
        transactions=[Txn(app_id="a", version=1), Txn(app_id="b", version=2, last_updated=3)],
        domains=[
            DomainMetadata(domain="kept", configuration="{}", removed=False),
            DomainMetadata(domain="gone", configuration="{}", removed=True),
        ],
    )
    write_checkpoint(str(table.root), 1, reported)
    rows = pq.read_table(checkpoint_path(str(table.root), 1)).to_pylist(maps_as_pydicts="strict")
    assert all(sum(value is not None for value in row.values()) == 1 for row in rows)
    found = [(kind, body) for row in rows for kind, body in row.items() if body is not None]
    kinds = Counter(kind for kind, _ in found)
    assert kinds == {"protocol": 1, "metaData": 1, "txn": 2, "domainMetadata": 1, "add": 2} | {
        "remove": 1
    }
    bodies = {kind: body for kind, body in found if kind != "add"}
    assert bodies["protocol"]["writerFeatures"] == sorted(WITH_VECTORS.writer_features or ())
    assert bodies["metaData"] == {"name": None, "description": None} | METADATA.to_body()
    assert bodies["domainMetadata"]["domain"] == "kept"
    again = next(body for kind, body in found if kind == "add" and "again" in body["path"])
    expected = replace(added, path="again.parquet", data_change=False).to_body()
    assert again == expected | {"deletionVector": None}
    tombstone = replace(removal(added), data_change=False).to_body()
    assert {name: bodies["remove"][name] for name in tombstone} == tombstone


def test_an_existing_checkpoint_is_kept_and_becomes_the_last_checkpoint(table: Table) -> None:
    table.commit(PROTOCOL, METADATA, table.write(None, range(2)))
    first = write_checkpoint(str(table.root), 0, state(table))
    hint = table.root / "_delta_log/_last_checkpoint"
    hint.unlink()
    before = Path(first.path).read_bytes()
    txns = [Txn(app_id="a", version=1)]
    assert write_checkpoint(str(table.root), 0, state(table, transactions=txns)) == first
    assert Path(first.path).read_bytes() == before
    assert json.loads(hint.read_text())["size"] == 3


def test_no_checkpoint_is_written_for_files_of_unknown_size(table: Table) -> None:
    batch = pa.RecordBatch.from_pylist([{"path": "a", "size": None}])
    with pytest.raises(InvalidInput, match="no value of 'partition_values'"):
        write_checkpoint(str(table.root), 0, CheckpointState(PROTOCOL, METADATA, [batch]))
    assert os.listdir(table.root / "_delta_log") == []


def test_many_files_are_written_in_row_groups(table: Table) -> None:
    count = 60_000
    batch = pa.RecordBatch.from_pydict(
        {
            "path": [f"{number}.parquet" for number in range(count)],
            "partition_values": pa.array([{}] * count, FILES.field("partition_values").type),
            "size": pa.repeat(1, count),
            "modification_time": pa.repeat(1, count),
        }
    )
    written = write_checkpoint(
        str(table.root), 0, CheckpointState(PROTOCOL, METADATA, [batch, batch])
    )
    assert written.file_count == 2 * count
    metadata = pq.read_metadata(written.path)
    groups = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert max(groups) < count / 2
