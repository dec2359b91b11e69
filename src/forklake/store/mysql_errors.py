"""Translation of MySQL and MariaDB errors by their numbers."""

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
_UNDONE = {1205, 1213}  # lock wait timeout, deadlock
# Denied: the login, the database, a table, a column, a right, and writing to a read-only server.
_FORBIDDEN = {1045, 1044, 1142, 1143, 1227, 1290, 1698, 1792, 1836}
# Too long for the column, out of range, invalid text, invalid time, larger than a packet.
_TOO_MUCH = {1406, 1264, 1366, 1292, 1153, 1300, 1301}
_MISSING = {NO_DATABASE, 1050, 1054, 1146}


def code_of(reason: Exception) -> int:
    """Return the server's number of an error; 0 if it has none."""
    code = reason.args[0] if reason.args else 0
    return code if isinstance(code, int) else 0


def translated(reason: Exception, address: str) -> ForklakeError:
    """Return the Forklake error for an error of the driver."""
    code = code_of(reason)
    detail = str(reason.args[1]) if code else str(reason) or type(reason).__name__
    if code == _TWICE:
        return _duplicate_key_error(detail)
    if code in _FORBIDDEN:
        return Forbidden(
            f"The database {address} does not allow this: {detail}",
            remedy="Connect as a user with the required privileges.",
        )
    if code in _TOO_MUCH or isinstance(reason, UnicodeEncodeError):
        return InvalidInput(
            f"The metastore cannot store this value: {detail}", remedy="Change the value."
        )
    if code in _MISSING:
        return Corruption(
            f"The database {address} lacks tables of a metastore: {detail}",
            remedy="Create the metastore: `forklake init`.",
            code=code,
        )
    return Unavailable(
        f"The database {address} did not answer: {detail}",
        remedy="Check that it is running and reachable, then try again.",
        code=code,
        is_undone=code in _UNDONE,
    )


def _duplicate_key_error(detail: str) -> ForklakeError:
    """Return the error for a duplicate key. The server names the index in the message only."""
    if "ducklake_catalog_live_name" in detail:
        return AlreadyExists(
            "A catalog with this name was created concurrently.", remedy="Choose another name."
        )
    if "ducklake_catalog_path" in detail:
        return Unavailable(
            "The folder of the new catalog was taken concurrently.", remedy="Try again."
        )
    return Corruption(f"The metastore rejected a row that already exists: {detail}")
