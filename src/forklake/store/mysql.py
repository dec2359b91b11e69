"""MySQL and MariaDB: pooled connections, several statements in one packet.

Rows are locked as on PostgreSQL, and each statement sees what was committed before it.
Two things differ. Ids come from counters, which are raised in a transaction of their own, so that
no transaction waits for the commit of the one that took the last id. And DDL would implicitly
commit the transaction it is sent in: so it goes over another connection, and a table that was
created stays even if the commit that needed it fails.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pymysql.err import Error

from forklake.errors import Corruption, InvalidInput
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.names import quoted
from forklake.store.database import Dialect, Lock, Rows
from forklake.store.mysql_address import described, parsed
from forklake.store.mysql_errors import INDEX_EXISTS, NO_DATABASE, code_of, translated
from forklake.store.mysql_text import bound, form_of, insert_head, keeping_existing, row_literal
from forklake.store.mysql_wire import MysqlWire, Pool, connect
from forklake.store.operations import Allocate, Allocation, Insert, Operation, Statement
from forklake.store.reservations import TURNS, Reservations, Turn
from forklake.store.row_fetch import RowFetching
from forklake.store.schema.metastore import define_metastore, find_form

_PLACES = 32  # rows for each kind of lock, see ducklake_lock
_LETTERS = 1 << 20  # approximate size of one INSERT, in characters
_LONG = 86_400  # seconds to wait for the turn-taking lock
_TYPES = {"boolean": "BOOLEAN", "blob": "LONGBLOB"}
_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}


class MysqlDialect:
    """SQL texts of MySQL and MariaDB."""

    name = "mysql"
    least = "least"
    joins_writes = False
    for_commit = " FOR UPDATE"
    for_fork = " LOCK IN SHARE MODE"
    for_removal = " FOR UPDATE"
    for_picking = " FOR UPDATE SKIP LOCKED"
    now = "utc_timestamp(6)"
    every_column = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = database() ORDER BY table_name, ordinal_position"
    )

    def any_of(self, column: str, parameter: str) -> str:
        return f"{column} IN :{parameter}"

    def array(self, values: Sequence[Any]) -> Any:
        return tuple(values)

    def in_code_order(self, column: str) -> str:
        return column

    def ending(self, column: str, length: int) -> str:
        return f"right({column}, {length})"

    def time(self, column: str) -> str:
        return column

    def column_type(self, name: str) -> str:
        return "BIGINT" if name in _INTEGERS else _TYPES.get(name, "LONGTEXT")


class MysqlConnection(RowFetching):
    """Transaction, or reader, on one pooled connection; `apart` uses another connection."""

    dialect: Dialect = MysqlDialect()

    def __init__(
        self, raw: MysqlWire, apart: Callable[[Sequence[str]], list[Rows]], *, is_writing: bool
    ) -> None:
        self._raw = raw
        self._apart = apart
        self._begins = is_writing

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        (rows,) = self.run([Statement(sql, parameters)])
        return rows

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        return self._send(operations)

    def commit(self, operations: Sequence[Operation] = ()) -> list[Rows]:
        found = self._send(operations, "COMMIT")
        self._begins = True
        return found

    def columns_of(self, table: str) -> list[str]:
        with self._raw.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table} LIMIT 0")
            return [column[0] for column in cursor.description or ()]

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        how = self.dialect.for_fork if shared else self.dialect.for_removal
        text = f"SELECT 1 FROM ducklake_lock WHERE kind = :kind AND place = :place{how}"
        return [Statement(text, {"kind": lock.value, "place": number % _PLACES})]

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        # The row lock of the head is the queue: InnoDB grants it first come, first served.
        text = ", (SELECT count(*) FROM ducklake_lock WHERE kind = :fence AND place = 0{})"
        return text.format(self.dialect.for_fork), {"fence": Lock.FENCE.value}

    def _send(self, operations: Sequence[Operation], last: str = "") -> list[Rows]:
        """Send all operations in one packet, except for DDL. Ids are allocated after that."""
        results: list[Rows] = [[] for _ in operations]
        waiting: list[tuple[int | None, str]] = []
        for number, operation in enumerate(operations):
            if isinstance(operation, Insert):
                waiting += [(None, text) for text in _insert_texts(operation)]
            elif isinstance(operation, Statement):
                form = form_of(operation.sql)
                text = bound(form.text, operation.parameters)
                if form.is_definition:
                    self._exchange(waiting, results)
                    waiting = []
                    self._apart([text])
                elif form.before:
                    waiting.append((number, bound(form.before, operation.parameters)))
                    waiting.append((None, text))
                else:
                    waiting.append((number, text))
        if last:
            waiting.append((None, last))
        self._exchange(waiting, results)
        for number, operation in enumerate(operations):
            if isinstance(operation, Allocate):
                results[number] = [self._allocate(operation)]
        return results

    def _exchange(self, waiting: Sequence[tuple[int | None, str]], results: list[Rows]) -> None:
        if not waiting:
            return
        begins = ["BEGIN"] if self._begins else []
        answers = self._raw.round_trip([*begins, *(text for _, text in waiting)])
        self._begins = False
        for (number, _), rows in zip(waiting, answers[len(begins) :], strict=True):
            if number is not None:
                results[number] = rows

    def _allocate(self, wanted: Allocate) -> Allocation:
        _, rows, _, _ = self._apart(
            [
                "BEGIN",
                f"SELECT next_value, {self.dialect.now} FROM ducklake_sequence"
                " ORDER BY name FOR UPDATE",
                "UPDATE ducklake_sequence SET next_value = next_value + CASE name"
                f" WHEN 'entity' THEN {wanted.entities} WHEN 'file' THEN {wanted.files}"
                f" ELSE {wanted.snapshots} END",
                "COMMIT",
            ]
        )
        return _allocation(wanted, rows)


def _allocation(wanted: Allocate, rows: Rows) -> Allocation:
    (entity, now), (file, _), (snapshot, _) = rows  # by name
    return Allocation(
        [SnapshotId(snapshot + one) for one in range(wanted.snapshots)],
        range(entity, entity + wanted.entities),
        range(file, file + wanted.files),
        entity + wanted.entities,
        file + wanted.files,
        now,
    )


def _insert_texts(insert: Insert) -> Iterator[str]:
    """Yield INSERTs small enough for the default max_allowed_packet."""
    head = insert_head(insert.table, insert.columns)
    tail = keeping_existing(insert.table, insert.columns[0]) if insert.skips_existing else ""
    rows: list[str] = []
    size = 0
    for row in insert.rows:
        rows.append(row_literal(row))
        size += len(rows[-1])
        if size > _LETTERS:
            yield f"{head}{', '.join(rows)}{tail}"
            rows, size = [], 0
    if rows:
        yield f"{head}{', '.join(rows)}{tail}"


@dataclass(frozen=True, slots=True)
class _MysqlTurn:
    """Turn that excludes commits of this process only.

    MySQL has no lock on which commits of other processes could wait.
    """

    catalog_id: CatalogId
    reservations: Reservations

    def reserve(self) -> AbstractContextManager[None]:
        return self.reservations.hold(self.catalog_id)


class MysqlDatabase:
    """Metastore in a database of a MySQL or MariaDB server."""

    dialect: Dialect = MysqlDialect()

    def __init__(self, dsn: str, *, metadata_schema: str | None = None) -> None:
        self._server = parsed(dsn)
        named = self._server.pop("database", None)
        self._name = metadata_schema or named
        if not self._name:
            raise InvalidInput(
                "The MySQL address does not name a database.",
                remedy="Add `database=…` to the address.",
            )
        self.address = described(self._server, self._name)
        timeout = float(self._server.setdefault("connect_timeout", 30))
        address = self._server | {"database": self._name}
        self._pool = Pool(address, 32, timeout)
        # A thread that holds a turn needs a second connection, and a commit one for ids. These
        # come from separate pools: from one pool, threads could wait for each other forever.
        self._reservations = Reservations()
        self._turns = Pool(address, TURNS + 2, timeout)
        self._besides = Pool(address, 16, timeout)

    @contextmanager
    def reading(self) -> Iterator[MysqlConnection]:
        with self._translate_errors(), self._pool.borrowed() as raw:
            yield MysqlConnection(raw, self._run_apart, is_writing=False)

    @contextmanager
    def writing(self) -> Iterator[MysqlConnection]:
        with self._translate_errors(), self._pool.borrowed() as raw:
            yield MysqlConnection(raw, self._run_apart, is_writing=True)

    def _run_apart(self, texts: Sequence[str]) -> list[Rows]:
        with self._besides.borrowed() as raw:
            try:
                return raw.round_trip(texts)
            except Error as reason:
                if code_of(reason) != INDEX_EXISTS:
                    raise
                return []

    @contextmanager
    def turn(self, catalog_id: CatalogId) -> Iterator[Turn]:
        mine = self._reservations.turn(catalog_id)
        with mine, self._named_lock(Lock.TURN, catalog_id, _LONG):
            yield _MysqlTurn(catalog_id, self._reservations)

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        return self._reservations.commit(catalog_id)

    @contextmanager
    def upkeep(self, catalog_id: CatalogId) -> Iterator[bool]:
        with self._named_lock(Lock.UPKEEP, catalog_id, 0) as is_ours:
            yield is_ours

    @contextmanager
    def _named_lock(self, lock: Lock, number: int, seconds: int) -> Iterator[bool]:
        """Hold a lock of the session, which ends with the connection, not with a transaction."""
        name = f"forklake_{zlib.crc32(self._name.encode()):x}_{lock.value}_{number}"
        with self._translate_errors(), self._turns.borrowed() as raw:
            (((taken,),),) = raw.round_trip([f"SELECT get_lock('{name}', {seconds})"])
            try:
                yield bool(taken)
            finally:
                if raw.open:
                    raw.round_trip([f"SELECT release_lock('{name}')"])

    def is_initialised(self) -> bool:
        try:
            with self.reading() as connection:
                found = connection.fetch(
                    "SELECT 1 FROM information_schema.tables WHERE table_schema = database()"
                    " AND table_name = 'dl_txn_actions'"  # the table that is created last
                )
        except Corruption as reason:
            if reason.details.get("code") == NO_DATABASE:
                return False
            raise
        return bool(found)

    def load_schema(self) -> None:
        definitions = (*find_form("mysql").preparation, *define_metastore("mysql"))
        name = quoted(self._name)
        with self._translate_errors():
            raw = connect(self._server)  # to no database: it may not exist yet
            try:
                # Several processes may open a new metastore at once: the first one creates it.
                raw.round_trip([f"SELECT get_lock('forklake_init', {_LONG})"])
                raw.round_trip([f"CREATE DATABASE IF NOT EXISTS {name}", f"USE {name}"])
                if not self.is_initialised():
                    raw.round_trip([one.text for one in definitions])
            finally:
                with suppress(Error):
                    raw.close()

    def close(self) -> None:
        for pool in (self._pool, self._turns, self._besides):
            pool.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (Error, UnicodeEncodeError) as reason:
            raise translated(reason, self.address) from reason
