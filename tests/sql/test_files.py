"""Files read in place, with the same columns and rows as in DuckDB."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import Row

from forklake import Session
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.files.file_search import found_files
from forklake.sql.functions.files import has_file_extension

TEXTS = {
    "plain.csv": (
        'a,b,c,d,e,"f g"\n"",1,2024-01-02 03:04:05,2024-01-02,1.5,true\n'
        ",2,2024-01-02 03:04:06,2024-01-03,2,false\n"
        "NA,3,2024-01-02 03:04:07,2024-01-03,-0.25,true\n"
        '"x\ny, ""q""",,2024-01-02 03:04:07,,,\n'
    ),
    "bare.csv": "1;x;31/12/2024\n2;y;30/12/2024\n",
    "tabs.tsv": "k\tv\n1\ta\\b\n",
    "lines.json": (
        '{"b":1,"a":{"x":[1,2],"d":"2024-01-02"},"t":"2024-01-02 10:00:00","f":1.5,'
        '"u":"6b1f3f8e-0b1c-4d5e-9f10-0123456789ab"}\n{"b":2,"q":null,"f":2}\n'
    ),
    "array.json": '[{"b":1,"c":"é"},\n {"b":2}]',
    "keys/day=2024-01-02/n=1/x.csv": "v\n1\n",
    "keys/day=2024-01-03/n=2/x.csv": "v\n2\n",
}
READ = [
    "read_parquet('{}/hive/**/*.parquet')",
    "read_parquet('{}/hive/*/*/*.parquet', hive_partitioning = false)",
    "parquet_scan('{}/hive/y=1/*/*.parquet')",
    "read_parquet('{}/p[[]1]*.parquet', filename = true)",
    "read_parquet(['{}/q.parquet', '{}/p*.parquet'], union_by_name = true)",
    "'{}/q.parquet'",
    "read_csv('{}/plain.csv')",
    "'{}/plain.csv'",
    "read_csv('{}/plain.csv', all_varchar = true)",
    "read_csv('{}/plain.csv', nullstr = 'NA', filename = 'source')",
    "read_csv('{}/plain.csv', types = {{'b': 'VARCHAR'}})",
    "read_csv('{}/bare.csv')",
    "read_csv_auto('{}/bare.csv', header = false, names = ['i', 'j', 'k'])",
    "read_csv('{}/bare.csv', columns = {{'x': 'BIGINT', 'y': 'VARCHAR', 'z': 'VARCHAR'}},"
    " delim = ';', header = false)",
    "'{}/tabs.tsv'",
    "'{}/packed.csv.gz'",
    "read_csv('{}/keys/**/*.csv')",
    "read_json('{}/lines.json')",
    "read_json_auto('{}/array.json')",
    "read_json('{}/array.json', format = 'array')",
    "read_json('{}/lines.json', columns = {{'b': 'BIGINT', 'f': 'DOUBLE'}})",
    "'{}/lines.json'",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write files of every format, some with pattern characters in their names."""
    found = tmp_path_factory.mktemp("files")
    for name, text in TEXTS.items():
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).write_text(text)
    with gzip.open(found / "packed.csv.gz", "wt") as packed:
        packed.write("p,q\n1,2\n")
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{found}/p[1]{{x}} +%20.parquet'")
    duckdb.execute(f"COPY (SELECT 2 AS a, 3 AS b) TO '{found}/q.parquet'")
    duckdb.execute(
        "COPY (SELECT i AS a, i % 3 AS y, i % 2 || 'b' AS m FROM range(10) t(i))"
        f" TO '{found}/hive' (FORMAT parquet, PARTITION_BY (y, m))"
    )
    return found


@pytest.fixture(scope="module")
def session(engine: Any) -> Iterator[Session]:
    """Yield a session without attached catalogs."""
    with Session(engine.spark) as found:
        yield found


def plain(value: Any) -> Any:
    """Return a value without the types in which the two engines wrap it."""
    match value:
        case dict():
            return tuple(map(plain, value.values()))
        case Row() | list() | tuple():
            return tuple(map(plain, value))
        case uuid.UUID():
            return str(value)
    return value


@pytest.mark.parametrize("source", READ)
def test_files_are_read_as_in_duckdb(session: Session, folder: Path, source: str) -> None:
    query = "SELECT * FROM " + source.format(folder, folder)
    expected = duckdb.execute(query)
    names = [column[0] for column in expected.description or ()]
    found = session.sql(query)
    assert found.columns == names
    rows = [plain(row) for row in found.collect()]
    assert sorted(rows, key=str) == sorted(map(plain, expected.fetchall()), key=str)


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("read_csv('{}/nope.csv')", NotFound, "No files found that match"),
        ("read_parquet('{}/nope*.parquet')", NotFound, "No files found that match"),
        ("'{}/nope.parquet'", NotFound, "No files found that match"),
        ("read_csv('{}/plain.csv', null_padding = true)", Unsupported, "option 'null_padding'"),
        ("read_parquet('{}/q.parquet', binary_as_string = true)", Unsupported, "binary_as_string"),
        ("read_csv(1)", InvalidInput, "expects a path or a list of paths"),
        ("read_csv([])", InvalidInput, "expects a path or a list of paths"),
        ("read_csv('{}/plain.csv', header = NULL)", InvalidInput, "cannot be NULL"),
        ("read_parquet('{}/q.parquet', hive_partitioning = 1)", InvalidInput, "true or false"),
        (
            "read_parquet('{}/q.parquet', hive_partitioning = true)",
            InvalidInput,
            "same hive partition keys",
        ),
        ("read_parquet('{}/plain.csv')", InvalidInput, "cannot be read"),
        ("read_json('{}/plain.csv')", InvalidInput, "Malformed JSON"),
        ("read_csv('{}/plain.csv', columns = {{'a': 'BIGINT'}})", InvalidInput, "cannot be read"),
    ],
)
def test_unreadable_files_are_named(
    session: Session, folder: Path, source: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        session.sql(f"SELECT * FROM {source.format(folder)}")


def test_folders_patterns_and_paths_are_resolved(folder: Path) -> None:
    (folder / "keys" / "_SUCCESS").touch()
    assert [Path(one).parent.name for one in found_files([f"{folder}/keys"])] == ["n=1", "n=2"]
    assert len(found_files([f"file://{folder}/q.parquet", f"{folder}/[!p-q]*.csv"])) == 2
    assert has_file_extension("a/b.parquet")
    assert has_file_extension("x.JSONL.gz")
    assert not has_file_extension("orders")
    assert not has_file_extension("main.orders")
