"""Importing Delta tables, version by version, and continuing earlier imports."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import deltalake
import pyarrow as pa
import pytest

from forklake import Catalog, ColumnSpec, Metastore, Session
from forklake.delta import log_loader, parts
from forklake.delta.table_import import ImportProgress, ImportStage, import_delta
from forklake.delta.takeover import take_over
from forklake.errors import (
    AlreadyExists,
    Conflict,
    Corruption,
    Forbidden,
    InvalidInput,
    NotFound,
    Unsupported,
)
from forklake.files.vectors import Vector, inline_vector, vector_in_file, write_vector
from forklake.store import commit, phases
from tests.delta.hand_written import (
    FIRST,
    METADATA,
    PROTOCOL,
    Body,
    HandWrittenLog,
    add,
    commit_info,
    remove,
)
from tests.delta.imported import TEN, files, history, load, reading, versions
from tests.delta.readers import canonical_rows
from tests.delta.tables import METADATA as METADATA_ACTION
from tests.delta.tables import PROTOCOL as PROTOCOL_ACTION
from tests.delta.tables import WITH_VECTORS, Table, described, removal
from tests.fix_metastore import BACKENDS

on_every_backend = pytest.mark.parametrize("backend", BACKENDS, indirect=True)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """Return SQLite, the fastest backend, unless a test is parametrized with others."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def catalog(metastore: Metastore, tmp_path: Path) -> Catalog:
    return metastore.create_catalog("sales", data_path=str(tmp_path / "data"))


def vector_body(vector: Vector) -> Body:
    """Return a deletion vector, as part of an add or a remove."""
    return {
        "deletionVector": {
            "storageType": vector.storage_type,
            "pathOrInlineDv": vector.path_or_inline,
            "offset": vector.offset,
            "sizeInBytes": vector.size_in_bytes,
            "cardinality": vector.cardinality,
        }
    }


def columns(*of: tuple[str, Any], partitioned_by: tuple[str, ...] = ()) -> Body:
    """Return metadata with columns of the given types."""
    fields = [{"name": name, "type": type, "nullable": True, "metadata": {}} for name, type in of]
    schema = json.dumps({"type": "struct", "fields": fields})
    body = METADATA["metaData"] | {"schemaString": schema, "partitionColumns": [*partitioned_by]}
    return {"metaData": body}


# History


@on_every_backend
def test_every_version_is_a_snapshot(catalog: Catalog, written: HandWrittenLog) -> None:
    written.commit(0, commit_info(7000, operation="CREATE"), *FIRST, add("a", **TEN))
    written.commit(1, commit_info(9000), add("b", **TEN), {"txn": {"appId": "x", "version": 3}})
    written.commit(2, commit_info(8000), remove("a"), add("c", **TEN))
    done: list[ImportProgress] = []
    found = import_delta(catalog, str(written.root), "t", progress=done.append)
    assert (found.first_version, found.version, found.loaded, found.files) == (0, 2, 3, 2)
    counted = [(one.versions, one.total, one.files) for one in done]
    assert counted == [(1, 3, 1), (2, 3, 2), (3, 3, 3)] * 2
    assert [one.stage for one in done] == [ImportStage.CHECKING] * 3 + [ImportStage.LOADING] * 3
    ten = (10, 0)
    assert history(catalog) == {0: {"a": ten}, 1: {"a": ten, "b": ten}, 2: {"b": ten, "c": ten}}
    listed = reading(catalog).versions()
    assert [one.operation for one in listed] == ["CREATE", "WRITE", "WRITE"]
    assert [one.timestamp for one in listed] == [7000, 9000, 9001]  # times increase with versions
    assert [one.key for one in reading(catalog).actions(("txn",))] == ["x"]


def test_a_repeated_import_adds_the_new_versions(catalog: Catalog, written: HandWrittenLog) -> None:
    written.commit(0, *FIRST, add("a", **TEN))
    load(catalog, written)
    snapshots = len(catalog.snapshots())
    again = load(catalog, written)
    assert (again.loaded, again.version, again.files) == (0, 0, 1)
    assert len(catalog.snapshots()) == snapshots
    written.commit(1, add("b", **TEN))
    written.commit(2, METADATA, remove("a"))
    assert load(catalog, written).loaded == 2
    assert versions(catalog) == [0, 1, 2]
    assert files(catalog) == {"b": (10, 0)}


