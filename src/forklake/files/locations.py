"""Locations: one canonical form for each folder and file, however its path is written.

Symbolic links are resolved, equivalent schemes become one, and repeated slashes are removed.
"""

from __future__ import annotations

import os.path
import re
from urllib.parse import unquote

from forklake.errors import InvalidInput
from forklake.files.paths import checked_data_path
from forklake.model.data_paths import main_scheme

_LOCAL_URI = re.compile(r"file:(?://[^/]*)?(?=/)", re.IGNORECASE)
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)")
_HALF_ADDRESS = re.compile(r"(?:file:|[A-Za-z][A-Za-z0-9+.-]+:/)", re.IGNORECASE)
_SLASHES = re.compile(r"/(?:\.?/)+")


def local_path(path: str) -> str | None:
    """Return the local path of a path or `file:` URI; None for a remote address."""
    if local := _LOCAL_URI.match(path):
        return unquote(path[local.end() :])
    return None if _ADDRESS.match(path) else path


def split_address(path: str) -> tuple[str, str, str]:
    """Return the scheme, the host or bucket, and the remainder of an address, unchanged."""
    found = _ADDRESS.match(path)
    assert found is not None, path
    return found[1], found[2], path[found.end() :]


def normalize_data_path(path: str) -> str:
    """Return a data path in the form in which it is stored, with a slash at its end.

    A local folder becomes absolute, without symbolic links. The scheme of an address is kept:
    Spark may have a file system for it, but not for an equivalent one (`s3:` and `s3a:`).
    """
    checked = checked_data_path(path)
    local = local_path(checked)
    if local is not None:
        if local == checked and _HALF_ADDRESS.match(local):  # a folder would get such a name
            raise InvalidInput(
                f"The data path {path!r} is neither a folder nor an address.",
                remedy="Write an address with two slashes and a host or bucket, as in"
                " s3://bucket/folder, and a folder after file: with its full path.",
            )
        return os.path.realpath(local).rstrip("/") + "/"
    scheme, host, inside = split_address(checked)
    return f"{scheme.lower()}://{host.lower()}{_SLASHES.sub('/', inside or '/')}"


def location_of(path: str) -> str:
    """Return the canonical form of a path: equal for two paths of one file."""
    local = local_path(path)
    if local is not None:
        return os.path.realpath(local)
    scheme, host, inside = split_address(path)
    return f"{main_scheme(scheme.lower())}://{host.lower()}{_SLASHES.sub('/', inside)}"
