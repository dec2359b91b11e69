"""Views of the Delta log in the metastore, which must agree with the files of the logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from forklake import Catalog, ColumnSpec, Metastore
from forklake.catalog.delta_tables import FaceReading
from forklake.delta.log.delta_log import DeltaLog
from forklake.delta.log.replay import replay
from forklake.delta.publication import publish_table
from forklake.delta.table_import import import_delta
from forklake.delta.takeover import take_over
from forklake.files.deletes import Deleted, write_delete_files
from forklake.model.files import NewDeleteFile
from forklake.store.tables import read_table, table_names
from tests.delta.mirrored import append, end_oldest, log_actions, make_catalog, mirror
from tests.test_documentation import ROOT, examples

VIEWS = (
    "dl_add_files dl_remove_files dl_metadata_updates dl_protocol_updates dl_txn_actions".split()
)
PAGE = ROOT / "docs" / "delta.md"


def fetch(metastore: Metastore, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query that the metastore itself runs."""
    with metastore.database.reading() as connection:
        return [tuple(row) for row in connection.fetch(sql, **parameters)]


def table_id(catalog: Catalog, name: str) -> int:
    """Return the id of a table."""
    return int(catalog.now().state.table(name).table_id)


def delete_rows(catalog: Catalog, name: str, *positions: int) -> None:
    """Delete rows of the newest file of a table."""
    seen = catalog.now()
    table = seen.state.table(name)
    file = seen.data_files(table)[-1]
    folder = catalog.data_path() + catalog.table_folder(seen.state, table)
    (written,) = write_delete_files(
        folder, [Deleted(seen.full_path(file), pa.array(positions, pa.int64()))]
    )
    new = NewDeleteFile(
        file.data_file_id,
        written.path.removeprefix(catalog.data_path()),
        len(positions),
        written.file_size_bytes,
        footer_size=written.footer_size,
    )
    with catalog.transaction() as transaction:
        transaction.add_delete_files(transaction.table(name), [new])


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a Delta table of another writer: appends, a streaming application, rewritten rows."""
    root = tmp_path / "foreign"
    regions = pa.array(["eu", "us", None, "eu"], pa.string())
    rows = pa.table({"id": pa.array(range(4), pa.int64()), "region": regions})
    deltalake.write_deltalake(root, rows, partition_by=["region"])
    progress = deltalake.CommitProperties(
        app_transactions=[deltalake.Transaction("stream", 7, 1_700_000_000_000)]
    )
    deltalake.write_deltalake(root, rows, mode="append", commit_properties=progress)
    deltalake.DeltaTable(root).delete("id = 3")
    return root


def in_log(root: Path, kind: str, *fields: str) -> list[tuple[Any, ...]]:
    """Return the given fields of all actions of a kind, with their versions."""
    found = []
    for version in range(len(list((root / "_delta_log").glob("*.json")))):
        for action in log_actions(root, version):
            if body := action.get(kind):
                found += [(version, *(body.get(field) for field in fields))]
    return sorted(found, key=str)


def test_views_of_an_imported_table_repeat_its_log(
    metastore: Metastore, tmp_path: Path, foreign: Path
) -> None:
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(foreign), "orders")

    adds = fetch(
        metastore,
        "SELECT version, path, size, modification_time, stats, partition_values, data_change"
        " FROM dl_add_files",
    )
    reported = [(*row[:5], json.loads(row[5]), bool(row[6])) for row in adds]
    assert sorted(reported, key=str) == in_log(
        foreign, "add", *"path size modificationTime stats partitionValues dataChange".split()
    )
    removes = fetch(
        metastore, "SELECT version, path, deletion_timestamp, data_change FROM dl_remove_files"
    )
    assert sorted([(*row[:3], bool(row[3])) for row in removes], key=str) == in_log(
        foreign, "remove", "path", "deletionTimestamp", "dataChange"
    )
    assert fetch(
        metastore, "SELECT version, min_reader_version, min_writer_version FROM dl_protocol_updates"
    ) == in_log(foreign, "protocol", "minReaderVersion", "minWriterVersion")
    ((version, schema, columns),) = fetch(
        metastore, "SELECT version, schema_string, partition_columns FROM dl_metadata_updates"
    )
    assert [(version, schema, json.loads(columns))] == in_log(
        foreign, "metaData", "schemaString", "partitionColumns"
    )
    assert fetch(
        metastore, "SELECT version, app_id, txn_version, last_updated FROM dl_txn_actions"
    ) == [(1, "stream", 7, 1_700_000_000_000)]


def test_views_of_a_published_table_agree_with_the_mirror(
    metastore: Metastore, tmp_path: Path
) -> None:
    catalog = make_catalog(metastore, tmp_path, "orders", "items")
    append(catalog, ["orders", "items"], 1, 2, 3)
    delete_rows(catalog, "orders", 0)
    append(catalog, ["orders"], 4)
    delete_rows(catalog, "orders", 0)
    end_oldest(catalog, "orders")
    mirror(catalog, "orders")

    for view, kind in (("dl_add_files", "add"), ("dl_remove_files", "remove")):
        rows = fetch(
            metastore,
            f"SELECT version, size, data_change FROM {view} WHERE table_id = :table",
            table=table_id(catalog, "orders"),
        )
        expected = in_log(tmp_path / "delta" / "orders", kind, "size", "dataChange")
        assert sorted([(*row[:2], bool(row[2])) for row in rows], key=str) == expected, kind
    stats = fetch(metastore, "SELECT stats, num_records FROM dl_add_files ORDER BY num_records")
    assert [json.loads(text) for text, _ in stats] == [{"numRecords": one} for _, one in stats]


def test_files_written_before_the_publication_belong_to_the_first_version(
    metastore: Metastore, tmp_path: Path
) -> None:
    catalog = make_catalog(metastore, tmp_path)
    with catalog.transaction() as transaction:
        columns = [ColumnSpec("id", "bigint"), ColumnSpec("name", "varchar")]
        transaction.create_table("orders", columns)
    for number in range(3):
        append(catalog, ["orders"], number)
    end_oldest(catalog, "orders")
    fork = metastore.fork("sales", "agent")
    end_oldest(fork, "orders")
    for owner, files in ((catalog, 2), (fork, 1)):
        publish_table(owner, "orders", "main", str(tmp_path / owner.name))
        append(owner, ["orders"], 9)
        counted = fetch(
            metastore,
            "SELECT version, count(*) FROM dl_add_files WHERE catalog_id = :catalog"
            " GROUP BY version ORDER BY version",
            catalog=owner.catalog_id,
        )
        assert counted == [(0, files), (1, 1)]


def test_a_fork_has_its_own_versions(metastore: Metastore, tmp_path: Path, foreign: Path) -> None:
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(foreign), "orders")
    fork = metastore.fork("sales", "agent")
    end_oldest(fork, "orders")
    delete_rows(fork, "orders", 0)
    for view, expected in (("dl_add_files", [(4, 1)]), ("dl_remove_files", [(3, 1), (4, 1)])):
        text = f"SELECT version, count(*) FROM {view} WHERE catalog_id = :catalog"
        counted = fetch(metastore, f"{text} GROUP BY version ORDER BY 1", catalog=fork.catalog_id)
        assert counted == expected, view


def test_views_are_tables_of_the_metastore_with_types(
    metastore: Metastore, tmp_path: Path, foreign: Path
) -> None:
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    schemas = {name: read_table(metastore.database, name).schema for name in VIEWS}  # type: ignore[union-attr]
    import_delta(catalog, str(foreign), "orders")
    assert set(VIEWS) < set(table_names(metastore.database))
    for name in VIEWS:
        found = read_table(metastore.database, name)
        assert found is not None
        assert found.num_rows
        assert found.schema == schemas[name]
    adds = read_table(metastore.database, "dl_add_files")
    assert adds is not None
    kinds = [adds.schema.field(name).type for name in ("modification_time", "data_change", "stats")]
    assert kinds == [pa.int64(), pa.bool_(), pa.string()]


# The queries of the documentation


@pytest.fixture
def documented(metastore: Metastore, tmp_path: Path, foreign: Path) -> Catalog:
    """Return the catalog of the documented queries: `orders`, imported and taken over."""
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(foreign), "orders")
    take_over(catalog, catalog.now().state.table("orders"))
    end_oldest(catalog, "orders")
    return catalog


def queries() -> list[str]:
    """Return the monitoring queries of the page that run on the metastore itself."""
    found = [code for code in examples(PAGE, "sql") if "__ducklake_metadata_" in code]
    return [code.replace("__ducklake_metadata_sales.", "") for code in found]


def test_documented_queries_return_the_right_results(documented: Catalog, foreign: Path) -> None:
    metastore = documented._metastore
    answers = {code.splitlines()[0]: fetch(metastore, code.rstrip("; \n")) for code in queries()}
    seen = documented.now()
    latest = FaceReading(seen, seen.state.table("orders")).latest()
    assert answers["-- The newest version of every Delta table"] == [
        ("sales", "orders", latest.version, "own")
    ]
    assert answers["-- The version at a time"] == [(latest.version,)]
    reported = sorted(one.path for one in replay(DeltaLog(str(foreign)).open(), 1).adds.values())
    files = answers["-- The files of version 1"]
    assert sorted(path for path, *_ in files) == [f"{foreign}/{path}" for path in reported]
    assert sorted(path for path, *_ in answers["-- The files of version 1 by actions"]) == reported
    eu = answers["-- The files of version 1 in one partition"]
    assert sorted(path for (path,) in eu) == [
        f"{foreign}/{path}" for path in reported if path.startswith("region=eu/")
    ]
    assert answers["-- Versions that wait for the mirror"] == [
        ("sales", "orders", latest.version, latest.version - 1, 1, "CURRENT", None)
    ]
    assert answers["-- Gaps between versions"] == []
    assert answers["-- Actions without a version"] == []
    assert answers["-- How far applications have got"] == [("orders", "stream", 7)]
    assert len(answers) == len(queries()) >= 9
