"""Round trips to PostgreSQL: all statements are sent at once, then all results are read.

The pipeline mode of psycopg accesses the socket at every statement, which for a small commit costs
the client more than everything else together. This module uses its documented lower layers: the
libpq wrapper and the adapters.
"""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg import pq
from psycopg.abc import Transformer as AbstractTransformer
from psycopg.adapt import Dumper, PyFormat, Transformer

from forklake.store.batches import Batch

_BEGIN = Batch((), "BEGIN")
_COMMIT = Batch((), "COMMIT")
_FORGET = Batch((), "DEALLOCATE ALL")
# Prepared statements of a connection, after which all of them are deallocated.
_MOST_PREPARED = 500

Key = tuple[str, tuple[int, ...]]


class Numbers(list[int]):
    """Array parameter of numbers. The psycopg dumper would inspect each of them several times."""


class NumbersDumper(Dumper):
    """Dumper that writes all numbers at once."""

    oid = psycopg.adapters.types["int8"].array_oid

    def dump(self, obj: Numbers) -> bytes:
        return f"{{{','.join(map(str, obj))}}}".encode()


class WireConnection(psycopg.Connection[Any]):
    """Connection that caches its prepared statements."""

    prepared: dict[Key, bytes]
    prepared_count: int  # names are not reused: one may be left over from a failed round trip
    is_pooled: bool  # a pooler may give each transaction another connection to the server
    transformer: AbstractTransformer

    def is_stale(self) -> bool:
        """Return whether the server closed the idle connection. Sends nothing."""
        if self.closed:
            return True
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN)
        if not poll.poll(0):
            return False
        try:
            self.pgconn.consume_input()
        except psycopg.Error:
            return True
        return self.pgconn.status != pq.ConnStatus.OK

    def round_trip(
        self, batches: Sequence[Batch], *, begins: bool = False, commits: bool = False
    ) -> list[list[Any]]:
        """Send batches and return the rows of each. `begins` begins a transaction if none is open.

        An error of the server leaves the connection usable, to be rolled back. After anything
        else, such as a lost connection or an interrupt, it is closed.
        """
        is_idle = self.pgconn.transaction_status == pq.TransactionStatus.IDLE
        before = [_BEGIN] if begins and is_idle else []
        if self.prepared_count > _MOST_PREPARED:
            before.insert(0, _FORGET)
            self.prepared.clear()
            self.prepared_count = 0
        everything = [*before, *batches, *([_COMMIT] if commits else [])]
        try:
            results, error = self._exchange(everything)
        except BaseException:
            self.close()
            raise
        if error is not None:
            raise error
        return results[len(before) : len(before) + len(batches)]

    def copy_out(self, text: str) -> bytes:
        """Return the output of a COPY … TO STDOUT. psycopg would access the socket at every row.

        Errors leave the connection as those of a round trip do.
        """
        try:
            rows, error = self._run_copy(text)
        except BaseException:
            self.close()
            raise
        if error is not None:
            raise error
        return b"".join(rows)

    def _run_copy(self, text: str) -> tuple[list[bytes], psycopg.Error | None]:
        rows: list[bytes] = []
        error: psycopg.Error | None = None
        result: pq.abc.PGresult | None = self.pgconn.exec_(text.encode())
        while result is not None:
            if result.status == pq.ExecStatus.FATAL_ERROR:
                error = psycopg.errors.error_from_result(result, self.info.encoding)
            elif result.status == pq.ExecStatus.COPY_OUT:
                rows += self._read_copied_rows()
            result = self.pgconn.get_result()
        return rows, error

    def _read_copied_rows(self) -> Iterator[bytes]:
        while True:
            size, row = self.pgconn.get_copy_data(0)
            if size < 0:
                return
            yield bytes(row)

    def _exchange(self, batches: Sequence[Batch]) -> tuple[list[list[Any]], psycopg.Error | None]:
        self.pgconn.enter_pipeline_mode()
        fresh: list[Key] = []
        expected = [is_answer for batch in batches for is_answer in self._queue(batch, fresh)]
        self.pgconn.pipeline_sync()
        self._flush()
        results: list[list[Any]] = []
        error: psycopg.Error | None = None
        for is_answer in expected:
            result = self._next_result()
            assert result is not None
            if result.status == pq.ExecStatus.FATAL_ERROR and error is None:
                error = psycopg.errors.error_from_result(result, self.info.encoding)
            if is_answer:
                results.append(self._rows(result))
            self._next_result()  # the end of this statement's results
        self._next_result()  # the response to the sync
        self.pgconn.exit_pipeline_mode()
        if error is not None:
            for key in fresh:
                self.prepared.pop(key, None)
        return results, error

    def _queue(self, batch: Batch, fresh: list[Key]) -> list[bool]:
        """Queue a statement, after its preparation if needed. Return which results are its rows."""
        if not batch.operations:  # BEGIN and COMMIT: preparing gains nothing
            self.pgconn.send_query_params(batch.text.encode(), None)
            return [True]
        transformer = self.transformer
        values: Sequence[Any] = ()
        types: tuple[int, ...] = ()
        formats: Sequence[Any] = ()
        if batch.parameters:
            wanted = [PyFormat.AUTO] * len(batch.parameters)
            values = transformer.dump_sequence(batch.parameters, wanted)
            types, formats = tuple(transformer.types or ()), transformer.formats or ()
        if self.is_pooled:  # the next server connection would not have the prepared statement
            self.pgconn.send_query_params(batch.text.encode(), values, types, formats)
            return [True]
        key = (batch.text, types)
        name = self.prepared.get(key)
        answers = [True]
        if name is None:
            self.prepared_count += 1
            name = b"forklake_%d" % self.prepared_count
            self.prepared[key] = name
            fresh.append(key)
            self.pgconn.send_prepare(name, batch.text.encode(), types)
            answers = [False, True]
        self.pgconn.send_query_prepared(name, values, formats)
        return answers

    def _flush(self) -> None:
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN | select.POLLOUT)
        while self.pgconn.flush():
            # Reading pending input unblocks a server that waits to write.
            if any(event & ~select.POLLOUT for _, event in poll.poll()):
                self.pgconn.consume_input()

    def _next_result(self) -> pq.abc.PGresult | None:
        while self.pgconn.is_busy():
            poll = select.poll()
            poll.register(self.pgconn.socket, select.POLLIN)
            poll.poll()
            self.pgconn.consume_input()
        return self.pgconn.get_result()

    def _rows(self, result: pq.abc.PGresult) -> list[Any]:
        if result.status != pq.ExecStatus.TUPLES_OK:
            return []
        self.transformer.set_pgresult(result)
        return self.transformer.load_rows(0, result.ntuples, tuple)


def prepare(connection: WireConnection, *, is_pooled: bool) -> None:
    """Initialize a new connection. Its adapters must not change after this."""
    connection.is_pooled = is_pooled
    connection.prepared = {}
    connection.prepared_count = 0
    connection.transformer = Transformer(connection)
