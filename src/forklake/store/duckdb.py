"""DuckDB: one file, one process. Commits are serialized; a statement takes about a millisecond."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb

from forklake.errors import Corruption, Forbidden, ForklakeError, InvalidInput, Unavailable
from forklake.model.ids import CatalogId
from forklake.model.names import quoted
from forklake.store.database import Dialect, Lock, Rows
from forklake.store.operations import (
    Allocate,
    Allocation,
    Insert,
    Operation,
    Statement,
    flattened,
    insert_text,
    parameter_names,
    with_parameters,
)
from forklake.store.private_files import create_beside
from forklake.store.reservations import Turn
from forklake.store.row_fetch import RowFetching
from forklake.store.schema.metastore import define_metastore

# Up to this many rows are one INSERT. More are passed as an Arrow table, which needs no parsing.
_ARROW_ABOVE = 32
_ALLOCATE = """
    SELECT (SELECT coalesce(list(nextval('ducklake_snapshot_id_seq')), []) FROM range($snapshots)),
           (SELECT coalesce(list(nextval('ducklake_entity_id_seq')), []) FROM range($entities)),
           (SELECT coalesce(list(nextval('ducklake_file_id_seq')), []) FROM range($files))
"""
_NEXT = """
    SELECT coalesce(last_value + 1, start_value) FROM duckdb_sequences()
    WHERE schema_name = current_schema()
      AND sequence_name IN ('ducklake_entity_id_seq', 'ducklake_file_id_seq')
    ORDER BY sequence_name
