"""Putting files: whole or not at all, and where it matters only where none is yet.

A file that others may look for at any moment must never be seen half-written, and of many who
make one of the same name exactly one may win. On a local disk the bytes go to a name of their own
and are linked to the wanted one; object stores are asked to put only where nothing is.
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
    """Make a file that holds the data; False if one of that name is there already."""
    return create(path, lambda file: file.write(data))


def create(path: str, fill: Fill) -> bool:
    """Make a file of what `fill` writes, in any amount; False if one is there already.

    If `fill` fails there is no file.
    """
    if not is_local(path):
        return _put_object(path, fill, "create")
    _, inside = file_system(path)
    with translating(path):
        is_new = not os.path.lexists(inside) and _create_local(inside, fill)
    # Also for whoever lost: what is built on the other's file must not outlive it in a crash.
    sync_folder(dirname(path))
    return is_new


def put(path: str, data: bytes) -> None:
    """Make a file that holds the data, in place of one that may be there."""

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
    """Make sure that the names in a local folder survive a crash; others have nothing to do."""
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
    """A file in the same folder, which is made if need be; its name ends with the block."""
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
            raise _cannot_put(path, "its file system has no hard links") from reason
        raise
    return True


# Object stores


def _put_object(path: str, fill: Fill, mode: Literal["create", "overwrite"]) -> bool:
    """The bytes are gathered on a local disk first: the store is told how many there are."""
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
    """Errors of an object store become ours; that there is one already is none."""
    from obstore import exceptions as theirs

    try:
        yield
    except theirs.AlreadyExistsError:
        raise
    except (theirs.NotSupportedError, NotImplementedError) as reason:
        raise _cannot_put(path, _first_line(reason)) from reason
    except (theirs.PermissionDeniedError, theirs.UnauthenticatedError) as reason:
        raise Forbidden(
            f"{path!r} may not be put by this user: {_first_line(reason)}.",
            remedy="Grant the rights, or use the credentials of somebody who has them.",
            path=path,
        ) from reason
    except (theirs.BaseError, OSError) as reason:
        raise Unavailable(
            f"{path!r} could not be put: {_first_line(reason)}.",
            remedy="Check the address and the credentials, then try again.",
            path=path,
        ) from reason


def _first_line(reason: Exception) -> str:
    return str(reason).partition("\n")[0].strip()


@lru_cache(maxsize=64)
def _object_store(bucket: str) -> ObjectStore:
    """A bucket, by its URI, as the one library sees it that can put where nothing is."""
    from obstore.store import GCSStore, S3Store

    system, name = file_system(bucket)
    match system:
        case fs.S3FileSystem():
            return S3Store(name, region=system.region, client_options={"allow_http": True})
        case fs.GcsFileSystem():
            return GCSStore(name)
    raise _cannot_put(bucket, f"{system.type_name} is not known to do it")


def _cannot_put(path: str, why: str) -> Unsupported:
    return Unsupported(
        f"{path!r} cannot be made so that only one of many writers makes it: {why}.",
        remedy="Use a local disk with hard links, s3:// or gs://.",
        path=path,
    )
