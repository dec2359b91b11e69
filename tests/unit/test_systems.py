"""File systems: paths, URIs, and operations on files."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklake.errors import NotFound, Unavailable, Unsupported
from forklake.files.systems import (
    exists,
    file_system,
    in_parallel,
    is_local,
    list_files,
    make_folder,
    open_input,
    remove,
    size,
    translating,
    write,
)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/a/b c.parquet", "/a/b c.parquet"),
        ("a/p=x:y/b%20.parquet", "a/p=x:y/b%20.parquet"),
        ("file:/a/b%20c%25.parquet", "/a/b c%.parquet"),
        ("file:///a/b?c#d", "/a/b?c#d"),
        ("file://localhost/a", "/a"),
    ],
)
def test_local_paths_are_kept_and_uris_decoded(path: str, inside: str) -> None:
    assert file_system(path)[1] == inside
    assert is_local(path)


def test_an_unknown_scheme_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="ftp"):
        file_system("ftp://host/x")


def test_files_are_written_found_listed_and_removed(tmp_path: Path) -> None:
    folder = f"{tmp_path}/a/we ird[1]"
    make_folder(folder)
    make_folder(folder)
    names = [f"{folder}/{number}.x" for number in range(40)]
    in_parallel(lambda name: write(name, b"x" * 7), names)
    assert exists(names[0])
    assert exists(folder)
    assert size(names[0]) == 7
    listed = list_files(f"{tmp_path}/")
    assert [file.path for file in listed] == sorted(names)
    assert {file.size for file in listed} == {7}
    assert all(file.modified is not None for file in listed)
    with open_input(names[3]) as file:
        assert file.read_at(3, 4) == b"xxx"
    remove([*names[1:], f"{folder}/never was"])
    assert [file.path for file in list_files(folder)] == [names[0]]
    assert not exists(names[1])


def test_listed_paths_begin_with_the_given_folder(tmp_path: Path) -> None:
    write(f"{tmp_path}/x", b"")
    assert [file.path for file in list_files(f"file:{tmp_path}")] == [f"file:{tmp_path}/x"]
    assert list_files(f"{tmp_path}/none") == []


def test_missing_files_are_named(tmp_path: Path) -> None:
    missing = f"{tmp_path}/none.parquet"
    for look in (size, open_input):
        with pytest.raises(NotFound, match=r"none\.parquet"):
            look(missing)
    with pytest.raises(NotFound):
        size(str(tmp_path))
    assert not exists(missing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_reported_as_unavailable() -> None:
    system, inside = file_system("/dev/full")
    with (
        pytest.raises(Unavailable, match="No space is left") as error,
        translating("/lake/x.parquet"),
        system.open_append_stream(inside) as stream,
    ):
        stream.write(b"x" * 100_000)
    assert "/lake/x.parquet" in str(error.value)


def test_a_file_in_place_of_a_folder_is_a_forklake_error(tmp_path: Path) -> None:
    write(f"{tmp_path}/x", b"")
    with pytest.raises((Unavailable, NotFound)) as error:
        write(f"{tmp_path}/x/y", b"")
    assert f"{tmp_path}/x/y" in str(error.value)


def test_the_first_of_many_errors_is_raised(tmp_path: Path) -> None:
    write(f"{tmp_path}/0", b"12")
    with pytest.raises(NotFound, match="/1"):
        in_parallel(size, [f"{tmp_path}/{number}" for number in range(3)])
