"""Delta tables of other writers: every version must have the rows that other readers see."""

from __future__ import annotations

import json
import runpy
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forklake
from forklake import Catalog, ForklakeError, Metastore, Session
from forklake.catalog.delta_tables import FaceReading
from forklake.delta.table_import import DeltaImportResult, import_delta
from forklake.model.files import UNREAD_VECTOR
from tests.delta.corpus_logs import corpus_tables, has_corpus, needs_corpus
from tests.delta.readers import READERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Rows = Counter[str]
# This log describes no table, so it cannot be imported.
NO_TABLE = {"delta_deltalog-state-reconstruction-without-metadata"}
# Here `/p` is removed as `file:/p`, which is the same file; the expected count overlooked that.
MISCOUNTED = {
    "kernelrs_golden_canonicalized-paths-special-a",
    "kernelrs_golden_canonicalized-paths-special-b",
}
# Demands an unknown reader version; its files are ordinary.
FROM_THE_FUTURE = {"deltars_simple_table_features"}
_VERSION = "_version_of_row"


@pytest.fixture
def metastore(metadata: str) -> Iterator[Metastore]:
    with forklake.open(metadata, create=True) as found:
        yield found


def _name(folder: Path) -> str:
    return folder.parent.name


def listed(corpus: Path, *statuses: str) -> Iterator[dict[str, Any]]:
    for table in json.loads((corpus / "corpus.json").read_text())["tables"]:
        if table["status"] in statuses:
            yield table


def load(metastore: Metastore, corpus: Path, name: str) -> tuple[Catalog, DeltaImportResult]:
    """Import a table into its own catalog, of the same name."""
    catalog = metastore.create_catalog(name, data_path=f"{metastore.database.address}.data")
    place = str(corpus / name / "table")
    return catalog, import_delta(catalog, place, "t", ignore_features=name in FROM_THE_FUTURE)


def expected_results(corpus: Path, name: str) -> dict[int, dict[str, Any]]:
    """Return the expected results of the versions that other readers could read."""
    path = corpus / name / "versions.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    return {int(number): one for number, one in known.items() if "rows" in one}


# Files


def test_every_version_has_the_number_of_files_that_others_count(
    metastore: Metastore, delta_corpus: Path
) -> None:
    wrong = {}
    for table in listed(delta_corpus, "ok", "log_only"):
        name = table["name"]
        if name in NO_TABLE | MISCOUNTED:
            continue
        catalog, found = load(metastore, delta_corpus, name)
        expected = {
            number: one["files"] for number, one in expected_results(delta_corpus, name).items()
        } | {table["latest_version"]: table["active_files"]}
        counted = files_of_versions(catalog, expected)
        if (found.version, counted) != (table["latest_version"], expected):
            wrong[name] = (counted, expected)
    assert wrong == {}


def files_of_versions(catalog: Catalog, requested: Mapping[int, object]) -> dict[int, int]:
    view = catalog.now()
    table = view.state.table("t")
    reading = FaceReading(view, table)
    at = {one.version: one.begin_snapshot for one in reading.versions()}
    return {number: len(catalog.at(version=at[number]).data_files(table)) for number in requested}


def test_unsupported_tables_are_refused(metastore: Metastore, delta_corpus: Path) -> None:
    accepted = []
    for table in listed(delta_corpus, "negative"):
        try:
            catalog, _ = load(metastore, delta_corpus, table["name"])
            view = catalog.now()
            found = view.state.table("t")
            view.state.require_readable(found)
        except ForklakeError:
            continue
        files = view.scan_files(found)
        if not any(one.delete_file and one.delete_file.format == UNREAD_VECTOR for one in files):
            accepted.append(table["name"])
    assert accepted == []


# Rows


@needs_corpus
@pytest.mark.parametrize("folder", [*corpus_tables("ok")] if has_corpus() else [], ids=_name)
def test_every_version_has_the_rows_that_others_read(
    session: Session, metadata: str, metastore: Metastore, folder: Path
) -> None:
    corpus, name = folder.parents[1], _name(folder)
    canonical: Callable[[pa.Table], Rows] = runpy.run_path(str(corpus / "canon.py"))["rows"]
    _, found = load(metastore, corpus, name)
    latest = canonical(pq.read_table(corpus / name / "expected.parquet"))
    session.attach(metadata, "one", catalog=name)
    expected = expected_results(corpus, name)
    for number, ours in rows_of_versions(session, {*expected, found.version}):
        rows = canonical(ours)
        if number == found.version:
            assert rows == latest
        if number in expected:
            seen = expected[number]
            assert (len(ours), names(ours.column_names)) == (seen["rows"], names(seen["columns"]))
            for reader in seen["agree"]:
                assert rows == canonical(READERS[reader](str(folder), number))


def rows_of_versions(session: Session, requested: set[int]) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of versions, with one job for all that have the same columns."""
    from pyspark.sql.functions import lit

    alike: defaultdict[str, dict[int, DataFrame]] = defaultdict(dict)
    for number in sorted(requested):
        frame = session.delta(("one", "main", "t"), version=number)
        alike[frame.schema.json()][number] = frame.withColumn(_VERSION, lit(number))
    for frames in alike.values():
        rows = reduce(lambda one, other: one.union(other), frames.values()).toArrow()
        for number in frames:
            mine = rows.filter(pa.compute.equal(rows[_VERSION], number))
            yield number, mine.drop_columns([_VERSION])


def names(columns: Iterable[str]) -> list[str]:
    return sorted(name.lower() for name in columns)
