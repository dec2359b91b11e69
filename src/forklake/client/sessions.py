"""A session at a service: SQL runs there, rows come here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from forklake.client.documents import Document
from forklake.client.transport import ARROW, Transport, error_of, path_of
from forklake.errors import NotFound
from forklake.model.closing import Closing
from forklake.sql.results import Result

_WAIT = 20.0  # seconds that a request waits for the end of a statement; then it is sent again
_PAGE = 100_000
Parameters = Sequence[Any] | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RemoteStatement:
    """A statement that was sent: it may still run."""

    session: RemoteSession
    number: int

    def state(self, *, wait_seconds: float = 0.0) -> Document:
        """How far it is."""
        found: Document = self.session.transport.send(
            "GET",
            self.session.path("statements", self.number),
            wanted={"wait_seconds": wait_seconds},
        ).json()
        return found

    def result(self) -> Result:
        """Its answer, when it has ended; the error if it failed."""
        told = self.state(wait_seconds=_WAIT)
        while told["ended"] is None:
            told = self.state(wait_seconds=_WAIT)
        if told["error"] is not None:
            raise error_of(told["error"])
        return Result(told["kind"] or "", self.rows(told["row_count"] or 0))

    def rows(self, count: int) -> pa.Table:
        """All rows, page by page."""
        found = self._page(0)
        pages, offset = [found], found.num_rows
        while found.num_rows and offset < count:
            found = self._page(offset)
            pages.append(found)
            offset += found.num_rows
        return pa.concat_tables(pages)

    def _page(self, offset: int) -> pa.Table:
        path = self.session.path("statements", self.number, "rows")
        wanted = {"offset": offset, "limit": _PAGE}
        answer = self.session.transport.send("GET", path, wanted=wanted, accept=ARROW)
        return pa.ipc.open_stream(answer.content).read_all()

    def cancel(self) -> None:
        """Stop it; one that has ended stays as it is."""
        self.session.transport.change(
            "POST", self.session.path("statements", self.number, "cancel")
        )


class RemoteSession(Closing):
    """A session that a service runs for us. Statements run in the order in which they are sent."""

    def __init__(self, transport: Transport, session_id: str) -> None:
        self.transport = transport
        self.session_id = session_id

    def __repr__(self) -> str:
        return f"<RemoteSession {self.session_id} at {self.transport.url}>"

    def path(self, *parts: object) -> str:
        """An address below this session's."""
        return path_of("sessions", self.session_id, *parts)

    def state(self) -> Document:
        """The catalogs that it has, the one in use, and whether a transaction is open."""
        found: Document = self.transport.get(self.path())
        return found

    def submit(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        dialect: str = "duckdb",
        timeout_seconds: float | None = None,
    ) -> RemoteStatement:
        """Send statements and wait for nothing."""
        body = {
            "sql": text,
            "parameters": parameters,
            "dialect": dialect,
            "wait_seconds": 0,
            "timeout_seconds": timeout_seconds,
        }
        told = self.transport.change("POST", self.path("statements"), body)
        return RemoteStatement(self, told["statement"])

    def execute(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Result:
        """Run statements; the answer to the last one."""
        return self.submit(text, parameters, dialect=dialect).result()

    def sql(self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb") -> pa.Table:
        """Run statements; the rows of the last one."""
        return self.execute(text, parameters, dialect=dialect).arrow()

    def close(self) -> None:
        """End it; what runs is stopped, and an open transaction rolled back."""
        try:
            self.transport.change("DELETE", self.path())
        except NotFound:
            return  # nobody used it for too long
