"""Invalid Delta logs, which are refused as a whole: nothing of them is loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import forklake
from forklake import Catalog, ForklakeError
from forklake.errors import Corruption, NotFound, Unsupported
from tests.delta.hand_written import (
    FIRST,
    METADATA,
    PROTOCOL,
    Body,
    HandWrittenLog,
    add,
    remove,
    vector,
)
from tests.delta.imported import TEN, files, is_untouched, load

Write = Callable[[HandWrittenLog], object]


@pytest.fixture
def catalog(metadata: str, tmp_path: Path) -> Iterator[Catalog]:
    with forklake.open(metadata, create=True) as metastore:
        yield metastore.create_catalog("sales", data_path=str(tmp_path / "data"))


def with_metadata(**changes: Any) -> Body:
    return {"metaData": METADATA["metaData"] | changes}


def column(type: Any, name: str = "c") -> str:
    return json.dumps({"type": "struct", "fields": [{"name": name, "type": type}]})


def after(*actions: Body) -> Write:
    """Return a writer of a version that follows two valid ones."""
    return lambda log: log.commit(2, *actions)


def text(name: str, content: str) -> Write:
    return lambda log: log.file(name, content)


def _inline(text: str) -> Body:
    body = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": 34, "cardinality": 1}
    return {"deletionVector": body}


SECOND = f"{2:020d}.json"
PARTITIONED = with_metadata(schemaString=column("date"), partitionColumns=["c"])
BAD: dict[str, tuple[Write, type[ForklakeError], str]] = {
    "a gap": (lambda log: log.commit(3, add("c")), Corruption, "no commit of version 2"),
    "garbage": (text(SECOND, '{"add":x}'), Corruption, "cannot be read as JSON"),
    "no object": (text(SECOND, "[]"), Corruption, "which is not an object"),
    "half a commit": (
        text(SECOND, json.dumps(add("c")) + '\n{"add":{"path":"d"'),
        Corruption,
        "version 2 is invalid",
    ),
    "no path": (after({"add": {"size": 1}}), Corruption, "'add' cannot be read"),
    "a file twice": (after(add("c"), add("c")), Corruption, "two actions 'add' for c"),
    "two protocols": (
        after(PROTOCOL, PROTOCOL),
        Corruption,
        "two actions 'protocol'",
    ),
    "one file with two vectors": (
        after(add("c", **vector("x" * 20)), add("c")),
        Corruption,
        "adds a file twice",
    ),
    "a negative size": (after(add("c", size=-1)), Corruption, "has the invalid size -1"),
    "a broken schema": (after(with_metadata(schemaString="{")), Corruption, "is not JSON"),
    "no schema": (
        after(with_metadata(schemaString='{"type":"struct","fields":[]}')),
        Corruption,
        "no schema at version 2",
    ),
    "an unknown type": (
        after(with_metadata(schemaString=column("geometry(4326)"))),
        Unsupported,
        "'c' of the Delta table has an unsupported type",
    ),
    "an unknown type that is replaced next": (
        lambda log: (
            log.commit(2, with_metadata(schemaString=column("interval"))),
            log.commit(3, METADATA),
        ),
        Unsupported,
        "interval",
    ),
    "no such partition column": (
        after(with_metadata(partitionColumns=["d"])),
        Corruption,
        "partitioned by 'd'",
    ),
    "no partition value": (
        after(PARTITIONED, remove("a"), remove("b"), add("c")),
        Corruption,
        "no value of the partition column 'c'",
    ),
    "a partition value of another type": (
        after(PARTITIONED, add("c", partitionValues={"c": "blue"})),
        Corruption,
        "'blue' of the Delta log is not a valid value of type date",
    ),
    "an unknown kind of vector": (
        after(add("c", **{"deletionVector": vector("x")["deletionVector"] | {"storageType": "q"}})),
        Unsupported,
        "storage type 'q'",
    ),
    "a vector in a file without a name": (
        after(add("c", **vector("short"))),
        Corruption,
        "refers to a file by an invalid UUID",
    ),
    "an invalid inline vector": (
        after(add("c", **_inline("0" * 45))),
        Corruption,
        "in the log",
    ),
    "a truncated checkpoint after a gap": (
        lambda log: (
            log.checkpoint(4, *FIRST, add("c")).write_bytes(b"PAR1"),
            log.commit(5, add("d")),
        ),
        Corruption,
        "no usable checkpoint",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_an_invalid_log_changes_nothing(
    catalog: Catalog, written: HandWrittenLog, tmp_path: Path, what: str
) -> None:
    write, error, message = BAD[what]
    written.commit(0, *FIRST, add("a", **TEN))
    written.commit(1, add("b", **TEN))
    write(written)
    with pytest.raises(error, match=message):
        load(catalog, written)
    assert is_untouched(catalog, tmp_path / "data")


@pytest.mark.parametrize("what", ["garbage", "no partition value", "an unknown type"])
def test_invalid_later_versions_change_nothing(
    catalog: Catalog, written: HandWrittenLog, what: str
) -> None:
    write, error, message = BAD[what]
    written.commit(0, *FIRST, add("a", **TEN))
    load(catalog, written)
    snapshots = len(catalog.snapshots())
    written.commit(1, add("b", **TEN))
    write(written)
    with pytest.raises(error, match=message):
        load(catalog, written)
    assert len(catalog.snapshots()) == snapshots
    written.commit(2, add("c", **TEN))
    assert load(catalog, written).loaded == 2


def test_unusual_but_valid_logs_are_read(catalog: Catalog, written: HandWrittenLog) -> None:
    written.file(f"{0:020d}.json", "".join(json.dumps(one, indent=2) for one in FIRST))
    written.commit(1, add("a", **TEN), {"nobody": {"knows": 1}})  # language: ok
    written.commit(2)
    written.checkpoint(1, infix=".0000000001.0000000002")
    written.checkpoint(2).write_bytes(b"")
    written.file("_last_checkpoint", "{")
    statistics = '{"numRecords":10,"minValues":7,"maxValues":{"c":"x"},"nullCount":{"c":99}}'
    written.commit(3, remove("never there"), add("b", stats=statistics))
    assert load(catalog, written).files == 2
    assert files(catalog) == {"a": (10, 0), "b": (10, 0)}


def test_a_location_without_a_log_is_not_found(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not contain a Delta log"):
        load(catalog, HandWrittenLog(tmp_path / "table"))
    assert is_untouched(catalog, tmp_path / "data")
