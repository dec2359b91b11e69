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
from forklake.store.partitioning import partitioned
from forklake.store.postgresql_dialect import PostgresDialect
from forklake.store.reservations import TURNS, Reservations, Turn
from forklake.store.schema_files import schema_text
from forklake.store.wire import Numbers, NumbersDumper, WireConnection, prepare

if TYPE_CHECKING:
    import pyarrow as pa

_IS_INITIALISED = "SELECT to_regclass('ducklake_metadata')"
_QUEUE_LOCK = ", pg_advisory_xact_lock(:queue)"
_FENCE_LOCK = ", pg_advisory_xact_lock_shared(:fence)"


class PostgresConnection:
    """A transaction or a reader on one pooled connection."""

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

        text = f"COPY ({self._bound(statement)}) TO STDOUT (FORMAT csv)"
        return columns_of_csv(self._raw.copy_out(text), schema)

    def _bound(self, statement: Statement) -> str:
        """The statement with its parameters written out: planned for them, as it reads much."""
        text = with_parameters(statement.sql, _written_out)
        return psycopg.ClientCursor(self._raw).mogrify(text, statement.parameters)

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        from forklake.store.columns import numbers_of_bytes

        # One value, and not a row for each.
        text = f"SELECT string_agg(int8send(n), '') FROM ({statement.sql}) AS found(n)"
        ((body,),) = self.fetch_bodies(Statement(text, statement.parameters))
        return numbers_of_bytes(body or b"")

    def fetch_bodies(self, statement: Statement) -> Rows:
        with self._raw.cursor(binary=True) as cursor:
            return cursor.execute(self._bound(statement).encode(), prepare=False).fetchall()

    def columns_of(self, table: str) -> list[str]:
        cursor = self._raw.execute(f"SELECT * FROM {table} LIMIT 0")
        return [column.name for column in cursor.description or ()]

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        return [Statement(f"SELECT {function}(:key)", {"key": self._keys.key(lock, number)})]

    def try_lock(self, lock: Lock, number: int) -> bool:
        """Take a lock until the transaction ends, unless another one has it."""
        rows = self.fetch(
            "SELECT pg_try_advisory_xact_lock(:key)", key=self._keys.key(lock, number)
        )
        return bool(rows[0][0])

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        fence = {"fence": self._keys.key(Lock.FENCE, 0)}
        if self._reservations is not None and self._reservations.is_mine(catalog_id):
            return _FENCE_LOCK, fence  # the reservation holds the lock of the queue
        return _QUEUE_LOCK + _FENCE_LOCK, {"queue": self._keys.key(Lock.QUEUE, catalog_id)} | fence

    def _send(self, operations: Sequence[Operation], *, commits: bool) -> list[Rows]:
        """Send everything in as few round trips as there are bulk inserts between, and one more."""
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
            found = _unpacked(batch, rows)
            results.update((id(one), two) for one, two in zip(batch.operations, found, strict=True))
        return [results.get(id(operation), []) for operation in operations]

    def _copy(self, operation: Operation) -> None:
        assert isinstance(operation, Insert)
        text = f"COPY {operation.table} ({', '.join(operation.columns)}) FROM STDIN"
        with self._raw.cursor() as cursor, cursor.copy(text) as copy:
            write = copy.write_row
            for row in operation.rows:
                write(row)


def _unpacked(batch: Batch, rows: Rows) -> list[Rows]:
    """The rows of each operation of a batch."""
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
    """A turn whose connection can take the lock for which commits queue."""

    connection: PostgresConnection
    catalog_id: CatalogId
    reservations: Reservations

    @contextmanager
    def reserve(self) -> Iterator[None]:
        with self.reservations.hold(self.catalog_id):
            # Without the lock the statement is only less likely to end: commits lock the head.
            with suppress(psycopg.Error):
                self.connection.run([Statement("SAVEPOINT reservation", {})])
                self.connection.run(self.connection.lock(Lock.QUEUE, self.catalog_id))
            try:
                yield
            finally:  # also releases the lock
                with suppress(psycopg.Error):  # the server may have ended the idle connection
                    self.connection.run([Statement("ROLLBACK TO SAVEPOINT reservation", {})])


