"""SQLite: the embedded default. Many processes may share the file, with one writer at a time."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forklake.errors import Corruption, Forbidden, ForklakeError, InvalidInput, Unavailable
from forklake.model.ids import CatalogId, SnapshotId
from forklake.store.database import Dialect, Lock, Rows
from forklake.store.operations import (
    Allocate,
    Allocation,
    Insert,
    Operation,
    Statement,
    insert_text,
)
from forklake.store.private_files import create_private_file, open_beside
from forklake.store.reservations import Turn
from forklake.store.row_fetch import RowFetching
from forklake.store.schema.metastore import define_metastore, find_form

_BUSY_SECONDS = 60.0
# Prefixes of errors that may be temporary.
_PASSING = (
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_PROTOCOL",
    "SQLITE_IOERR",
    "SQLITE_FULL",
    "SQLITE_CANTOPEN",
    "SQLITE_NOMEM",
    "SQLITE_INTERRUPT",
)
_TYPES = {"boolean": "BOOLEAN", "blob": "BLOB"}
_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}


class SqliteDialect:
    """SQL texts of SQLite."""

    name = "sqlite"
    least = "min"
    joins_writes = False
    for_commit = ""
    for_fork = ""
    for_removal = ""
    for_picking = ""
    now = "strftime('%Y-%m-%d %H:%M:%f000+00:00', 'now')"
    every_column = (
        "SELECT t.name, c.name, c.type FROM sqlite_master t, pragma_table_info(t.name) c"
        " WHERE t.type IN ('table', 'view') ORDER BY t.name, c.cid"
    )

    def any_of(self, column: str, parameter: str) -> str:
        return f"{column} IN (SELECT value FROM json_each(:{parameter}))"

    def array(self, values: Sequence[Any]) -> Any:
        return json.dumps(list(values))

    def in_code_order(self, column: str) -> str:
        return column

    def ending(self, column: str, length: int) -> str:
        return f"substr({column}, -{length})"

    def time(self, column: str) -> str:
        return f"{column} AS 'time [TIMESTAMPTZ]'"

    def column_type(self, name: str) -> str:
        return "INTEGER" if name in _INTEGERS else _TYPES.get(name, "TEXT")


def _read_time(text: bytes) -> datetime:
    return datetime.fromisoformat(text.decode())


def _write_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(sep=" ", timespec="microseconds")


# A process that closes a file gives up all its POSIX locks on it, also those of its SQLite
# connections: so no thread may connect while another one creates the file.
_creation = threading.Lock()

sqlite3.register_converter("BOOLEAN", lambda text: text == b"1")
sqlite3.register_converter("TIMESTAMPTZ", _read_time)
sqlite3.register_adapter(datetime, _write_time)


class SqliteConnection(RowFetching):
    """Transaction, or reader, on one connection."""

    dialect: Dialect = SqliteDialect()

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        return self._raw.execute(sql, parameters).fetchall()

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        return [self._one(operation) for operation in operations]

    def commit(self, operations: Sequence[Operation] = ()) -> list[Rows]:
        found = self.run(operations)
        self._raw.execute("COMMIT")
        return found

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        return "", {}

    def columns_of(self, table: str) -> list[str]:
        cursor = self._raw.execute(f"SELECT * FROM {table} LIMIT 0")
        return [column[0] for column in cursor.description]

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        return []

    def _one(self, operation: Operation) -> Rows:
        if isinstance(operation, Statement):
            return self._raw.execute(operation.sql, operation.parameters).fetchall()
        if isinstance(operation, Insert):
            shape = (operation.table, operation.columns, 1, operation.skips_existing)
            self._raw.executemany(insert_text(shape, "?"), operation.rows)
            return []
        return [self._allocate(operation)]

    def _allocate(self, wanted: Allocate) -> Allocation:
        snapshot = self._take("snapshot", wanted.snapshots)
        entity = self._take("entity", wanted.entities)
        file = self._take("file", wanted.files)
        return Allocation(
            [SnapshotId(snapshot + one) for one in range(wanted.snapshots)],
            range(entity, entity + wanted.entities),
            range(file, file + wanted.files),
            entity + wanted.entities,
            file + wanted.files,
            datetime.now(UTC),
        )

    def _take(self, sequence: str, count: int) -> int:
        (value,) = self._raw.execute(
            "UPDATE ducklake_sequence SET next_value = next_value + ? WHERE name = ?"
            " RETURNING next_value",
            (count, sequence),
        ).fetchone()
        return int(value) - count


class SqliteDatabase:
    """Metastore in a SQLite file.

    Schemas other than `main` are files beside it: SQLite has no schemas.
    """

    dialect: Dialect = SqliteDialect()

    def __init__(self, path: str, *, metadata_schema: str | None = None) -> None:
        beside = "" if metadata_schema in {None, "main", "public"} else f".{metadata_schema}"
        self.address = f"{path}{beside}"
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writers = threading.RLock()
        self._is_reserved = False  # by the thread that holds `_writers`
        folder = Path(self.address).parent
        if not folder.is_dir():
            raise InvalidInput(
                f"The folder {folder} of the metastore does not exist.",
                remedy="Create the folder first.",
            )

    def _connect(self) -> sqlite3.Connection:
        with _creation:
            create_private_file(self.address)  # SQLite gives its other files the same mode
        raw = sqlite3.connect(
            self.address,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES,
            check_same_thread=False,
            cached_statements=512,
        )
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA cache_size = -65536")
        return raw

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            raw = self._idle.pop() if self._idle else None
        try:
            raw = raw or self._connect()
            try:
                yield raw
            finally:
                if raw.in_transaction:
                    raw.execute("ROLLBACK")
        except (sqlite3.Error, UnicodeEncodeError, OverflowError) as reason:
            raise self._translate_error(reason) from reason
        finally:
            if raw is not None:
                with self._guard:
                    self._idle.append(raw)

    @contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        with self._borrowed() as raw:
            yield SqliteConnection(raw)

    @contextmanager
    def writing(self) -> Iterator[SqliteConnection]:
        # The busy handler of SQLite polls with growing pauses, which starves long waiters.
        # Queueing on a file lock wakes them when the lock is released instead.
        with self._reserved(), self._borrowed() as raw:
            raw.execute("BEGIN IMMEDIATE")
            yield SqliteConnection(raw)

    @contextmanager
    def _reserved(self) -> Iterator[None]:
        """Hold the lock of the only writer; reentrant for its thread."""
        with self._writers:
            if self._is_reserved:
                yield
                return
            with self._queue():
                self._is_reserved = True
                try:
                    yield
                finally:
                    self._is_reserved = False

    @contextmanager
    def _queue(self) -> Iterator[None]:
        try:
            handle = open_beside(f"{self.address}-line", self.address)
        except OSError:
            # The folder is not writable: let SQLite raise the error.
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def turn(self, catalog_id: CatalogId) -> Iterator[Turn]:
        # One for all catalogs: a SQLite file has a single writer anyway.
        handle = open_beside(f"{self.address}-turn", self.address)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self
        finally:
            os.close(handle)

    def reserve(self) -> AbstractContextManager[None]:
        # One for all catalogs: a SQLite file has a single writer anyway.
        return self._reserved()

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        return nullcontext()  # commits of other threads wait in `writing`

    @contextmanager
    def upkeep(self, catalog_id: CatalogId) -> Iterator[bool]:
        # One for all catalogs: a SQLite file has a single writer anyway.
        handle = open_beside(f"{self.address}-upkeep", self.address)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(handle)

    def is_initialised(self) -> bool:
        if not Path(self.address).exists():
            return False
        with self.reading() as connection:
            found = connection.fetch(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ducklake_metadata'"
            )
        return bool(found)

    def load_schema(self) -> None:
        with self._reserved(), self._borrowed() as raw:
            for one in find_form("sqlite").preparation:
                raw.execute(one.text)
            raw.execute("BEGIN IMMEDIATE")
            for one in define_metastore("sqlite"):
                raw.execute(one.text)
            raw.execute("COMMIT")

    def close(self) -> None:
        with self._guard:
            for raw in self._idle:
                raw.close()
            self._idle.clear()

    def _translate_error(self, reason: Exception) -> ForklakeError:
        name = getattr(reason, "sqlite_errorname", "")
        is_too_big = name.startswith("SQLITE_TOOBIG")
        if is_too_big or isinstance(reason, (UnicodeEncodeError, OverflowError)):
            return InvalidInput(
                f"The metastore cannot store this value: {reason}", remedy="Change the value."
            )
        if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")) or not os.access(
            Path(self.address).parent, os.W_OK
        ):
            return Forbidden(
                f"The metastore {self.address} is read-only.",
                remedy="Make the file and its folder writable.",
            )
        if name.startswith("SQLITE_NOTADB"):
            return InvalidInput(
                f"The file {self.address} is not a metastore.",
                remedy="Choose the file of a metastore, or a new one to create.",
            )
        if name.startswith("SQLITE_CORRUPT"):
            return Corruption(f"The metastore {self.address} is damaged: {reason}")
        if isinstance(reason, sqlite3.IntegrityError):
            return Corruption(
                f"The metastore {self.address} rejected a row that violates a constraint: {reason}"
            )
        if name.startswith(_PASSING):
            return Unavailable(
                f"The metastore {self.address} is not available: {reason}",
                remedy="Another process may have locked it, or the disk is full. Try again.",
            )
        return Corruption(
            f"The file {self.address} lacks tables of a metastore: {reason}",
            remedy="Create the metastore: `forklake init`.",
        )
