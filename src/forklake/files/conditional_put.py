"""Atomic creation of files, optionally only if no file of that name exists.

Concurrent readers must never see a half-written file, and of several writers that create a file of
one name exactly one may succeed. On a local disk the bytes are written to a temporary name, which
is then linked to the final one; object stores get a conditional put.
"""

from __future__ import annotations

import errno
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from posixpath import dirname
from typing import TYPE_CHECKING, BinaryIO, Literal

from pyarrow import fs

from forklake.errors import Forbidden, Unavailable, Unsupported
from forklake.files.systems import file_system, is_local, translating

if TYPE_CHECKING:
    from obstore.store import ObjectStore

Fill = Callable[[BinaryIO], object]

_CANNOT_LINK = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def put_if_absent(path: str, data: bytes) -> bool:
    """Create a file with this content; return False if a file of that name exists."""
    return create(path, lambda file: file.write(data))


def create(path: str, fill: Fill) -> bool:
    """Create a file with what `fill` writes to it; return False if a file of that name exists.

    If `fill` fails, no file is created.
    """
    if not is_local(path):
        return _put_object(path, fill, "create")
    _, inside = file_system(path)
    with translating(path):
        is_new = not os.path.lexists(inside) and _create_local(inside, fill)
    # Also when another writer won: work based on its file must not survive a crash without it.
    sync_folder(dirname(path))
    return is_new


def put(path: str, data: bytes) -> None:
    """Create a file with this content, or replace the existing one."""

    def fill(file: BinaryIO) -> None:
        file.write(data)

    if not is_local(path):
        _put_object(path, fill, "overwrite")
        return
    _, inside = file_system(path)
    with translating(path), _filled_beside(inside, fill) as temporary:
        os.replace(temporary, inside)
    sync_folder(dirname(path))


def sync_folder(folder: str) -> None:
    """Make file names in a local folder survive a crash; do nothing for object stores."""
    if not is_local(folder):
        return
    _, inside = file_system(folder)
    with translating(folder):
        descriptor = os.open(inside or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Local disks


def _create_local(path: str, fill: Fill) -> bool:
    with _filled_beside(path, fill) as temporary:
        return _link(temporary, path)


@contextmanager
def _filled_beside(path: str, fill: Fill) -> Iterator[str]:
    """Yield a complete temporary file in the same folder, which is created if it is missing.

    The temporary name is removed at the end of the block.
    """
    folder, name = os.path.split(path)
    os.makedirs(folder or ".", exist_ok=True)
    temporary = os.path.join(folder, f".{name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _link(existing: str, path: str) -> bool:
    try:
        os.link(existing, path)
    except FileExistsError:
        return False
    except OSError as reason:
        if reason.errno in _CANNOT_LINK:
            raise _cannot_put(path, "the file system does not support hard links") from reason
        raise
    return True


# Object stores


def _put_object(path: str, fill: Fill, mode: Literal["create", "overwrite"]) -> bool:
    # The bytes are buffered in a local file first: a put needs their number in advance.
    import obstore
    from obstore.exceptions import AlreadyExistsError

    _, inside = file_system(path)
    key = inside.partition("/")[2]
    store = _object_store(path.removesuffix(f"/{key}"))
    with tempfile.TemporaryFile() as file:
        fill(file)
        file.seek(0)
        try:
            with _translating_objects(path):
                obstore.put(store, key, file, mode=mode)
        except AlreadyExistsError:
            return False
    return True


@contextmanager
def _translating_objects(path: str) -> Iterator[None]:
    """Translate errors of an object store into ours, except AlreadyExistsError, which is expected
    from a conditional put."""
    from obstore import exceptions as theirs

    try:
        yield
    except theirs.AlreadyExistsError:
        raise
    except (theirs.NotSupportedError, NotImplementedError) as reason:
        raise _cannot_put(path, _first_line(reason)) from reason
    except (theirs.PermissionDeniedError, theirs.UnauthenticatedError) as reason:
        raise Forbidden(
            f"This user has no right to write {path!r}: {_first_line(reason)}.",
            remedy="Grant the right, or use other credentials.",
            path=path,
        ) from reason
    except (theirs.BaseError, OSError) as reason:
        raise Unavailable(
            f"{path!r} could not be written: {_first_line(reason)}.",
            remedy="Check the address and the credentials, then try again.",
            path=path,
        ) from reason


def _first_line(reason: Exception) -> str:
    return str(reason).partition("\n")[0].strip()


@lru_cache(maxsize=64)
def _object_store(bucket: str) -> ObjectStore:
    """Return the obstore client of a bucket URI. pyarrow has no conditional put."""
    from obstore.store import GCSStore, S3Store

    system, name = file_system(bucket)
    match system:
        case fs.S3FileSystem():
            return S3Store(name, region=system.region, client_options={"allow_http": True})
        case fs.GcsFileSystem():
            return GCSStore(name)
    raise _cannot_put(bucket, f"conditional writes to {system.type_name} are not supported")


def _cannot_put(path: str, why: str) -> Unsupported:
    return Unsupported(
        f"{path!r} cannot be created atomically by one of several writers: {why}.",
        remedy="Use a local disk with hard links, s3:// or gs://.",
        path=path,
    )
