"""Checkpoints of Delta logs: all formats are read, and incomplete ones are never used."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from forklake.delta.actions import Add, parse_action
from forklake.delta.log.delta_log import DeltaLog
from forklake.delta.log.paths import full_path
from forklake.delta.log.replay import LogState, replay
from forklake.errors import Corruption
from tests.delta.hand_written import FIRST, METADATA, HandWrittenLog, add, remove, vector

UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


def state(written: HandWrittenLog) -> LogState:
    return replay(DeltaLog(str(written.root)).open())


def paths(written: HandWrittenLog) -> set[str]:
    return {path for path, _ in state(written).adds}


def sidecar(name: str) -> dict[str, Any]:
    return {"sidecar": {"path": name, "sizeInBytes": 1, "modificationTime": 1}}


def test_a_checkpoint_gives_the_same_state_as_commits(written: HandWrittenLog) -> None:
    fact = {"domainMetadata": {"domain": "d", "configuration": "c", "removed": False}}
    txn = {"txn": {"appId": "s", "version": 7}}
    adds = [
        add("a", partitionValues={"p": "1", "q": None}, stats='{"numRecords":1}'),
        add("b", **vector("one")),
    ]
    written.checkpoint(1, *adds, remove("gone", deletionTimestamp=5), txn, fact, *FIRST)
    found = state(written)
    assert [one.to_json() for one in found.adds.values()] == adds
    assert found.metadata == parse_action("metaData", METADATA["metaData"])
    assert found.txns["s"].to_json() == txn
    assert found.domains["d"].to_json() == fact
    (version,) = DeltaLog(str(written.root)).open().versions()
    kinds = [one.kind for one in version.actions]
    assert kinds == ["protocol", "metaData", "txn", "domainMetadata", "add", "add", "remove"]


def test_all_parts_are_read_and_an_incomplete_set_is_ignored(written: HandWrittenLog) -> None:
    written.checkpoint(1, *FIRST, add("a"), infix=".0000000001.0000000002")
    written.checkpoint(1, add("b"), infix=".0000000002.0000000002")
    written.checkpoint(5, *FIRST, add("c"), infix=".0000000002.0000000002")
    assert paths(written) == {"a", "b"}


@pytest.mark.parametrize("manifest", ["json", "parquet", "classic"])
def test_sidecars_are_followed(written: HandWrittenLog, manifest: str) -> None:
    written.parquet("_sidecars/one.parquet", (add("a"), remove("x")))
    written.parquet("_sidecars/two two.parquet", (add("b"),))
    named = (*FIRST, sidecar("one.parquet"), sidecar("/t/_delta_log/_sidecars/two%20two.parquet"))
    match manifest:
        case "json":
            text = "\n".join(json.dumps(one) for one in (*named, add("c")))
            written.file(f"{3:020d}.checkpoint.{UUID}.json", text)
        case "parquet":
            written.checkpoint(3, *named, add("c"), infix=f".{UUID}")
        case _:
            written.checkpoint(3, *named, add("c"))
    assert paths(written) == {"a", "b", "c"}


def test_another_checkpoint_is_used_instead_of_a_damaged_one(written: HandWrittenLog) -> None:
    cut_off = written.checkpoint(3, *FIRST, add("a"))
    cut_off.write_bytes(cut_off.read_bytes()[:-20])
    written.checkpoint(3, *FIRST, add("b"), infix=f".{UUID}")
    written.commit(4, add("c"))
    assert paths(written) == {"b", "c"}
    (written.folder / f"{3:020d}.checkpoint.{UUID}.parquet").unlink()
    written.checkpoint(4, *FIRST, add("d"))
    assert paths(written) == {"d"}


def test_an_unneeded_damaged_checkpoint_is_ignored(written: HandWrittenLog) -> None:
    written.commit(0, *FIRST, add("a"))
    written.file(f"{0:020d}.checkpoint.parquet", "rubbish")
    written.file("_last_checkpoint", "rubbish")
    assert paths(written) == {"a"}


@pytest.mark.parametrize("fault", ["rubbish", "no metaData", "no sidecar", "broken sidecar", "add"])
def test_a_damaged_checkpoint_without_an_alternative_is_an_error(
    written: HandWrittenLog, fault: str
) -> None:
    match fault:
        case "rubbish":
            written.file(f"{3:020d}.checkpoint.parquet", "rubbish")
        case "no metaData":
            written.checkpoint(3, FIRST[0], add("a"))
        case "no sidecar":
            written.checkpoint(3, *FIRST, sidecar("one.parquet"))
        case "broken sidecar":
            written.checkpoint(3, *FIRST, sidecar("one.parquet"))
            written.file("_sidecars/one.parquet", "rubbish")
        case _:
            written.checkpoint(3, *FIRST, add("a", size=None))
    written.commit(4, add("c"))
    with pytest.raises(Corruption, match=r"checkpoint|one\.parquet") as error:
        state(written)
    assert f"{3:020d}.checkpoint" in error.value.message or "one.parquet" in error.value.message


def test_statistics_and_partition_values_may_be_columns(written: HandWrittenLog) -> None:
    bounds = pa.struct(
        {
            "n": pa.int64(),
            "d": pa.decimal128(10, 4),
            "day": pa.date32(),
            "at": pa.timestamp("us", "UTC"),
            "local": pa.timestamp("us"),
            "f": pa.float64(),
            "s": pa.struct({"x": pa.string()}),
            "b": pa.binary(),
        }
    )
    more = {
        "stats": None,
        "partitionValues": None,
        "stats_parsed": pa.struct({"numRecords": pa.int64(), "minValues": bounds}),
        "partitionValues_parsed": pa.struct(
            {"day": pa.date32(), "at": pa.timestamp("us", "UTC"), "flag": pa.bool_()}
        ),
    }
    day, moment = date(2024, 1, 31), datetime(2024, 1, 31, 10, 0, 0, 1, UTC)
    least = {
        "n": None,
        "d": Decimal("12345.6780"),
        "day": day,
        "at": moment,
        "local": moment.replace(tzinfo=None),
        "f": float("-inf"),
        "s": {"x": 'ä"'},
        "b": b"\0",
    }
    one = add(
        "a",
        stats_parsed={"numRecords": 3, "minValues": least},
        partitionValues_parsed={"day": day, "at": moment, "flag": None},
    )
    written.checkpoint(1, *FIRST, one, more=more)
    (found,) = state(written).adds.values()
    assert found.stats == (
        '{"numRecords":3,"minValues":{"d":12345.6780,"day":"2024-01-31",'
        '"at":"2024-01-31T10:00:00.000001Z","local":"2024-01-31T10:00:00.000001",'
        '"f":"-Infinity","s":{"x":"ä\\""}}}'
    )
    expected = {"day": "2024-01-31", "at": "2024-01-31T10:00:00.000001Z", "flag": None}
    assert found.partition_values == expected


def test_statistics_in_text_form_are_kept_verbatim(written: HandWrittenLog) -> None:
    parsed = {"stats_parsed": pa.struct({"numRecords": pa.int64()})}
    stated = add("a", stats='{ "numRecords" : 1e0 }', stats_parsed={"numRecords": 2})
    only_parsed = add("b", stats_parsed={"numRecords": 3})
    written.checkpoint(1, *FIRST, stated, only_parsed, more=parsed)
    found = state(written).adds
    assert found["a", None].stats == '{ "numRecords" : 1e0 }'
    assert found["b", None].stats == '{"numRecords":3}'


def test_a_state_can_be_iterated_repeatedly(written: HandWrittenLog) -> None:
    written.checkpoint(1, *FIRST, *(add(str(number)) for number in range(9_000)))
    (version,) = DeltaLog(str(written.root)).open().versions()
    for _ in range(2):
        assert sum(isinstance(one, Add) for one in version.actions) == 9_000


def test_a_log_of_another_writer_is_read_with_and_without_its_commits(tmp_path: Path) -> None:
    root = str(tmp_path / "table")
    rows = pa.table({"p": ["a b", None, "ü/%"], "n": [1, 2, 3]})
    for _ in range(2):
        write_deltalake(root, rows, partition_by=["p"], mode="append")
    table = DeltaTable(root)
    table.delete("n = 2")
    table.create_checkpoint()
    expected = set(table.file_uris())
    for commits in (True, False):
        if not commits:
            for path in (tmp_path / "table" / "_delta_log").glob("*.json"):
                path.unlink()
        log = DeltaLog(root).open()
        assert log.latest_version == 2
        adds = replay(log).adds.values()
        assert {full_path(root, one.path) for one in adds} == expected
        assert {one.partition_values["p"] for one in adds} == {"a b", "ü/%"}
        assert all(Path(full_path(root, one.path)).exists() for one in adds)
