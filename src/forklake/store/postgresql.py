"""PostgreSQL: pooled psycopg connections, pipelined round trips, COPY for many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg import sql as identifiers
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import TextLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from forklake.errors import (
    AlreadyExists,
    Corruption,
    Forbidden,
    ForklakeError,
    InvalidInput,
    Unavailable,
)
from forklake.model.ids import CatalogId
from forklake.store.advisory_keys import SECRET, AdvisoryKeys
from forklake.store.batches import ALLOCATED_COLUMNS, Batch, as_batch, batched
from forklake.store.database import Dialect, Lock, Rows
from forklake.store.operations import (
    Allocate,
    Allocation,
    Insert,
    Operation,
    Statement,
    with_parameters,
)
from forklake.store.postgresql_dialect import PostgresDialect
from forklake.store.reservations import TURNS, Reservations, Turn
from forklake.store.schema.metastore import define_metastore
from forklake.store.wire import Numbers, NumbersDumper, WireConnection, prepare

if TYPE_CHECKING:
    import pyarrow as pa

_IS_INITIALISED = "SELECT to_regclass('ducklake_metadata')"
_QUEUE_LOCK = ", pg_advisory_xact_lock(:queue)"
_FENCE_LOCK = ", pg_advisory_xact_lock_shared(:fence)"


class PostgresConnection:
    """Transaction, or reader, on one pooled connection."""

    dialect: Dialect = PostgresDialect()

    def __init__(
        self,
        raw: WireConnection,
        keys: AdvisoryKeys,
        *,
        is_writing: bool,
        reservations: Reservations | None = None,
    ) -> None:
        self._raw = raw
        self._keys = keys
        self._is_writing = is_writing
        self._reservations = reservations

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        (rows,) = self._raw.round_trip([as_batch(sql, parameters)], begins=self._is_writing)
        return rows

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        return self._send(operations, commits=False)

    def commit(self, operations: Sequence[Operation] = ()) -> list[Rows]:
        return self._send(operations, commits=True)

    def fetch_columns(self, statement: Statement, schema: pa.Schema) -> pa.Table:
        from forklake.store.columns import columns_of_csv

        text = f"COPY ({self._bind_literals(statement)}) TO STDOUT (FORMAT csv)"
        return columns_of_csv(self._raw.copy_out(text), schema)

    def _bind_literals(self, statement: Statement) -> str:
        """Return the statement with literals: large reads are planned for their parameters."""
        text = with_parameters(statement.sql, _format_placeholder)
        return psycopg.ClientCursor(self._raw).mogrify(text, statement.parameters)

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        from forklake.store.columns import numbers_of_bytes

        # One binary value instead of a row for each number.
        text = f"SELECT string_agg(int8send(n), '') FROM ({statement.sql}) AS found(n)"
        ((body,),) = self.fetch_bodies(Statement(text, statement.parameters))
        return numbers_of_bytes(body or b"")

    def fetch_bodies(self, statement: Statement) -> Rows:
        with self._raw.cursor(binary=True) as cursor:
            return cursor.execute(self._bind_literals(statement).encode(), prepare=False).fetchall()

    def columns_of(self, table: str) -> list[str]:
        cursor = self._raw.execute(f"SELECT * FROM {table} LIMIT 0")
        return [column.name for column in cursor.description or ()]

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        return [Statement(f"SELECT {function}(:key)", {"key": self._keys.key(lock, number)})]

    def try_lock(self, lock: Lock, number: int) -> bool:
        """Take a lock until the transaction ends. Return False if another transaction has it."""
        rows = self.fetch(
            "SELECT pg_try_advisory_xact_lock(:key)", key=self._keys.key(lock, number)
        )
        return bool(rows[0][0])

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        fence = {"fence": self._keys.key(Lock.FENCE, 0)}
        if self._reservations is not None and self._reservations.is_mine(catalog_id):
            return _FENCE_LOCK, fence  # the reservation holds the queue lock already
        return _QUEUE_LOCK + _FENCE_LOCK, {"queue": self._keys.key(Lock.QUEUE, catalog_id)} | fence

    def _send(self, operations: Sequence[Operation], *, commits: bool) -> list[Rows]:
        """Send all operations in one round trip, or one more for each bulk insert between them."""
        answered: list[tuple[Batch, Rows]] = []
        waiting: list[Batch] = []
        for batch in batched(operations):
            if batch.text:
                waiting.append(batch)
                continue
            answers = self._raw.round_trip(waiting, begins=self._is_writing)
            answered += zip(waiting, answers, strict=True)
            waiting = []
            self._copy(batch.operations[0])
        if waiting or commits:
            begins = self._is_writing and bool(waiting)
            answers = self._raw.round_trip(waiting, begins=begins, commits=commits)
            answered += zip(waiting, answers, strict=True)
        results: dict[int, Rows] = {}
        for batch, rows in answered:
            found = _unpack_rows(batch, rows)
            results.update((id(one), two) for one, two in zip(batch.operations, found, strict=True))
        return [results.get(id(operation), []) for operation in operations]

    def _copy(self, operation: Operation) -> None:
        assert isinstance(operation, Insert)
        text = f"COPY {operation.table} ({', '.join(operation.columns)}) FROM STDIN"
        with self._raw.cursor() as cursor, cursor.copy(text) as copy:
            write = copy.write_row
            for row in operation.rows:
                write(row)


def _unpack_rows(batch: Batch, rows: Rows) -> list[Rows]:
    """Return the rows of each operation of a batch."""
    first, *others = batch.operations
    if isinstance(first, Allocate):
        allocated, texts = rows[0][:ALLOCATED_COLUMNS], rows[0][ALLOCATED_COLUMNS:]
        return [[Allocation(*allocated)], *(_from_json(text) for text in texts)]
    if others and isinstance(first, Statement) and first.is_plain_read:
        return [_from_json(text) for text in rows[0]]
    return [rows, *([] for _ in others)]


def _from_json(rows: Any) -> Rows:
    return [tuple(row.values()) for row in rows]


@dataclass(frozen=True, slots=True)
class _PostgresTurn:
    """Turn whose connection can take the lock on which commits queue."""

    connection: PostgresConnection
    catalog_id: CatalogId
    reservations: Reservations

    @contextmanager
    def reserve(self) -> Iterator[None]:
        with self.reservations.hold(self.catalog_id):
            # The lock is optional: without it, the retry is only more likely to conflict again.
            # Correctness depends on the head lock that every commit takes.
            with suppress(psycopg.Error):
                self.connection.run([Statement("SAVEPOINT reservation", {})])
                self.connection.run(self.connection.lock(Lock.QUEUE, self.catalog_id))
            try:
                yield
            finally:  # also releases the lock
                with suppress(psycopg.Error):  # the server may have ended the idle connection
                    self.connection.run([Statement("ROLLBACK TO SAVEPOINT reservation", {})])


class PostgresDatabase:
    """Metastore in a PostgreSQL database, in the schema `metadata_schema`."""

    dialect: Dialect = PostgresDialect()

    def __init__(
        self,
        dsn: str,
        *,
        metadata_schema: str | None = None,
        partitions: int = 0,
        connect_timeout: float = 30.0,
    ) -> None:
        self.address = _describe_address(dsn)
        # The connect_timeout of the address also limits the wait for a free connection.
        detail = psycopg.conninfo.conninfo_to_dict(dsn).get("connect_timeout")
        connect_timeout = float(detail or connect_timeout)
        self._schema = metadata_schema
        self._partitions = partitions
        self._reservations = Reservations()
        self._keys = AdvisoryKeys(metadata_schema or "public")
        try:
            # The pool would retry in the background for long: fail at once if the server is down.
            with psycopg.connect(dsn, connect_timeout=max(1, int(connect_timeout))) as first:
                self.is_pooled = self._find_pooler(first)
            self._pool = self._new_pool(dsn, 32, connect_timeout)
            # A thread that holds a turn needs a second connection, so turns have their own pool:
            # from one pool, threads could wait for each other forever.
            self._turns = self._new_pool(dsn, TURNS + 2, connect_timeout)
        except psycopg.Error as reason:
            raise self._translate_error(reason) from reason

    def _new_pool(self, dsn: str, size: int, timeout: float) -> ConnectionPool[WireConnection]:
        return ConnectionPool(
            dsn,
            min_size=0,
            max_size=size,
            timeout=timeout,
            connection_class=WireConnection,
            configure=self._configure,
            check=None,
            open=True,
        )

    def _configure(self, raw: WireConnection) -> None:
        # One dumper for all sizes of integers: otherwise each combination of parameter types
        # would be a prepared statement of its own.
        raw.adapters.register_dumper(int, Int8Dumper)
        raw.adapters.register_dumper(Numbers, NumbersDumper)
        raw.adapters.register_loader("uuid", TextLoader)
        raw.autocommit = True
        if self.is_pooled:
            raw.prepare_threshold = None
        else:
            self._set_up(raw)
        raw.autocommit = False
        prepare(raw, is_pooled=self.is_pooled)

    def _find_pooler(self, first: psycopg.Connection[Any]) -> bool:
        """Return whether a connection pooler is in between, which reports made-up process ids.

        Behind one, settings and prepared statements of a transaction could leak into another.
        """
        rows = first.execute("SELECT pg_backend_pid(), current_schema()").fetchall()
        pid, schema = rows[0]
        is_pooled = bool(pid != first.info.backend_pid)
        if is_pooled and self._schema not in {None, schema}:
            raise InvalidInput(
                f"Behind a connection pooler, the schema '{self._schema}' must be the default of"
                " the role.",
                remedy="Set it with ALTER ROLE … SET search_path = …, or connect to the server"
                " without the pooler.",
            )
        return is_pooled

    def _set_up(self, raw: WireConnection) -> None:
        raw.execute("SET default_transaction_isolation = 'read committed'")
        # Every statement finds its rows by an index, whatever its parameters are: planning it
        # again for each execution would only cost time.
        raw.execute("SET plan_cache_mode = force_generic_plan")
        if self._schema is not None:
            name = identifiers.Identifier(self._schema)
            raw.execute(identifiers.SQL("SET search_path TO {}").format(name))

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        with self._translate_errors(), self._borrowed() as raw:
            yield PostgresConnection(raw, self._keys, is_writing=False)

    @contextmanager
    def writing(self) -> Iterator[PostgresConnection]:
        with self._translate_errors(), self._borrowed() as raw:
            yield PostgresConnection(
                raw, self._keys, is_writing=True, reservations=self._reservations
            )

    @contextmanager
    def _borrowed(
        self, pool: ConnectionPool[WireConnection] | None = None
    ) -> Iterator[WireConnection]:
        pool = pool or self._pool
        raw = pool.getconn()
        while raw.is_stale():
            raw.close()
            pool.putconn(raw)
            raw = pool.getconn()
        try:
            yield raw
        finally:
            try:
                if not raw.closed:
                    raw.rollback()
            except psycopg.Error:
                raw.close()
            finally:
                pool.putconn(raw)

    @contextmanager
    def turn(self, catalog_id: CatalogId) -> Iterator[Turn]:
        mine = self._reservations.turn(catalog_id)
        with mine, self._translate_errors(), self._borrowed(self._turns) as raw:
            connection = PostgresConnection(raw, self._keys, is_writing=True)
            connection.run(connection.lock(Lock.TURN, catalog_id))
            yield _PostgresTurn(connection, catalog_id, self._reservations)

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        return self._reservations.commit(catalog_id)

    @contextmanager
    def upkeep(self, catalog_id: CatalogId) -> Iterator[bool]:
        with self._translate_errors(), self._borrowed(self._turns) as raw:
            connection = PostgresConnection(raw, self._keys, is_writing=True)
            yield connection.try_lock(Lock.UPKEEP, catalog_id)

    def pool_statistics(self) -> dict[str, int]:
        """Return the counters of the pool: connections, idle ones, requests waiting for one."""
        return self._pool.get_stats()

    def is_initialised(self) -> bool:
        with self.reading() as connection:
            found = connection.fetch(_IS_INITIALISED)
            is_initialised = found[0][0] is not None
            if is_initialised:
                self._use_secret(connection.fetch(SECRET))
        return is_initialised

    def _use_secret(self, rows: Rows) -> None:
        for (secret,) in rows:
            self._keys.use(secret)

    def load_schema(self) -> None:
        definitions = define_metastore("postgresql", self._partitions)
        text = ";\n".join(["BEGIN", *(one.text for one in definitions), "COMMIT"])
        with self._translate_errors(), self._borrowed() as raw:
            raw.autocommit = True  # the text begins and commits its own transaction
            try:
                # Several processes may open a new metastore at once: the first one creates it.
                raw.execute("SELECT pg_advisory_lock(%s)", (self._keys.creation,))
                if self._schema is not None:
                    name = identifiers.Identifier(self._schema)
                    with suppress(pg.UniqueViolation):  # created concurrently
                        raw.execute(identifiers.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
                if raw.execute(_IS_INITIALISED).fetchall()[0][0] is None:
                    raw.execute(text.encode())
                self._use_secret(raw.execute(SECRET).fetchall())
                raw.execute("SELECT pg_advisory_unlock_all()")
            finally:
                if not raw.closed:
                    raw.rollback()
                    raw.autocommit = False

    def run_script(self, script: identifiers.Composed) -> None:
        """Run statements in one transaction."""
        with self._translate_errors(), self._borrowed() as raw:
            raw.execute(script)
            raw.commit()

    def close(self) -> None:
        self._pool.close()
        self._turns.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout, UnicodeEncodeError) as reason:
            raise self._translate_error(reason) from reason

    def _translate_error(self, reason: Exception) -> ForklakeError:
        """Return the Forklake error for a driver error, by its SQLSTATE, never by its message."""
        state = getattr(reason, "sqlstate", None)
        detail = (
            str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
        )
        if isinstance(reason, pg.UniqueViolation):
            if reason.diag.constraint_name == "ducklake_catalog_live_name":
                return AlreadyExists(
                    "A catalog with this name was created concurrently.",
                    remedy="Choose another name.",
                )
            if reason.diag.constraint_name == "ducklake_catalog_path":
                return Unavailable(
                    "The folder of the new catalog was taken concurrently.", remedy="Try again."
                )
            return Corruption(
                f"The metastore rejected a row that already exists: {detail}",
                constraint=reason.diag.constraint_name,
            )
        if isinstance(reason, (pg.InsufficientPrivilege, pg.ReadOnlySqlTransaction)):
            return Forbidden(
                f"The database {self.address} does not allow this: {detail}",
                remedy="Connect as a role with the required privileges.",
            )
        if isinstance(reason, (pg.DataError, pg.ProgramLimitExceeded)) or _is_text_problem(reason):
            return InvalidInput(
                f"The metastore cannot store this value: {detail}", remedy="Change the value."
            )
        if isinstance(reason, (pg.UndefinedTable, pg.UndefinedColumn)):
            return Corruption(
                f"The database {self.address} lacks tables of a metastore: {detail}",
                remedy="Create the metastore: `forklake init`.",
            )
        return Unavailable(
            f"The database {self.address} did not answer: {detail}",
            remedy="Check that it is running and reachable, then try again.",
            sqlstate=state,
        )


def _is_text_problem(reason: Exception) -> bool:
    # psycopg rejects NUL and lone surrogates before anything is sent.
    return isinstance(reason, (psycopg.DataError, UnicodeEncodeError))


def _describe_address(dsn: str) -> str:
    """Return the address without its password."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as reason:
        raise InvalidInput(
            f"Invalid PostgreSQL address: {str(reason).strip()}.",
            remedy="Use a libpq string (host=… dbname=…) or postgresql://user@host/database.",
        ) from None
    host = parts.get("host") or "localhost"
    return f"postgres:{parts.get('dbname') or parts.get('user') or ''}@{host}"


def _format_placeholder(name: str) -> str:
    return f"%({name})s"