@on_every_backend
@pytest.mark.parametrize("phase", ["commit.prepared", "commit.committed"])
def test_an_interrupted_import_continues(
    catalog: Catalog, written: HandWrittenLog, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written.commit(0, *FIRST, add("a", **TEN))
    for number in range(1, 5):
        written.commit(number, remove("abcde"[number - 1]), add("abcde"[number], **TEN))
    monkeypatch.setattr(log_loader, "MOST_VERSIONS", 2)
    left = 2

    def cut(reached: str) -> None:
        nonlocal left
        left -= reached == phase
        if not left:
            raise KeyboardInterrupt

    monkeypatch.setattr(phases, "observer", cut)
    with pytest.raises(KeyboardInterrupt):
        load(catalog, written)
    monkeypatch.setattr(phases, "observer", None)
    there = versions(catalog)
    assert there == ([0, 1] if phase == "commit.prepared" else [0, 1, 2, 3])
    assert load(catalog, written).loaded == 5 - len(there)
    assert history(catalog) == {number: {"abcde"[number]: (10, 0)} for number in range(5)}


@on_every_backend
def test_a_version_of_many_files_is_one_snapshot_in_parts(
    catalog: Catalog, written: HandWrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_FILES", 4)
    monkeypatch.setattr(commit, "MOST_ROWS", 7)
    gone, fewer = inline_vector([1, 3]), inline_vector([0])
    first = [add(f"f{number}", **bounded(number)) for number in range(9)]
    # Protocol and metadata come last.
    written.commit(0, add("g", **TEN, **vector_body(gone)), *first, *FIRST)
    removed = [remove(f"f{number}") for number in range(6)]
    kept = [remove("g", **vector_body(gone)), add("g", **TEN, **vector_body(fewer))]
    txn = {"txn": {"appId": "x", "version": 3}}
    written.commit(1, *kept, *removed, *(add(f"h{number}", **TEN) for number in range(6)), txn)
    written.commit(2, remove("g", **vector_body(fewer)), remove("h0"), add("h0", **TEN))
    before = len(catalog.snapshots())
    load(catalog, written)
    ten = (10, 0)
    left = {f"f{number}": ten for number in (6, 7, 8)} | {f"h{number}": ten for number in range(6)}
    assert history(catalog) == {
        0: {f"f{number}": ten for number in range(9)} | {"g": (10, 2)},
        1: left | {"g": (10, 1)},
        2: left,
    }
    assert len(catalog.snapshots()) == before + 3
    view = catalog.now()
    table = view.state.table("t")
    assert view.statistics(table).record_count == 90
    (bounds,) = view.column_statistics(table)
    assert (bounds.min_value, bounds.max_value) == ("0", "9")
    stated = reading(catalog).actions(("remove", "txn"))
    assert Counter(one.version for one in stated) == {1: 7, 2: 2}
    (zero,) = (one for one in reading(catalog).versions() if one.version == 0)
    then = catalog.at(version=zero.begin_snapshot)
    assert then.statistics(table).record_count == 98


def bounded(number: int) -> Body:
    """Return the statistics of a file of ten rows with values near a number."""
    values = {"minValues": {"c": number}, "maxValues": {"c": number + 1}, "nullCount": {"c": 0}}
    return {"stats": json.dumps({"numRecords": 10, **values})}


def test_history_begins_at_a_checkpoint_and_skips_gaps(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    old = written.checkpoint(3, *FIRST, add("a", **TEN), add("b", **TEN))
    written.commit(4, remove("a"), add("c", **TEN))
    assert load(catalog, written).first_version == 3
    for path in (old, written.folder / f"{4:020d}.json"):
        path.unlink()  # as log clean-up does
    written.checkpoint(7, *FIRST, add("c", **TEN), add("d", **TEN))
    written.commit(8, add("e", **TEN))
    assert load(catalog, written).loaded == 2
    assert {number: set(of) for number, of in history(catalog).items()} == {
        3: {"a", "b"},
        4: {"b", "c"},
        7: {"c", "d"},
        8: {"c", "d", "e"},
    }


def test_imports_continue_after_a_history_that_begins_at_a_checkpoint(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    written.checkpoint(1, *FIRST, add("a", **TEN))
    written.commit(1, commit_info(6), add("a", **TEN))  # the commit before it was cleaned up
    load(catalog, written)
    written.commit(2, add("b", **TEN))
    assert load(catalog, written).loaded == 1
    assert {number: set(of) for number, of in history(catalog).items()} == {1: {"a"}, 2: {"a", "b"}}


def test_a_rewritten_log_is_detected(catalog: Catalog, written: HandWrittenLog) -> None:
    written.commit(0, commit_info(5), *FIRST, add("a", **TEN))
    before = written.commit(1, commit_info(6), remove("a"), add("b", **TEN)).read_text()
    load(catalog, written)
    snapshots = len(catalog.snapshots())
    for other in (
        (commit_info(6), remove("a"), add("c", **TEN)),
        (commit_info(6), remove("b")),
        (commit_info(7), remove("a"), add("b", **TEN)),
        (commit_info(6), PROTOCOL, remove("a"), add("b", **TEN)),
    ):
        path = written.commit(1, *other)
        written.commit(2, add("d", **TEN))
        with pytest.raises(Conflict, match="its version 1 differs from the one in the table"):
            load(catalog, written)
    path.unlink()
    (written.folder / f"{2:020d}.json").unlink()
    with pytest.raises(Conflict, match="ends at version 0, but the table is at version 1"):
        load(catalog, written)
    assert len(catalog.snapshots()) == snapshots
    path.write_text(before)
    assert load(catalog, written).loaded == 0


def test_commits_of_another_writer_are_imported(catalog: Catalog, tmp_path: Path) -> None:
    place = str(tmp_path / "foreign")
    rows = pa.table({"id": pa.array(range(10), pa.int64()), "region": ["eu", "us"] * 5})
    deltalake.write_deltalake(place, rows, partition_by=["region"])
    import_delta(catalog, place, "t")
    deltalake.write_deltalake(place, rows.slice(0, 4), mode="append")
    deltalake.DeltaTable(place).delete("id = 3")
    deltalake.DeltaTable(place).optimize.compact()
    deltalake.DeltaTable(place).create_checkpoint()
    assert import_delta(catalog, place, "t").loaded == 3
    for number in versions(catalog):
        table = deltalake.DeltaTable(place, version=number)
        assert set(files(catalog, number)) == {Path(one).name for one in table.file_uris()}
    assert sum(rows for rows, _ in files(catalog).values()) == 12


# Files


@on_every_backend
def test_deletion_vectors_become_delete_files(catalog: Catalog, written: HandWrittenLog) -> None:
    one, two = inline_vector([1, 3]), UUID(int=7)
    data = write_vector([1, 3, 5])
    (written.root / f"deletion_vector_{two}.bin").write_bytes(data)
    in_file = vector_in_file(two, data)
    written.commit(0, *FIRST, add("a", **TEN), add("b", **TEN))
    written.commit(1, remove("a"), add("a", **TEN, **vector_body(one)))
    written.commit(2, remove("a", **vector_body(one)), add("a", **TEN, **vector_body(in_file)))
    written.commit(3, remove("a", **vector_body(one)))  # already without this vector
    load(catalog, written)
    written.commit(4, remove("a", **vector_body(in_file)), add("a", **TEN))
    written.commit(5, remove("a"))
    load(catalog, written)
    gone = [of.get("a", (0, -1))[1] for of in history(catalog).values()]
    assert gone == [0, 2, 3, 3, 0, -1]


def test_files_without_statistics_are_counted(catalog: Catalog, tmp_path: Path) -> None:
    place = str(tmp_path / "foreign")
    deltalake.write_deltalake(
        place, pa.table({"c": [1, 2, 3]}), configuration={"delta.dataSkippingNumIndexedCols": "0"}
    )
    (commit,) = (tmp_path / "foreign" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    for line in lines:
        line.get("add", {}).pop("stats", None)
    commit.write_text("\n".join(map(json.dumps, lines)))
    import_delta(catalog, place, "t")
    assert [rows for rows, _ in files(catalog).values()] == [3]


def test_files_of_a_shallow_clone_are_read_from_their_absolute_paths(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    away = f"file://{written.root.parent}/other%20one/b"
    written.commit(0, *FIRST, add("../other%20one/a", **TEN), add(away, **TEN))
    written.commit(1, remove("../other%20one/./a"))
    load(catalog, written)
    view = catalog.now()
    (found,) = view.scan_files(view.state.table("t"))
    assert found.path == f"{written.root.parent}/other one/b"
    assert set(files(catalog, 0)) == {"a", "b"}


def test_partition_values_come_from_the_log(catalog: Catalog, written: HandWrittenLog) -> None:
    of = columns(("c", "long"), ("day", "date"), partitioned_by=("DAY",))
    value = {"partitionValues": {"day": "2024-02-29"}}
    written.commit(0, PROTOCOL, of, add("a", **TEN | value))
    written.commit(1, add("b", **TEN | {"partitionValues": {"day": None}}))
    load(catalog, written)
    view = catalog.now()
    table = view.state.table("t")
    day = view.state.fields(table)[1]
    ids = {one.data_file_id: Path(one.path).name for one in view.data_files(table)}
    bounds = {
        ids[one.data_file_id]: (one.min_value, one.null_count)
        for one in view.file_statistics(table, sorted(ids))
        if one.column_id == day.column_id
    }
    assert bounds == {"a": ("2024-02-29", 0), "b": (None, 10)}


# Columns


@pytest.mark.parametrize(
    ("before", "after", "goes_on"),
    [
        ("integer", "long", True),
        ("integer", "decimal(12,2)", True),
        ("integer", "decimal(11,2)", False),
        ("long", "decimal(20,0)", True),
        ("short", "double", True),
        ("date", "timestamp_ntz", True),
        ("decimal(10,2)", "decimal(12,3)", True),
        ("string", "long", False),
        ("long", "integer", False),
    ],
)
def test_a_column_keeps_its_id_if_its_new_type_is_wider(
    catalog: Catalog, written: HandWrittenLog, before: str, after: str, goes_on: bool
) -> None:
    written.commit(0, PROTOCOL, columns(("c", before)))
    written.commit(1, columns(("c", after)))
    load(catalog, written)
    ids = []
    for number in (0, 1):
        state = catalog.at(version=reading(catalog).version(number).begin_snapshot).state
        (field,) = state.fields(state.table("t"))
        ids.append(field.column_id)
    assert (ids[0] == ids[1]) is goes_on


def test_a_variant_is_imported_as_a_struct_of_its_two_parts(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    array = {"type": "array", "elementType": "variant", "containsNull": True}
    stats = {"numRecords": 1, "minValues": {"v": "0rQ"}, "nullCount": {"v": 1}}
    written.commit(
        0, PROTOCOL, columns(("v", "variant"), ("l", array)), add("a", stats=json.dumps(stats))
    )
    load(catalog, written)
    state = catalog.now().state
    single, many = state.fields(state.table("t"))
    for variant in (single, many.fields[0]):
        assert variant.type == "struct"
        assert [(one.physical_name, one.type) for one in variant.fields] == [
            ("metadata", "blob"),
            ("value", "blob"),
        ]


# Reader features


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        ({"minReaderVersion": 5, "minWriterVersion": 7, "readerFeatures": []}, "reader version 5"),
        ({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["new"]}, "'new'"),
        ({"minReaderVersion": 3, "minWriterVersion": 7}, "without the list 'readerFeatures'"),
        (None, "has no protocol"),
    ],
)
def test_tables_with_unsupported_reader_features_are_not_readable(
    metastore: Metastore, written: HandWrittenLog, tmp_path: Path, protocol: Body, reason: str
) -> None:
    stated = () if protocol is None else ({"protocol": protocol},)
    written.commit(0, *stated, METADATA, add("a", **TEN))
    strict, bold = (metastore.create_catalog(name, data_path=str(tmp_path)) for name in "ab")
    load(strict, written)
    state = strict.now().state
    with pytest.raises(Unsupported, match=reason) as refused:
        state.require_readable(state.table("t"))
    assert "ignore_features=True" in str(refused.value)
    with pytest.raises(InvalidInput, match="imported without ignore_features"):
        load(strict, written, ignore_features=True)
    load(bold, written, ignore_features=True)
    state = bold.now().state
    state.require_readable(state.table("t"))
    assert set(files(strict)) == set(files(bold)) == {"a"}


def test_an_import_does_not_replace_an_existing_table(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("c", "bigint")])
    written.commit(0, *FIRST)
    with pytest.raises(AlreadyExists, match="is not the Delta table at"):
        load(catalog, written)
    with pytest.raises(NotFound, match="no_such"):
        import_delta(catalog, str(written.root), "u", schema="no_such")


def test_imports_into_a_table_changed_by_the_lake_are_refused(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    written.commit(0, *FIRST, add("a", **TEN))
    load(catalog, written)
    take_over(catalog, catalog.now().state.table("t"))
    with pytest.raises(Forbidden, match="does not follow the Delta log"):
        load(catalog, written)


def test_spark_reads_the_rows_of_an_imported_table(lake: Session, tmp_path: Path) -> None:
    table = Table(tmp_path / "foreign")
    first, second = table.write("us / x", range(10)), table.write(None, range(10, 14))
    table.commit(PROTOCOL_ACTION, METADATA_ACTION, first, second)
    marked = replace(first, deletion_vector=described(inline_vector([0, 2])))
    table.commit(WITH_VECTORS, removal(first), marked)
    catalog = lake.attachment("lake").catalog
    import_delta(catalog, str(table.root), "t")
    whole = table.expected()
    assert canonical_rows(lake.delta("t", version=0).toArrow()) == whole
    gone = Counter({(number, f"n{number}" if number else None, "us / x"): 1 for number in (0, 2)})
    assert canonical_rows(lake.delta(str(table.root)).toArrow()) == whole - gone
    lost = vector_in_file(UUID(int=5), write_vector([1]))
    table.commit(removal(marked), replace(first, deletion_vector=described(lost)))
    import_delta(catalog, str(table.root), "t")
    with pytest.raises(Corruption, match=r"deletion_vector_.* was missing or damaged"):
        lake.delta("t").collect()
