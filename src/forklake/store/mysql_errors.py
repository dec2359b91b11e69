"""What errors of MySQL and MariaDB mean, by their numbers."""

from __future__ import annotations

from forklake.errors import (
    AlreadyExists,
    Corruption,
    Forbidden,
    ForklakeError,
    InvalidInput,
    Unavailable,
)

NO_DATABASE = 1049
INDEX_EXISTS = 1061
_TWICE = 1062
_UNDONE = {1205, 1213}  # waited for too long, or for each other
# Denied: the login, the database, a table, a column, a right, and writing to a read-only server.
_FORBIDDEN = {1045, 1044, 1142, 1143, 1227, 1290, 1698, 1792, 1836}
# Longer than its column, out of its range, not text, not a time, larger than a packet.
_TOO_MUCH = {1406, 1264, 1366, 1292, 1153, 1300, 1301}
_MISSING = {NO_DATABASE, 1050, 1054, 1146}


def code_of(reason: Exception) -> int:
    """The server's number for an error; 0 if it has none."""
    code = reason.args[0] if reason.args else 0
    return code if isinstance(code, int) else 0


def translated(reason: Exception, address: str) -> ForklakeError:
    """The error of ours that a driver's error means."""
    code = code_of(reason)
    said = str(reason.args[1]) if code else str(reason) or type(reason).__name__
    if code == _TWICE:
        return _refused(said)
    if code in _FORBIDDEN:
        return Forbidden(
            f"The database {address} does not allow this: {said}",
            remedy="Connect as a user who may.",
        )
    if code in _TOO_MUCH or isinstance(reason, UnicodeEncodeError):
        return InvalidInput(f"The database cannot hold this value: {said}", remedy="Change it.")
    if code in _MISSING:
        return Corruption(
            f"The database {address} does not have the tables of a metastore: {said}",
            remedy="Create them with: forklake init.",
            code=code,
        )
    return Unavailable(
        f"The database {address} did not answer: {said}",
        remedy="Check that it is running and reachable, then try again.",
        code=code,
        is_undone=code in _UNDONE,
    )


def _refused(said: str) -> ForklakeError:
    """The error for a row that is there already; the server tells which in its text alone."""
    if "ducklake_catalog_live_name" in said:
        return AlreadyExists(
            "A catalog of that name was created at the same moment.", remedy="Choose another name."
        )
    if "ducklake_catalog_path" in said:
        return Unavailable("A folder was taken at the same moment.", remedy="Try again.")
    return Corruption(f"The metastore refused a row that it holds already: {said}")
