"""Linking: files of another place made present below a table's root, and their names in the log.

Few readers of Delta follow paths that lead out of a table's root. A file that is shared gets a
second name there: on a local disk a hard link, which costs nothing, in an object store a copy
that the store makes by itself.
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
from forklake.files.putting import create, sync_folder
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

# On another disk, on one without hard links, or a file of somebody else: then it is copied.
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_IN_A_LOG = "/="  # beside letters, digits, and _.-~
_UP = re.compile(r"(^|/)\.\.?(/|$)")


def make_present(files: Iterable[tuple[str, str]]) -> int:
    """Make each file present under its second name as well; the number of those that were not.

    The names survive a crash, so that a commit may name them from then on.
    """
    sources = {target: source for source, target in files}
    folders = sorted({dirname(target) for target in sources if is_local(target)})
    for folder in folders:
        make_folder(folder)
    made = for_each_file(lambda target: _make_one(sources[target], target), list(sources))
    for folder in folders:
        sync_folder(folder)
    return sum(made)


def _make_one(source: str, target: str) -> bool:
    if is_local(source) and is_local(target):
        is_new = _link(source, target)
    else:
        is_new = not exists(target) and _copy(source, target)
    if not is_new and size(source) != size(target):
        raise Conflict(
            f"{target!r} is there already and is not {source!r}: their sizes differ.",
            remedy="Move it away, or give the table another root.",
            path=target,
        )
    return is_new


def _link(source: str, target: str) -> bool:
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
    """Within one kind of store the store copies; between two the bytes go through here."""
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
    """A path below a table's root as the log spells it.

    >>> relative_uri("region=us %2F x/1.parquet")
    'region=us%20%252F%20x/1.parquet'
    """
    if not path or path.startswith("/") or _UP.search(path):
        raise InvalidInput(
            f"{path!r} is not a path below a table's root.",
            remedy="Name a file relative to the root, without '..'.",
            path=path,
        )
    return quote(path, safe=_IN_A_LOG)
