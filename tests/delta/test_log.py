"""Delta logs: versions in order, gaps, timestamps, and the resulting state."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from forklake.delta.actions import Add, CommitInfo, UnknownAction
from forklake.delta.log import commits, delta_log
from forklake.delta.log.delta_log import DeltaLog, LogVersion
from forklake.delta.log.paths import canonical_path, full_path
from forklake.delta.log.replay import LogState, replay
from forklake.errors import Corruption, NotFound
from tests.delta.hand_written import (
    FIRST,
    METADATA,
    PROTOCOL,
    HandWrittenLog,
    add,
    commit_info,
    remove,
    vector,
)


def open_log(written: HandWrittenLog) -> DeltaLog:
    return DeltaLog(str(written.root)).open()


def versions(written: HandWrittenLog, after: int = -1) -> list[LogVersion]:
    return list(open_log(written).versions(after))


def outline(found: list[LogVersion]) -> list[tuple[int, bool]]:
    return [(version.number, version.is_state) for version in found]


def paths(state: LogState) -> set[str]:
    return {path for path, _ in state.adds}


def set_modified(path: Path, seconds: int) -> None:
    os.utime(path, (seconds, seconds))


# Commits


def test_versions_come_in_order_with_their_actions(written: HandWrittenLog) -> None:
    written.commit(0, commit_info(5), *FIRST, add("a"), {"future": 1})
    written.commit(1)  # an empty commit is legal
    written.commit(2, remove("a"), add("b"))
    log = open_log(written)
    found = list(log.versions())
    assert outline(found) == [(0, False), (1, False), (2, False)]
    assert [one.kind for one in found[0].actions] == [
        *("commitInfo", "protocol", "metaData", "add", "future")
    ]
    assert tuple(found[0].actions)[-1] == UnknownAction("future", 1)
    assert found[0].commit_info == CommitInfo(extra={"timestamp": 5, "operation": "WRITE"})
    assert (log.first_version, log.latest_version) == (0, 2)
    assert outline(list(log.versions(after=1))) == [(2, False)]
    assert list(log.versions(after=2)) == []


def test_new_versions_are_seen_when_a_log_is_opened_again(written: HandWrittenLog) -> None:
    written.commit(0, *FIRST)
    log = open_log(written)
    written.commit(1, add("a"))
    assert log.latest_version == 0
    assert log.open().latest_version == 1
    assert outline(list(log.versions(after=0))) == [(1, False)]


def test_unrelated_files_are_ignored(written: HandWrittenLog) -> None:
    written.commit(0, *FIRST)
    (written.folder / "_staged_commits").mkdir()
    for name in (
        "00000000000000000001.crc",
        "00000000000000000000.00000000000000000004.compacted.json",
        "._00000000000000000009.json",
        "9.json",
        "00000000000000000005.checkpoint.json",
        "00000000000000000006.checkpoint.0000000001.0000000002.parquet",
        "_last_checkpoint",
        f"_staged_commits/{1:020d}.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json",
    ):
        written.file(name, "{")
    assert open_log(written).latest_version == 0


def test_json_is_parsed_as_a_stream_of_objects_in_any_layout(
    written: HandWrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads are a few bytes long, so that objects and characters are cut everywhere."""
    monkeypatch.setattr(commits, "_PIECE_SIZE", 3)
    actions = [*FIRST, add("ä ☃ 𝄞", stats='{"a":"}{"}'), add("b")]
    pretty = "\n\n".join(json.dumps(one, indent=2, ensure_ascii=False) for one in actions)
    written.file(f"{0:020d}.json", pretty + json.dumps(add("c") | {"remove": None}))
    assert paths(replay(open_log(written))) == {"ä ☃ 𝄞", "b", "c"}


def test_a_large_commit_can_be_streamed_repeatedly(
    written: HandWrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_log, "_MOST_BYTES", 10)
    written.commit(0, *FIRST, *(add(str(number)) for number in range(100)), commit_info(7))
    (version,) = versions(written)
    assert not isinstance(version.actions, tuple)
    assert version.timestamp_ms == 7
    for _ in range(2):
        assert sum(isinstance(one, Add) for one in version.actions) == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"add":{"path":"a"', "cannot be read as JSON"),
        ('{"txn":{"appId":"a","version":1}}x\n', "Expecting value at 'x"),
        ("[1]", "not an object"),
        ("{\udcff}", "not UTF-8"),
        ('{"a":' + "[" * 100_000, "cannot be read as JSON"),
        ('{"add":{"path":"a"}}', "no field 'partitionValues'"),
    ],
)
def test_a_broken_commit_is_named_in_the_error(
    written: HandWrittenLog, text: str, message: str
) -> None:
    written.commit(0, *FIRST)
    path = written.folder / f"{1:020d}.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Corruption) as error:
        versions(written)
    assert message in error.value.message
    assert error.value.details["file"] == str(path)
    assert error.value.details["version"] == 1


