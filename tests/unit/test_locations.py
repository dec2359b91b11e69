"""Normal forms of folder and file paths, whatever their spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklake.errors import InvalidInput
from forklake.files.file_search import files_outside_of_tables
from forklake.files.locations import location_of, normalize_data_path
from forklake.files.systems import Listed
from forklake.model.data_paths import enclosed_range, list_enclosing, list_spellings


@pytest.mark.parametrize(
    ("path", "stored"),
    [
        ("/lake", "/lake/"),
        ("/lake//sales/./x///", "/lake/sales/x/"),
        ("file:/lake", "/lake/"),
        ("FILE:///lake/a%20b", "/lake/a b/"),
        ("file://localhost/lake", "/lake/"),
        ("/", "/"),
        ("S3A://Bucket//lake/", "s3a://bucket/lake/"),
        ("s3://bucket", "s3://bucket/"),
        ("s3://bucket/a/./b", "s3://bucket/a/b/"),
        ("s3://bucket/a%20b", "s3://bucket/a%20b/"),
    ],
)
def test_data_paths_are_normalized(path: str, stored: str) -> None:
    assert normalize_data_path(path) == stored == normalize_data_path(stored)


@pytest.mark.parametrize("path", ["hdfs:/x", "s3:/bucket/x", "s3://", "file:x/y", "File:./x"])
def test_incomplete_addresses_are_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="is neither a folder nor an address"):
        normalize_data_path(path)
    assert normalize_data_path("/x/s3:/y") == "/x/s3:/y/"


def test_relative_paths_and_symbolic_links_are_resolved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path)
    assert normalize_data_path("link/sales") == f"{tmp_path}/real/sales/"
    assert location_of("link/a.parquet") == location_of(f"file://{tmp_path}/real//a.parquet")


@pytest.mark.parametrize("path", ["s3a://b/x/f.parquet", "S3N://b//x/f.parquet"])
def test_equivalent_schemes_are_one_location(path: str) -> None:
    assert location_of(path) == "s3://b/x/f.parquet"


def test_enclosing_folders_and_spellings_of_a_data_path_are_listed() -> None:
    assert list_enclosing("/") == list_enclosing("s3://b/") == []
    assert list_enclosing("/lake/sales/") == ["/", "/lake/"]
    assert list_enclosing("s3://b/lake/sales/") == ["s3://b/", "s3://b/lake/"]
    assert list_spellings("gs://b/") == ["gs://b/", "gcs://b/"]
    assert "file:///lake/" in list_spellings("/lake/")


@pytest.mark.parametrize("path", ["/lake/sales/", "/lake/é/", "/lake/\U0001f600/a"])
def test_paths_within_a_data_path_are_a_range(path: str) -> None:
    after, before = enclosed_range("/lake/")
    assert after < path < before
    assert not after < "/lake/" < before
    assert not after < "/lake-2/" < before


def test_files_of_delta_and_iceberg_tables_are_recognized_by_their_logs() -> None:
    paths = [
        "/x/delta/_delta_log/00000000000000000000.json",
        "/x/delta/part=1/a.parquet",
        "/x/ice/metadata/v1.metadata.json",
        "/x/ice/data/b.parquet",
        "/x/delta-2/c.parquet",
        "/x/_delta_log/d.parquet",
        "/x/metadata/e.parquet",
    ]
    files = [Listed(path, 1, None) for path in paths]
    assert [one.path for one in files_outside_of_tables(files)] == paths[4:]