class PostgresDatabase:
    """A metastore in a PostgreSQL database, in the schema `metadata_schema`."""

    dialect: Dialect = PostgresDialect()

    def __init__(
        self,
        dsn: str,
        *,
        metadata_schema: str | None = None,
        partitions: int = 0,
        connect_timeout: float = 30.0,
    ) -> None:
        self.address = _described(dsn)
        # What the address says about connecting holds for waiting for a free connection too.
        said = psycopg.conninfo.conninfo_to_dict(dsn).get("connect_timeout")
        connect_timeout = float(said or connect_timeout)
        self._schema = metadata_schema
        self._partitions = partitions
        self._reservations = Reservations()
        self._keys = AdvisoryKeys(metadata_schema or "public")
        try:
            # The pool would try for long in the background: learn at once that nobody is there.
            with psycopg.connect(dsn, connect_timeout=max(1, int(connect_timeout))) as first:
                self.is_pooled = self._find_pooler(first)
            self._pool = self._new_pool(dsn, 32, connect_timeout)
            # Whoever has a turn needs a connection besides: these must not be the same ones.
            self._turns = self._new_pool(dsn, TURNS + 2, connect_timeout)
        except psycopg.Error as reason:
            raise self._translated(reason) from reason

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
        # One dumper for all sizes keeps one prepared statement a text.
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
        """Whether a pooler stands between, which makes up process ids: what one transaction sets
        or prepares would be another's."""
        rows = first.execute("SELECT pg_backend_pid(), current_schema()").fetchall()
        pid, schema = rows[0]
        is_pooled = bool(pid != first.info.backend_pid)
        if is_pooled and self._schema not in {None, schema}:
            raise InvalidInput(
                f"Behind a pooler, the schema '{self._schema}' has to be the role's own.",
                remedy="Say so with ALTER ROLE … SET search_path = …, or connect to the server.",
            )
        return is_pooled

    def _set_up(self, raw: WireConnection) -> None:
        raw.execute("SET default_transaction_isolation = 'read committed'")
        # Every statement finds its rows by an index whatever its parameters are: planning it
        # again for each of them would only cost time.
        raw.execute("SET plan_cache_mode = force_generic_plan")
        if self._schema is not None:
            name = identifiers.Identifier(self._schema)
            raw.execute(identifiers.SQL("SET search_path TO {}").format(name))

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        with self._translating(), self._borrowed() as raw:
            yield PostgresConnection(raw, self._keys, is_writing=False)

    @contextmanager
    def writing(self) -> Iterator[PostgresConnection]:
        with self._translating(), self._borrowed() as raw:
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
        with mine, self._translating(), self._borrowed(self._turns) as raw:
            connection = PostgresConnection(raw, self._keys, is_writing=True)
            connection.run(connection.lock(Lock.TURN, catalog_id))
            yield _PostgresTurn(connection, catalog_id, self._reservations)

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        return self._reservations.commit(catalog_id)

    @contextmanager
    def upkeep(self, catalog_id: CatalogId) -> Iterator[bool]:
        with self._translating(), self._borrowed(self._turns) as raw:
            connection = PostgresConnection(raw, self._keys, is_writing=True)
            yield connection.try_lock(Lock.UPKEEP, catalog_id)

    def pool_statistics(self) -> dict[str, int]:
        """How many connections there are, how many are free, and how many wait for one."""
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
        text = partitioned(schema_text("postgresql"), self._partitions)
        with self._translating(), self._borrowed() as raw:
            raw.autocommit = True  # the file begins and commits its own transaction
            try:
                # Several may open a new metastore at once: the first one makes it.
                raw.execute("SELECT pg_advisory_lock(%s)", (self._keys.creation,))
                if self._schema is not None:
                    name = identifiers.Identifier(self._schema)
                    with suppress(pg.UniqueViolation):  # somebody else's, which came first
                        raw.execute(identifiers.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
                if raw.execute(_IS_INITIALISED).fetchall()[0][0] is None:
                    raw.execute(text)
                self._use_secret(raw.execute(SECRET).fetchall())
                raw.execute("SELECT pg_advisory_unlock_all()")
            finally:
                if not raw.closed:
                    raw.rollback()
                    raw.autocommit = False

    def run_script(self, script: identifiers.Composed) -> None:
        """Run statements, all of them or none."""
        with self._translating(), self._borrowed() as raw:
            raw.execute(script)
            raw.commit()

    def close(self) -> None:
        self._pool.close()
        self._turns.close()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout, UnicodeEncodeError) as reason:
            raise self._translated(reason) from reason

    def _translated(self, reason: Exception) -> ForklakeError:
        """The error of ours that a driver's error means, by its SQLSTATE and never by its text."""
        state = getattr(reason, "sqlstate", None)
        said = str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
        if isinstance(reason, pg.UniqueViolation):
            if reason.diag.constraint_name == "ducklake_catalog_live_name":
                return AlreadyExists(
                    "A catalog of that name was created at the same moment.",
                    remedy="Choose another name.",
                )
            if reason.diag.constraint_name == "ducklake_catalog_path":
                return Unavailable("A folder was taken at the same moment.", remedy="Try again.")
            return Corruption(
                f"The metastore refused a row that it holds already: {said}",
                constraint=reason.diag.constraint_name,
            )
        if isinstance(reason, (pg.InsufficientPrivilege, pg.ReadOnlySqlTransaction)):
            return Forbidden(
                f"The database {self.address} does not allow this: {said}",
                remedy="Connect as a role that may write.",
            )
        if isinstance(reason, (pg.DataError, pg.ProgramLimitExceeded)) or _is_text_problem(reason):
            return InvalidInput(f"The database cannot hold this value: {said}", remedy="Change it.")
        if isinstance(reason, (pg.UndefinedTable, pg.UndefinedColumn)):
            return Corruption(
                f"The database {self.address} does not have the tables of a metastore: {said}",
                remedy="Create them with: forklake init.",
            )
        return Unavailable(
            f"The database {self.address} did not answer: {said}",
            remedy="Check that it is running and reachable, then try again.",
            sqlstate=state,
        )


def _is_text_problem(reason: Exception) -> bool:
    # psycopg itself refuses NUL and lone surrogates before anything is sent.
    return isinstance(reason, (psycopg.DataError, UnicodeEncodeError))


def _described(dsn: str) -> str:
    """The address without its password."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as reason:
        raise InvalidInput(
            f"The PostgreSQL address cannot be read: {str(reason).strip()}.",
            remedy="Use a libpq string (host=… dbname=…) or postgresql://user@host/database.",
        ) from None
    host = parts.get("host") or "localhost"
    return f"postgres:{parts.get('dbname') or parts.get('user') or ''}@{host}"


def _written_out(name: str) -> str:
    return f"%({name})s"