def test_the_length_of_an_object_is_limited(
    written: HandWrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_PIECE_SIZE", 8)
    monkeypatch.setattr(commits, "_LONGEST", 100)
    written.file(f"{0:020d}.json", '{"a":"' + "x" * 1000)
    with pytest.raises(Corruption, match="longer than 100"):
        versions(written)


@pytest.mark.parametrize("only", [PROTOCOL, add("a")])
def test_a_table_begins_with_its_metadata(written: HandWrittenLog, only: dict[str, object]) -> None:
    written.commit(0, only)
    with pytest.raises(Corruption, match="the action 'metaData' is missing"):
        versions(written)


def test_a_folder_without_a_log_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not contain a Delta log"):
        DeltaLog(str(tmp_path)).open()


def test_a_location_may_be_a_uri(written: HandWrittenLog, tmp_path: Path) -> None:
    written.commit(0, *FIRST)
    written.root.rename(tmp_path / "a table")
    log = DeltaLog(f"file://{tmp_path}/a%20table/").open()
    assert log.root == f"{tmp_path}/a table"
    assert log.latest_version == 0


# Time


def test_timestamps_come_from_commits_and_always_increase(written: HandWrittenLog) -> None:
    written.commit(0, commit_info(9_000), *FIRST)
    written.commit(1, commit_info(8_000))
    written.commit(2, commit_info(9_000, inCommitTimestamp=20_000))
    set_modified(written.commit(3, add("a")), 30)
    written.commit(4, {"commitInfo": {"timestamp": "yesterday"}})
    set_modified(written.folder / f"{4:020d}.json", 40)
    assert [one.timestamp_ms for one in versions(written)] == [9_000, 9_001, 20_000, 30_000, 40_000]
    later = list(open_log(written).versions(after=1, after_ms=50_000))
    assert [one.timestamp_ms for one in later] == [50_001, 50_002, 50_003]


def test_a_checkpoint_is_older_than_the_next_commit(written: HandWrittenLog) -> None:
    written.checkpoint(4, *FIRST)
    written.commit(5, commit_info(5_000))
    written.commit(6, commit_info(6_000))
    assert [one.timestamp_ms for one in versions(written)] == [4_999, 5_000, 6_000]
    written.commit(4, commit_info(4_000))
    assert [one.timestamp_ms for one in versions(written)] == [4_000, 5_000, 6_000]


# Gaps


def test_history_may_begin_at_a_checkpoint(written: HandWrittenLog) -> None:
    written.checkpoint(2, *FIRST, add("old"))
    written.checkpoint(3, *FIRST, add("a"), remove("gone"))
    written.commit(4, remove("a"), add("b"))
    written.checkpoint(4, *FIRST, add("b"))
    written.commit(5, add("c"))
    log = open_log(written)
    assert outline(list(log.versions())) == [(3, True), (4, False), (5, False)]
    assert (log.first_version, log.latest_version) == (3, 5)
    assert paths(replay(log, 3)) == {"a"}
    assert paths(replay(log)) == {"b", "c"}
    with pytest.raises(NotFound, match="version 2"):
        replay(log, 2)


def test_a_later_checkpoint_bridges_a_gap(written: HandWrittenLog) -> None:
    txn = {"txn": {"appId": "a", "version": 1}}
    written.commit(0, *FIRST, add("a"), txn)
    written.commit(3, add("lost"))
    written.checkpoint(5, *FIRST, add("b"))
    written.commit(6, add("c"))
    log = open_log(written)
    assert outline(list(log.versions())) == [(0, False), (5, True), (6, False)]
    state = replay(log)
    assert paths(state) == {"b", "c"}
    assert state.txns == {}  # a state replaces everything
    assert outline(list(log.versions(after=4))) == [(5, True), (6, False)]


def test_only_the_newest_checkpoint_is_read(written: HandWrittenLog) -> None:
    written.checkpoint(3, *FIRST, add("a"))
    written.checkpoint(7, *FIRST, add("b"))
    assert outline(versions(written)) == [(7, True)]


@pytest.mark.parametrize("last", [3, 9])
def test_a_gap_without_a_later_checkpoint_is_an_error(written: HandWrittenLog, last: int) -> None:
    written.commit(0, *FIRST)
    written.commit(last)
    written.checkpoint(1, *FIRST)
    with pytest.raises(Corruption, match="no commit of version 1") as error:
        versions(written)
    assert error.value.details["version"] == 1


# Replay


def test_different_spellings_of_a_path_are_one_file(written: HandWrittenLog) -> None:
    for number, (one, other) in enumerate(
        [
            ("/p/a%20b", "file:/p/a%20b"),
            ("/p/c", "file:///p/c"),
            ("x%3D1/d", "x=1/d"),
            ("s3://b/e%23", "s3://b/e#"),
        ]
    ):
        written.commit(2 * number, *(() if number else FIRST), add(one))
        written.commit(2 * number + 1, remove(other))
    assert replay(open_log(written)).adds == {}


def test_a_deletion_vector_replaces_the_file_in_any_order(written: HandWrittenLog) -> None:
    written.commit(0, *FIRST, add("a"), add("b"))
    written.commit(1, remove("a"), add("a", **vector("one")))
    written.commit(2, add("a", **vector("two")), remove("a", **vector("one")))
    assert replay(open_log(written)).adds.keys() == {("a", "utwo@1"), ("b", None)}


def test_a_repeated_add_replaces_the_metadata_of_a_file(written: HandWrittenLog) -> None:
    written.commit(0, *FIRST, add("a"))
    written.commit(1, add("a", tags={"x": "y"}))
    (found,) = replay(open_log(written)).adds.values()
    assert found.tags == {"x": "y"}


def test_the_newest_transaction_and_domain_metadata_win(written: HandWrittenLog) -> None:
    def domain(name: str, configuration: str, removed: bool = False) -> dict[str, object]:
        fields = {"domain": name, "configuration": configuration, "removed": removed}
        return {"domainMetadata": fields}

    written.commit(0, *FIRST, domain("a", "1"), domain("b", "1"))
    written.commit(1, {"txn": {"appId": "s", "version": 7}}, domain("a", "2"))
    written.commit(2, {"txn": {"appId": "s", "version": 3}}, domain("b", "", removed=True))
    state = replay(open_log(written))
    assert state.txns["s"].version == 3
    assert {name: one.configuration for name, one in state.domains.items()} == {"a": "2"}


@pytest.mark.parametrize(
    "twice",
    [
        add("a"),
        add("a", **vector("one")),
        remove("a"),
        PROTOCOL,
        METADATA,
        {"txn": {"appId": "s", "version": 7}},
    ],
)
def test_duplicate_actions_in_a_version_are_corruption(
    written: HandWrittenLog, twice: dict[str, object]
) -> None:
    written.commit(0, *FIRST)
    written.commit(1, twice, twice)
    with pytest.raises(Corruption, match=f"Version 1 has two actions '{next(iter(twice))}'"):
        replay(open_log(written))


def test_a_state_without_schema_is_refused(written: HandWrittenLog) -> None:
    written.commit(0, PROTOCOL, {"metaData": {"id": "a"}})
    written.commit(1, METADATA)
    assert replay(open_log(written)).version == 1
    with pytest.raises(Corruption, match="no schema at version 0"):
        replay(open_log(written), 0)


@pytest.mark.parametrize(
    ("path", "clean", "full"),
    [
        ("a%20b/c", "a b/c", "/root/a b/c"),
        ("a%2520b", "a%20b", "/root/a%20b"),
        ("/x/y", "/x/y", "/x/y"),
        ("file:/x/y%25", "/x/y%", "/x/y%"),
        ("file:///x/y", "/x/y", "/x/y"),
        ("s3://bucket/k", "s3://bucket/k", "s3://bucket/k"),
        ("p=12:00/x", "p=12:00/x", "/root/p=12:00/x"),
        ("../other/a..b", "../other/a..b", "/other/a..b"),
        ("x/%2e%2E/./../a", "../a", "/a"),
        ("s3://bucket/../k/../l//m", "s3://bucket/l/m", "s3://bucket/l/m"),
    ],
)
def test_paths_are_uris(path: str, clean: str, full: str) -> None:
    assert canonical_path(path) == clean
    assert full_path("/root/", path) == full
