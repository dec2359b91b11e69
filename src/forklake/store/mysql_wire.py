"""Round trips to MySQL, each with several statements in one packet, and connection pools."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pymysql.connections import Connection
from pymysql.constants import CLIENT, CR, ER, FIELD_TYPE, SERVER_STATUS
from pymysql.converters import conversions
from pymysql.err import Error, OperationalError

from forklake.errors import Unavailable

# ANSI quoting and concatenation as in the other databases, times in UTC, and long lock waits.
_SESSION = (
    "SET SESSION sql_mode ="
    " 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES',"
    " time_zone = '+00:00', innodb_lock_wait_timeout = 3600",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
# A binary collation. MariaDB reads the first of these comments, MySQL the second.
_COLLATION = (
    "SET NAMES utf8mb4 COLLATE /*M!100203 utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */"
)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


_DECODERS: dict[Any, Any] = {
    **conversions,
    FIELD_TYPE.TINY: lambda text: text != "0",  # used for booleans only
    FIELD_TYPE.DATETIME: _time,
}


class MysqlWire(Connection):
    """Connection in autocommit mode, unless a transaction is begun."""

    largest = 2**20  # max_allowed_packet of the server, in bytes
    server_status: int
    unix_socket: str | None
    connect_timeout: float
    _secure: bool
    _force_close: Callable[[], None]
    _sock: Any

    def connect(self, sock: Any = None) -> None:
        """Connect like the driver, but close the socket when the connection is refused."""
        if sock is None and self.unix_socket:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                sock.settimeout(self.connect_timeout)
                sock.connect(self.unix_socket)
            except OSError as reason:
                sock.close()
                raise OperationalError(CR.CR_CONNECTION_ERROR, str(reason)) from reason
            self._secure = True  # a local socket needs no TLS for passwords
        super().connect(sock)

    def is_stale(self) -> bool:
        """Return whether the server closed the idle connection. Sends nothing."""
        if not self.open:
            return True
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(poll.poll(0))

    def round_trip(self, texts: Sequence[str]) -> list[list[Any]]:
        """Send statements, as many in a packet as the server accepts. Return the rows of each.

        An error of the server leaves the connection usable, to be rolled back. After anything
        else, such as an interrupt, it is closed.
        """
        try:
            return [rows for packet in self._packets(texts) for rows in self._exchange(packet)]
        except Error:
            raise
        except BaseException:
            self._force_close()
            raise

    def discard(self) -> None:
        """Close the socket without the closing handshake."""
        self._force_close()

    def leave(self) -> None:
        """Roll back an open transaction. Close the connection if that fails."""
        if self.open and self.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
            try:
                self.rollback()
            except Error:
                self._force_close()

    def _packets(self, texts: Sequence[str]) -> Iterator[str]:
        packet: list[str] = []
        size = 0
        for text in texts:
            if packet and size + len(text) > self.largest // 4:  # a character has up to 4 bytes
                yield ";".join(packet)
                packet, size = [], 0
            if len(text) >= self.largest // 4:
                self._require_room(text)
            packet.append(text)
            size += len(text) + 1
        if packet:
            yield ";".join(packet)

    def _require_room(self, text: str) -> None:
        """Raise an error if the server would drop the connection because of the packet's size."""
        size = len(text.encode()) + 1
        if size >= self.largest:
            raise OperationalError(
                ER.NET_PACKET_TOO_LARGE,
                f"a statement of {size:,} bytes exceeds max_allowed_packet ({self.largest:,})",
            )

    def _exchange(self, packet: str) -> Iterator[list[Any]]:
        with self.cursor() as cursor:
            cursor.execute(packet)
            yield list(cursor.fetchall())
            while cursor.nextset():
                yield list(cursor.fetchall())


def connect(address: dict[str, Any]) -> MysqlWire:
    """Return a new connection with its session variables set."""
    raw = MysqlWire(
        **address,
        charset="utf8mb4",
        autocommit=True,
        client_flag=CLIENT.MULTI_STATEMENTS,
        conv=_DECODERS,
    )
    *_, ((raw.largest,),) = raw.round_trip([*_SESSION, _COLLATION, "SELECT @@max_allowed_packet"])
    return raw


class Pool:
    """Connection pool with a maximum number of connections in use at a time."""

    def __init__(self, address: dict[str, Any], size: int, timeout: float) -> None:
        self._address = address
        self._timeout = timeout
        self._free = threading.BoundedSemaphore(size)
        self._idle: list[MysqlWire] = []

    @contextmanager
    def borrowed(self) -> Iterator[MysqlWire]:
        """Yield a connection and return it to the pool afterwards, unless it was lost."""
        if not self._free.acquire(timeout=self._timeout):
            raise Unavailable(
                f"No connection to the database was free for {self._timeout:g} seconds.",
                remedy="Try again with fewer concurrent operations.",
            )
        try:
            raw = self._idle_one() or connect(self._address)
            try:
                yield raw
            finally:
                raw.leave()
                if raw.open:
                    self._idle.append(raw)
        finally:
            self._free.release()

    def _idle_one(self) -> MysqlWire | None:
        while self._idle:
            try:
                raw = self._idle.pop()
            except IndexError:  # another thread took the last one
                return None
            if not raw.is_stale():
                return raw
            raw.discard()
        return None

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()
