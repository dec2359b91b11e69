"""File systems: what a path or URI leads to, and the few things done with files there.

A path without a scheme, or with `file:`, is local; `s3://bucket/key` and `gs://bucket/key` are
taken as they are written, without percent-decoding, since a key may contain anything. Credentials
and endpoints come from the environment, as the tools of those stores have them.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from pyarrow import ArrowInvalid, ArrowNotImplementedError, fs

from forklake.errors import Forbidden, NotFound, Unavailable, Unsupported
from forklake.files.locations import local_path, split_address
from forklake.model.data_paths import main_scheme

_REQUEST = re.compile(
    r"AWS Error|curlCode|HTTP|google::cloud|Connection|connection|timed out|Timeout|request failed"
)
_FULL = {errno.ENOSPC, errno.EDQUOT}
# Requests under way at once; they mostly wait for the network or the disk.
_THREADS = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that was found in a folder."""

    path: str
    size: int
    modified: datetime | None


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path inside it."""
    local = local_path(path)
    if local is not None:
        return _local(), local
    scheme, bucket, inside = split_address(path)
    return _remote(main_scheme(scheme.lower()), bucket), bucket + inside


def is_local(path: str) -> bool:
    """Whether a path leads to this machine's disks."""
    return isinstance(file_system(path)[0], fs.LocalFileSystem)


@lru_cache(maxsize=1)
def _local() -> fs.FileSystem:
    return fs.LocalFileSystem()


@lru_cache(maxsize=64)
def _remote(scheme: str, bucket: str) -> fs.FileSystem:
    """A connection for each bucket: finding its region takes a request."""
    uri = f"{scheme}://{bucket}"
    try:
        return fs.FileSystem.from_uri(uri)[0]
    except (ArrowInvalid, ArrowNotImplementedError) as reason:
        raise Unsupported(
            f"No file system is known for {uri!r}: {reason}.",
            remedy="Use a local path, s3:// or gs://.",
        ) from reason
    except OSError as reason:
        raise Unavailable(
            f"The file system {uri!r} cannot be reached: {reason}.",
            remedy="Check the address and the credentials, then try again.",
        ) from reason


@contextmanager
def translating(path: str) -> Iterator[None]:
    """Errors of a file system inside become errors of ours that name the path."""
    try:
        yield
    except FileNotFoundError as reason:
        raise NotFound(
            f"The file {path!r} does not exist.",
            remedy="Restore it, or check the path.",
            path=path,
        ) from reason
    except PermissionError as reason:
        raise Forbidden(
            f"{path!r} may not be read or changed by this user.",
            remedy="Grant the rights, or run as somebody who has them.",
            path=path,
        ) from reason
    except OSError as reason:
        is_full = reason.errno in _FULL
        raise Unavailable(
            f"No space is left to write {path!r}." if is_full else f"{path!r} failed: {reason}.",
            remedy="Make room, then try again." if is_full else "Try again.",
            path=path,
        ) from reason


def is_storage_failure(error: BaseException) -> bool:
    """Whether a read failed because of the storage or the network, and not because of the file.

    Arrow raises OSError for both: a failure of this machine has a number, one of an object store
    names the request.
    """
    return isinstance(error, OSError) and (
        error.errno is not None or bool(_REQUEST.search(str(error)))
    )


def in_parallel(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The function of every item, in order; the first error ends it once all are done."""
    todo = list(items)
    if len(todo) < 2:
        return [function(item) for item in todo]
    with ThreadPoolExecutor(min(_THREADS, len(todo))) as pool:
        return list(pool.map(function, todo))


def for_each_file(function: Callable[[str], Result], paths: Sequence[str]) -> list[Result]:
    """The function of every file, in order. On a local disk there is nothing to wait for, and
    threads only get in each other's way."""
    if all(is_local(path) for path in paths):
        return [function(path) for path in paths]
    return in_parallel(function, paths)


# What is done with files


def exists(path: str) -> bool:
    """Whether there is a file or folder."""
    return bool(_info(path).type != fs.FileType.NotFound)


def size(path: str) -> int:
    """The bytes of a file; NotFound if there is none."""
    info = _info(path)
    if info.type != fs.FileType.File:
        raise NotFound(
            f"The file {path!r} does not exist.", remedy="Restore it, or check the path.", path=path
        )
    return int(info.size)


def _info(path: str) -> fs.FileInfo:
    system, inside = file_system(path)
    with translating(path):
        return system.get_file_info(inside)


def open_input(path: str) -> Any:
    """The file, to be read at any place."""
    system, inside = file_system(path)
    with translating(path):
        return system.open_input_file(inside)


def write(path: str, data: Any) -> None:
    """Write a whole file at once; a half-written one is removed."""
    system, inside = file_system(path)
    try:
        with translating(path), system.open_output_stream(inside, compression=None) as stream:
            stream.write(data)
    except Unavailable:
        remove([path])
        raise


def make_folder(path: str) -> None:
    """Make a folder and those above it; one that is there already is fine."""
    system, inside = file_system(path)
    with translating(path):
        system.create_dir(inside, recursive=True)


def list_files(folder: str) -> list[Listed]:
    """All files beneath a folder, by path; none if there is no such folder.

    Paths begin with the folder as it was given, so that they resolve as it does.
    """
    system, inside = file_system(folder)
    root = inside.rstrip("/")
    with translating(folder):
        found = system.get_file_info(
            fs.FileSelector(root or "/", recursive=True, allow_not_found=True)
        )
    prefix = folder.rstrip("/")
    listed = (
        Listed(prefix + info.path[len(root) :], int(info.size), info.mtime)
        for info in found
        if info.type == fs.FileType.File
    )
    return sorted(listed, key=lambda file: file.path)


def remove(paths: Iterable[str]) -> None:
    """Remove files; those that are not there are fine."""
    in_parallel(_remove_one, paths)


def _remove_one(path: str) -> None:
    system, inside = file_system(path)
    try:
        with translating(path):
            system.delete_file(inside)
    except NotFound:
        return