"""
_IN_MEMORY = ":memory:"
_TYPES = {"boolean": "BOOLEAN", "blob": "BLOB"}
_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}


class DuckdbDialect:
    """SQL texts of DuckDB."""

    name = "duckdb"
    least = "least"
    joins_writes = False
    for_commit = ""
    for_fork = ""
    for_removal = ""
    for_picking = ""
    now = "now()"
    every_column = (
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE database_name = current_database() AND schema_name = current_schema()"
        " ORDER BY table_name, column_index"
    )

    def any_of(self, column: str, parameter: str) -> str:
        return f"{column} IN (SELECT unnest(:{parameter}))"

    def array(self, values: Sequence[Any]) -> Any:
        return list(values)

    def in_code_order(self, column: str) -> str:
        return column

    def ending(self, column: str, length: int) -> str:
        return f"right({column}, {length})"

    def time(self, column: str) -> str:
        # Return microseconds: the DuckDB conversion to datetime needs the package pytz.
        return f"epoch_us({column})"

    def column_type(self, name: str) -> str:
        return "BIGINT" if name in _INTEGERS else _TYPES.get(name, "VARCHAR")


def _create_privately(path: str) -> None:
    """Create a database file that only its owner can access, unless it exists.

    DuckDB rejects an empty file, so the database is created in a private folder and linked.
    """
    if path == _IN_MEMORY or Path(path).exists():
        return
    with suppress(OSError), tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        new = Path(folder) / "new"
        duckdb.connect(str(new)).close()
        new.chmod(0o600)
        os.link(new, path)  # fails if another process was faster


def _style(name: str) -> str:
    return f"${name}"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


class DuckdbConnection(RowFetching):
    """Transaction, or reader, on one connection."""

    dialect: Dialect = DuckdbDialect()

    def __init__(self, raw: duckdb.DuckDBPyConnection) -> None:
        self._raw = raw

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        return self._execute(sql, parameters)

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        return [self._one(operation) for operation in operations]

    def commit(self, operations: Sequence[Operation] = ()) -> list[Rows]:
        found = self.run(operations)
        self._raw.commit()
        return found

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        return "", {}

    def columns_of(self, table: str) -> list[str]:
        cursor = self._raw.execute(f"SELECT * FROM {table} LIMIT 0")
        return [column[0] for column in cursor.description or ()]

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        return []

    def _execute(self, sql: str, parameters: Any) -> Rows:
        used = {name: parameters[name] for name in parameter_names(sql)}
        rows = self._raw.execute(with_parameters(sql, _style), used).fetchall()
        if any(isinstance(value, UUID) for value in (rows[0] if rows else ())):
            return [tuple(map(_plain, row)) for row in rows]
        return rows

    def _one(self, operation: Operation) -> Rows:
        if isinstance(operation, Statement):
            return self._execute(operation.sql, operation.parameters)
        if isinstance(operation, Insert):
            self._insert(operation)
            return []
        return [self._allocate(operation)]

    def _insert(self, insert: Insert) -> None:
        if len(insert.rows) <= _ARROW_ABOVE or insert.skips_existing:
            if insert.rows:
                shape = (insert.table, insert.columns, len(insert.rows), insert.skips_existing)
                self._raw.execute(insert_text(shape, "?"), flattened(insert.rows))
            return
        import pyarrow as pa

        columns = list(zip(*insert.rows, strict=True))
        batch = pa.table(
            {
                name: pa.array(list(column))
                for name, column in zip(insert.columns, columns, strict=True)
            }
        )
        self._raw.register("forklake_rows", batch)
        try:
            names = ", ".join(insert.columns)
            self._raw.execute(
                f"INSERT INTO {insert.table} ({names}) SELECT {names} FROM forklake_rows"
            )
        finally:
            self._raw.unregister("forklake_rows")

    def _allocate(self, wanted: Allocate) -> Allocation:
        ((snapshots, entities, files),) = self._raw.execute(_ALLOCATE, asdict(wanted)).fetchall()
        (next_entity,), (next_file,) = self._raw.execute(_NEXT).fetchall()
        return Allocation(snapshots, entities, files, next_entity, next_file, datetime.now(UTC))


class DuckdbDatabase:
    """Metastore in a DuckDB file, in the schema `metadata_schema`."""

    dialect: Dialect = DuckdbDialect()

    def __init__(self, path: str, *, metadata_schema: str | None = None) -> None:
        self.address = path
        self._schema = metadata_schema
        self._turns = threading.RLock()
        self._upkeep = threading.Lock()
        self._turn = threading.Lock()
        if path != _IN_MEMORY and not Path(path).parent.is_dir():
            raise InvalidInput(
                f"The folder {Path(path).parent} of the metastore does not exist.",
                remedy="Create the folder first.",
            )
        with self._translate_errors():
            _create_privately(path)
            self._raw = duckdb.connect(path)

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._translate_errors():
            cursor = self._raw.cursor()
            try:
                if self._schema is not None:
                    cursor.execute(f"USE {quoted(self._schema)}")
                yield cursor
            finally:
                cursor.close()

    @contextmanager
    def reading(self) -> Iterator[DuckdbConnection]:
        with self._cursor() as cursor:
            yield DuckdbConnection(cursor)

    @contextmanager
    def writing(self) -> Iterator[DuckdbConnection]:
        with self._turns, self._cursor() as cursor:
            self._create_log()
            cursor.begin()
            # Closing the cursor rolls back what was not committed.
            yield DuckdbConnection(cursor)

    @contextmanager
    def turn(self, catalog_id: CatalogId) -> Iterator[Turn]:
        with self._turn:
            yield self

    @contextmanager
    def reserve(self) -> Iterator[None]:
        # One for all catalogs: a DuckDB file has a single writer anyway.
        with self._turns:
            yield

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        return nullcontext()  # commits of other threads wait in `writing`

    @contextmanager
    def upkeep(self, catalog_id: CatalogId) -> Iterator[bool]:
        is_ours = self._upkeep.acquire(blocking=False)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._upkeep.release()

    def is_initialised(self) -> bool:
        text = (
            "SELECT 1 FROM duckdb_tables()"
            " WHERE schema_name = $schema AND table_name = 'ducklake_metadata'"
        )
        with self._translate_errors():
            found = self._raw.cursor().execute(text, {"schema": self._schema or "main"})
            return bool(found.fetchall())

    def load_schema(self) -> None:
        with self._turns, self._translate_errors():
            if self._schema is not None:
                self._raw.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(self._schema)}")
            self._create_log()
            with self._cursor() as cursor:
                cursor.begin()
                for one in define_metastore("duckdb"):
                    cursor.execute(one.text)
                cursor.commit()

    def _create_log(self) -> None:
        """Create the write-ahead log: DuckDB would make it readable to all users.

        DuckDB deletes it at checkpoints, so this is repeated before every transaction.
        """
        if self.address != _IN_MEMORY:
            create_beside(f"{self.address}.wal", self.address)

    def close(self) -> None:
        self._raw.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (duckdb.Error, UnicodeEncodeError) as reason:
            raise self._translate_error(reason) from reason

    def _translate_error(self, reason: Exception) -> ForklakeError:
        detail = str(reason).strip().splitlines()[0]
        if isinstance(reason, (duckdb.DataError, UnicodeEncodeError)):
            return InvalidInput(
                f"The metastore cannot store this value: {detail}", remedy="Change the value."
            )
        if isinstance(reason, duckdb.IOException) and "lock" in detail:
            return Unavailable(
                f"Unique file handle conflict: another process has opened the metastore"
                f" {self.address}.",
                remedy="Use PostgreSQL or SQLite for a metastore that several processes share.",
            )
        path = Path(self.address)
        if isinstance(reason, duckdb.PermissionException) or (
            path.exists() and not os.access(path, os.W_OK)
        ):
            return Forbidden(
                f"The metastore {self.address} is read-only.", remedy="Make the file writable."
            )
        if isinstance(reason, duckdb.CatalogException):
            return Corruption(
                f"The file {self.address} lacks tables of a metastore: {detail}",
                remedy="Create the metastore: `forklake init`.",
            )
        if isinstance(reason, duckdb.ConstraintException):
            return Corruption(
                f"The metastore {self.address} rejected a row that violates a constraint: {detail}"
            )
        return Unavailable(
            f"The metastore {self.address} is not available: {detail}", remedy="Try again."
        )
