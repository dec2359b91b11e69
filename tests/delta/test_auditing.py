"""Findings of an audit of Delta tables: all faults, and no false alarms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

import forklake
from forklake import Catalog, Metastore
from forklake.delta.audit import Finding, FindingKind, audit_catalog
from forklake.delta.publication import publish_table
from forklake.delta.table_import import import_delta
from forklake.delta.takeover import take_over
from forklake.errors import Conflict
from forklake.files.vectors import inline_vector
from tests.delta.hand_written import FIRST, HandWrittenLog, add
from tests.delta.mirrored import append, commit_info, end_oldest, log_actions, make_catalog, mirror
from tests.delta.test_views import delete_rows

Line = dict[str, Any]


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    """Yield a metastore in a file."""
    with forklake.open(f"ducklake:{tmp_path / 'meta.db'}", create=True) as found:
        yield found


@pytest.fixture
def catalog(metastore: Metastore, tmp_path: Path) -> Catalog:
    """Return a catalog with the Delta table `orders`: two files, one of them with a deleted row."""
    found = make_catalog(metastore, tmp_path, "orders")
    append(found, ["orders"], 1, 2, 3)
    append(found, ["orders"], 4, 5, 6)
    delete_rows(found, "orders", 1)
    mirror(found, "orders")
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the root of the Delta table."""
    return tmp_path / "delta" / "orders"


def change(catalog: Catalog, sql: str) -> None:
    """Tamper with the metastore."""
    with catalog.database.writing() as connection:
        connection.fetch(sql)
        connection.commit()


def rewrite(root: Path, version: int, edit: Callable[[Line], Line | None]) -> None:
    """Tamper with a commit: replace or drop each of its actions."""
    lines = [edit(line) for line in log_actions(root, version)]
    text = "".join(json.dumps(line) + "\n" for line in lines if line is not None)
    (root / "_delta_log" / f"{version:020d}.json").write_text(text)


