"""A proxy in front of PostgreSQL that cuts connections on demand.

It parses the protocol only into messages, so that each message passes completely
or not at all.
"""

import asyncio
import tempfile
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.fix_postgres import connection_uri

Direction = Literal["to_server", "to_client"]
Result = TypeVar("Result")


class CuttableProxy:
    """A proxy in front of the server behind `upstream_dsn`, which cuts connections on demand.

    An event loop in its own thread holds the connections; the methods may be called
    from any other thread.
    """

    def __init__(self, upstream_dsn: str) -> None:
        with psycopg.connect(upstream_dsn) as connection:
            self._upstream = (connection.info.host, connection.info.port)
        self._parameters = conninfo_to_dict(upstream_dsn)
        self._parameters.pop("hostaddr", None)
        self._directory = tempfile.TemporaryDirectory(prefix="forklake-proxy-")
        self._pending_cuts: list[_Cut] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        socket_path = f"{self._directory.name}/.s.PGSQL.5432"
        self._listener = self._run(asyncio.start_unix_server(self._serve, socket_path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def dsn(self) -> str:
        """Return the address of the upstream database through the proxy."""
        return connection_uri({**self._parameters, "host": self._directory.name, "port": 5432})

    def cut(self) -> None:
        """Close all connections; new ones are accepted again."""
        self._run(self._end_connections())

    def cut_after(self, pattern: bytes, direction: Direction, deliver: bool) -> threading.Event:
        """Cut the first connection on which a message containing `pattern` is sent.

        That message is the last one to be delivered, or the first one not to be; nothing passes
        after it, in either direction. The client sees its connection close only after the server
        has closed its end and so has finished all its work; then the event is set.
        """
        cut = _Cut(pattern, direction, deliver)
        self._pending_cuts.append(cut)
        return cut.done

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._run(self._stop_serving())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._directory.cleanup()

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _serve(self, client_reader: StreamReader, client_writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        client = _Peer(client_reader, client_writer)
        try:
            server = _Peer(*await self._connect_upstream())
            try:
                await _Connection(client, server, self._pending_cuts).run()
            finally:
                await server.hang_up()
        except OSError:
            pass  # The server is unreachable: the client sees its connection close.
        finally:
            await client.hang_up()
            self._connections.discard(task)

    async def _connect_upstream(self) -> tuple[StreamReader, StreamWriter]:
        host, port = self._upstream
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    async def _stop_serving(self) -> None:
        self._listener.close()
        await self._end_connections()

    async def _end_connections(self) -> None:
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True)
class _Cut:
    """A pending cut of a connection."""

    pattern: bytes
    direction: Direction
    deliver: bool
    done: threading.Event = field(default_factory=threading.Event)

    def applies_to(self, message: bytes, direction: Direction) -> bool:
        return direction == self.direction and self.pattern in message


class _Peer:
    """One end of a connection: the client or the server."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        # After a drain, closing the connection then cannot lose data.
        writer.transport.set_write_buffer_limits(high=0)

    async def receive(self, *, typed: bool = True) -> bytes:
        """Return the next message: type byte, length including itself, body; b"" at the end."""
        try:
            head = await self._reader.readexactly(5 if typed else 4)
            return head + await self._reader.readexactly(int.from_bytes(head[-4:]) - 4)
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    async def send(self, message: bytes) -> None:
        self._writer.write(message)
        await self._writer.drain()

    def send_end(self) -> None:
        self._writer.write_eof()

    async def hang_up(self) -> None:
        self._writer.transport.abort()
        with suppress(OSError):
            await self._writer.wait_closed()


class _Connection:
    """A connection of a client to the server; it lasts until the server closes it."""

    def __init__(self, client: _Peer, server: _Peer, pending_cuts: list[_Cut]) -> None:
        self._client = client
        self._server = server
        self._pending_cuts = pending_cuts
        self._cut: _Cut | None = None

    async def run(self) -> None:
        requests = asyncio.create_task(self._pass_requests())
        try:
            while message := await self._server.receive():
                await self._pass(message, self._client, "to_client")
        finally:
            requests.cancel()
            await asyncio.gather(requests, return_exceptions=True)
            if self._cut:
                self._cut.done.set()

    async def _pass_requests(self) -> None:
        message = await self._client.receive(typed=False)  # the only message without a type
        while message:
            await self._pass(message, self._server, "to_server")
            message = await self._client.receive()
        self._server.send_end()

    async def _pass(self, message: bytes, receiver: _Peer, direction: Direction) -> None:
        if self._cut:
            return
        self._cut = self._take_cut(message, direction)
        if self._cut is None or self._cut.deliver:
            await receiver.send(message)
        if self._cut:
            self._server.send_end()

    def _take_cut(self, message: bytes, direction: Direction) -> _Cut | None:
        for cut in self._pending_cuts:
            if cut.applies_to(message, direction):
                self._pending_cuts.remove(cut)
                return cut
        return None


@pytest.fixture
def postgres_proxy(postgres_dsn: str) -> Iterator[CuttableProxy]:
    """Yield a proxy in front of a fresh, empty database."""
    with CuttableProxy(postgres_dsn) as proxy:
        yield proxy
