"""Links to files of other folders below the root of a Delta table, and their paths in the log.

Few Delta readers follow paths outside of the root of a table. So a shared file gets a second name
below the root: on a local disk a hard link, which needs no space, in an object store a server-side
copy.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterable
from posixpath import dirname
from typing import BinaryIO
from urllib.parse import quote

from forklake.errors import Conflict, InvalidInput
from forklake.files.conditional_put import create, sync_folder
from forklake.files.systems import (
    exists,
    file_system,
    for_each_file,
    is_local,
    make_folder,
    open_input,
    size,
    translating,
)

# Another disk, a disk without hard links, or a file of another owner: the file is copied instead.
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_IN_A_LOG = "/="  # safe characters in addition to letters, digits, and _.-~
_UP = re.compile(r"(^|/)\.\.?(/|$)")


def link_missing_files(files: Iterable[tuple[str, str]]) -> int:
    """Link or copy files (source, target) whose target is missing, and return their number.

    The new names are synced to disk, so that a commit can reference them safely.
    """
    sources = {target: source for source, target in files}
    folders = sorted({dirname(target) for target in sources if is_local(target)})
    for folder in folders:
        make_folder(folder)
    are_new = for_each_file(lambda target: _link_or_copy(sources[target], target), list(sources))
    for folder in folders:
        sync_folder(folder)
    return sum(are_new)


def _link_or_copy(source: str, target: str) -> bool:
    if is_local(source) and is_local(target):
        is_new = _hard_link(source, target)
    else:
        is_new = not exists(target) and _copy(source, target)
    if not is_new and size(source) != size(target):
        raise Conflict(
            f"{target!r} already exists and differs from {source!r}: their sizes are not equal.",
            remedy="Move it away, or publish the table to another location.",
            path=target,
        )
    return is_new


def _hard_link(source: str, target: str) -> bool:
    with translating(source):
        try:
            os.link(file_system(source)[1], file_system(target)[1])
        except FileExistsError:
            return False
        except OSError as reason:
            if reason.errno not in _NO_LINK:
                raise
            return _stream(source, target)
    return True


def _copy(source: str, target: str) -> bool:
    """Copy a file: on the server within one kind of store, otherwise through this process."""
    (origin, path), (system, new_path) = file_system(source), file_system(target)
    if origin.type_name != system.type_name:
        return _stream(source, target)
    with translating(source):
        system.copy_file(path, new_path)
    return True


def _stream(source: str, target: str) -> bool:
    def fill(file: BinaryIO) -> None:
        with open_input(source) as original:
            shutil.copyfileobj(original, file, 1 << 20)

    return create(target, fill)


# Names in the log


def relative_uri(path: str) -> str:
    """Return a path below the root of a table as a relative URI of the log.

    >>> relative_uri("region=us %2F x/1.parquet")
    'region=us%20%252F%20x/1.parquet'
    """
    if not path or path.startswith("/") or _UP.search(path):
        raise InvalidInput(
            f"{path!r} is not a path below the root of a table.",
            remedy="Name a file relative to the root, without '..'.",
            path=path,
        )
    return quote(path, safe=_IN_A_LOG)