def put(root: Path, version: int, *lines: Line) -> None:
    """Write a commit of another writer."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (root / "_delta_log" / f"{version:020d}.json").write_text(text)


def only_finding(catalog: Catalog) -> Finding:
    """Return the only finding."""
    (found,) = audit_catalog(catalog)
    assert found.table == "sales.main.orders"
    return found


def kinds(catalog: Catalog) -> list[FindingKind]:
    """Return the kinds of the findings."""
    return [one.kind for one in audit_catalog(catalog)]


# No faults


def test_finds_nothing_in_sound_tables(
    metastore: Metastore, catalog: Catalog, tmp_path: Path
) -> None:
    end_oldest(catalog, "orders")
    with catalog.transaction() as transaction:
        transaction.rename_column(transaction.table("orders"), ["name"], "label")
    mirror(catalog, "orders")
    fork = metastore.fork("sales", "agent")
    assert audit_catalog(fork) == []  # the table belongs to the parent
    delete_rows(fork, "orders", 0, 1)
    publish_table(fork, "orders", "main", str(tmp_path / "agent"))
    assert audit_catalog(catalog) == audit_catalog(fork) == []


def test_finds_nothing_in_an_imported_table(metastore: Metastore, tmp_path: Path) -> None:
    foreign = tmp_path / "a place" / "orders"
    foreign.mkdir(parents=True)
    regions = pa.array(["eu", "us / x", None], pa.string())
    rows = pa.table({"id": pa.array(range(3), pa.int64()), "region": regions})
    deltalake.write_deltalake(foreign, rows, partition_by=["region"])
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(foreign))
    assert audit_catalog(catalog) == []
    take_over(catalog, catalog.now().state.table("orders"))
    assert audit_catalog(catalog) == []


# The metastore


def test_finds_a_gap_between_versions(catalog: Catalog) -> None:
    change(catalog, "DELETE FROM dl_table_versions WHERE version = 1")
    assert only_finding(catalog) == Finding(
        "sales.main.orders",
        FindingKind.VERSION_GAP,
        "Version 0 is followed by version 2.",
    )


def test_a_gap_covered_by_a_checkpoint_is_no_finding(
    metastore: Metastore, written: HandWrittenLog, tmp_path: Path
) -> None:
    written.commit(0, *FIRST)
    written.checkpoint(3, *FIRST)
    written.commit(4)
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(written.root))
    assert audit_catalog(catalog) == []


def test_finds_actions_without_a_version(catalog: Catalog) -> None:
    change(catalog, "UPDATE dl_actions SET version = 99 WHERE kind = 'protocol' AND version = 0")
    found = audit_catalog(catalog)
    assert found[0].kind == FindingKind.STRAY_ACTION
    assert "actions of version 99" in found[0].message


def test_finds_versions_that_are_not_mirrored(catalog: Catalog) -> None:
    append(catalog, ["orders"], 7)
    append(catalog, ["orders"], 8)
    assert only_finding(catalog).kind == FindingKind.LAG
    assert only_finding(catalog).message == "Versions 4 to 5 are not mirrored yet."


def test_an_interrupted_mirror_is_reported_as_lag(catalog: Catalog) -> None:
    change(catalog, "UPDATE dl_mirror_status SET mirrored_version = 1")
    assert kinds(catalog) == [FindingKind.LAG]
    change(catalog, "UPDATE dl_mirror_status SET mirrored_version = -1")
    assert kinds(catalog) == [FindingKind.LAG]


# The log


def test_finds_the_commit_of_another_writer(catalog: Catalog, root: Path) -> None:
    put(root, 4, {"commitInfo": {"operation": "WRITE", "engineInfo": "other"}})
    found = only_finding(catalog)
    assert found.kind == FindingKind.FOREIGN_COMMIT
    assert "Version 4" in found.message
    assert "'other'" in found.message
    append(catalog, ["orders"], 7)
    with pytest.raises(Conflict):
        mirror(catalog, "orders")
    assert kinds(catalog) == [
        FindingKind.LAG,
        FindingKind.MIRROR_FAILED,
        FindingKind.FOREIGN_COMMIT,
    ]
    assert "DIVERGED" in audit_catalog(catalog)[1].message
    put(root, 5, {"add": {"path": 7}})
    assert kinds(catalog)[2:] == [FindingKind.FOREIGN_COMMIT, FindingKind.NOT_READABLE]


def test_finds_missing_and_additional_files_in_the_log(catalog: Catalog, root: Path) -> None:
    rewrite(root, 1, lambda line: None if "add" in line else line)
    assert only_finding(catalog).kind == FindingKind.DRIFT
    assert "lacks files of the table" in only_finding(catalog).message
    rewrite(root, 1, lambda line: line)
    put(root, 1, commit_line(root, 1), add("strange.parquet"))
    strange, lost, missing = audit_catalog(catalog)
    assert "files that the table does not have: 'strange.parquet'" in strange.message
    assert "lacks files of the table" in lost.message
    assert missing.kind == FindingKind.MISSING_FILE


def commit_line(root: Path, version: int) -> Line:
    """Return the commitInfo of a version, as a line of its commit."""
    return {"commitInfo": commit_info(root, version)}


def test_finds_differing_deleted_rows(catalog: Catalog, root: Path) -> None:
    vector = inline_vector([0])

    def edit(line: Line) -> Line:
        if "add" in line:
            line["add"]["deletionVector"] = {
                "storageType": vector.storage_type,
                "pathOrInlineDv": vector.path_or_inline,
                "sizeInBytes": vector.size_in_bytes,
                "cardinality": vector.cardinality,
            }
        return line

    rewrite(root, 3, edit)
    assert only_finding(catalog).kind == FindingKind.DRIFT
    assert "delete different rows" in only_finding(catalog).message


def test_finds_a_damaged_deletion_vector(catalog: Catalog, root: Path) -> None:
    (vector,) = root.glob("deletion_vector_*.bin")
    vector.write_bytes(vector.read_bytes()[:-1] + b"!")
    assert only_finding(catalog).kind == FindingKind.NOT_READABLE
    assert "does not match its checksum" in only_finding(catalog).message


def test_finds_a_differing_schema_and_differing_properties(catalog: Catalog, root: Path) -> None:
    def edit(line: Line) -> Line:
        if body := line.get("metaData"):
            body["schemaString"] = body["schemaString"].replace('"name":"id"', '"name":"number"')
            body["configuration"] = body["configuration"] | {"delta.appendOnly": "true"}
            body["partitionColumns"] = ["name"]
        return line

    rewrite(root, 0, edit)
    messages = [one.message for one in audit_catalog(catalog)]
    assert set(kinds(catalog)) == {FindingKind.DRIFT}
    assert "'id', 'number'" in messages[0]
    assert "partition columns: 'name'" in messages[1]
    assert "properties: 'delta.appendOnly'" in messages[2]


def test_finds_a_weaker_protocol(catalog: Catalog, root: Path) -> None:
    weak = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    rewrite(root, 3, lambda line: weak if "protocol" in line else line)
    assert only_finding(catalog).kind == FindingKind.DRIFT
    for demand in ("'deletionVectors'", "'reader version 3'"):
        assert demand in only_finding(catalog).message


def test_finds_missing_files(catalog: Catalog, root: Path) -> None:
    (vector,) = root.glob("deletion_vector_*.bin")
    vector.unlink()
    assert only_finding(catalog).kind == FindingKind.MISSING_FILE
    assert repr(str(vector)) in only_finding(catalog).message
    for path in root.glob("*.parquet"):
        path.unlink()
    assert only_finding(catalog).message.count(".parquet") == 2


def test_finds_an_unreadable_log(catalog: Catalog, root: Path) -> None:
    (root / "_delta_log" / f"{2:020d}.json").write_text("garbage")
    assert only_finding(catalog).kind == FindingKind.NOT_READABLE
    for path in (root / "_delta_log").iterdir():
        path.unlink()
    assert only_finding(catalog).kind == FindingKind.NOT_READABLE
    assert "does not contain a Delta log" in only_finding(catalog).message


def test_finds_newer_versions_of_an_imported_log(
    metastore: Metastore, written: HandWrittenLog, tmp_path: Path
) -> None:
    written.commit(0, *FIRST)
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(written.root))
    assert audit_catalog(catalog) == []
    written.commit(1)
    (found,) = audit_catalog(catalog)
    assert found.kind == FindingKind.LAG
    assert "The log has version 1" in found.message
