"""File systems of paths and URIs, and the operations on files that Forklake uses.

A path without a scheme, or with `file:`, is local. `s3://bucket/key` and `gs://bucket/key` are used
as written, without percent-decoding, since a key may contain any character. Credentials and
endpoints come from the environment variables that the tools of those stores use.
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
# Maximum concurrent requests; they mostly wait for the network or the disk.
_THREADS = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a folder listing."""

    path: str
    size: int
    modified: datetime | None


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a path or URI, and the path inside it."""
    local = local_path(path)
    if local is not None:
        return _local(), local
    scheme, bucket, inside = split_address(path)
    return _remote(main_scheme(scheme.lower()), bucket), bucket + inside


def is_local(path: str) -> bool:
    """Return whether a path is on a disk of this machine."""
    return isinstance(file_system(path)[0], fs.LocalFileSystem)


@lru_cache(maxsize=1)
def _local() -> fs.FileSystem:
    return fs.LocalFileSystem()


@lru_cache(maxsize=64)
def _remote(scheme: str, bucket: str) -> fs.FileSystem:
    """Return a client, cached per bucket: finding the region of a bucket takes a request."""
    uri = f"{scheme}://{bucket}"
    try:
        return fs.FileSystem.from_uri(uri)[0]
    except (ArrowInvalid, ArrowNotImplementedError) as reason:
        raise Unsupported(
            f"No file system is available for {uri!r}: {reason}.",
            remedy="Use a local path, s3:// or gs://.",
        ) from reason
    except OSError as reason:
        raise Unavailable(
            f"The file system {uri!r} cannot be reached: {reason}.",
            remedy="Check the address and the credentials, then try again.",
        ) from reason


@contextmanager
def translating(path: str) -> Iterator[None]:
    """Translate errors of a file system into Forklake errors that name the path."""
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
            f"This user has no right to read or change {path!r}.",
            remedy="Grant the right, or run as another user.",
            path=path,
        ) from reason
    except OSError as reason:
        is_full = reason.errno in _FULL
        raise Unavailable(
            f"No space is left to write {path!r}."
            if is_full
            else f"Access to {path!r} failed: {reason}.",
            remedy="Free some space, then try again." if is_full else "Try again.",
            path=path,
        ) from reason


def is_storage_failure(error: BaseException) -> bool:
    """Return whether a read failed because of the storage or the network, not because of the file.

    Arrow raises OSError for all of these: an error of this machine has an errno, one of an object
    store mentions the request in its text.
    """
    return isinstance(error, OSError) and (
        error.errno is not None or bool(_REQUEST.search(str(error)))
    )


def in_parallel(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to every item on threads; return the results in order.

    The first error is raised after all started calls have ended.
    """
    todo = list(items)
    if len(todo) < 2:
        return [function(item) for item in todo]
    with ThreadPoolExecutor(min(_THREADS, len(todo))) as pool:
        return list(pool.map(function, todo))


def for_each_file(function: Callable[[str], Result], paths: Sequence[str]) -> list[Result]:
    """Apply a function to every file; return the results in order.

    Local files are handled on one thread: they have no latency to hide, and threads would contend.
    """
    if all(is_local(path) for path in paths):
        return [function(path) for path in paths]
    return in_parallel(function, paths)


# Operations


def exists(path: str) -> bool:
    """Return whether a file or folder exists at this path."""
    return bool(_info(path).type != fs.FileType.NotFound)


def size(path: str) -> int:
    """Return the size of a file in bytes; raise NotFound if it does not exist."""
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
    """Open a file for random access."""
    system, inside = file_system(path)
    with translating(path):
        return system.open_input_file(inside)


def write(path: str, data: Any) -> None:
    """Write a file in one call; remove it if the write fails."""
    system, inside = file_system(path)
    try:
        with translating(path), system.open_output_stream(inside, compression=None) as stream:
            stream.write(data)
    except Unavailable:
        remove([path])
        raise


def make_folder(path: str) -> None:
    """Create a folder and its parents, if they do not exist."""
    system, inside = file_system(path)
    with translating(path):
        system.create_dir(inside, recursive=True)


def list_files(folder: str) -> list[Listed]:
    """Return all files below a folder, sorted by path; an empty list if it does not exist.

    Paths begin with `folder` exactly as given, so that both resolve in the same way.
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
    """Remove files; missing ones are ignored."""
    in_parallel(_remove_one, paths)


def _remove_one(path: str) -> None:
    system, inside = file_system(path)
    try:
        with translating(path):
            system.delete_file(inside)
    except NotFound:
        return
