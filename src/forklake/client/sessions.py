"""Session of a remote service: SQL runs there, and result rows are fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from forklake.client.documents import Document
from forklake.client.transport import ARROW, Transport, path_of, to_error
from forklake.errors import NotFound
from forklake.model.closeable import Closing
from forklake.sql.results import Result

_WAIT = 20.0  # seconds that one request waits for a statement to end; then another one is sent
_PAGE = 100_000
Parameters = Sequence[Any] | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RemoteStatement:
    """Submitted statement, which may still be running."""

    session: RemoteSession
    number: int

    def state(self, *, wait_seconds: float = 0.0) -> Document:
        """Return the state of the statement, after waiting up to `wait_seconds` for its end."""
        found: Document = self.session.transport.send(
            "GET",
            self.session.path("statements", self.number),
            parameters={"wait_seconds": wait_seconds},
        ).json()
        return found

    def result(self) -> Result:
        """Wait for the statement to end and return its result. Raise its error if it failed."""
        state = self.state(wait_seconds=_WAIT)
        while state["ended"] is None:
            state = self.state(wait_seconds=_WAIT)
        if state["error"] is not None:
            raise to_error(state["error"])
        return Result(state["kind"] or "", self.rows(state["row_count"] or 0))

    def rows(self, count: int) -> pa.Table:
        """Return all rows, fetched page by page."""
        found = self._fetch_page(0)
        pages, offset = [found], found.num_rows
        while found.num_rows and offset < count:
            found = self._fetch_page(offset)
            pages.append(found)
            offset += found.num_rows
        return pa.concat_tables(pages)

    def _fetch_page(self, offset: int) -> pa.Table:
        path = self.session.path("statements", self.number, "rows")
        parameters = {"offset": offset, "limit": _PAGE}
        response = self.session.transport.send("GET", path, parameters=parameters, accept=ARROW)
        return pa.ipc.open_stream(response.content).read_all()

    def cancel(self) -> None:
        """Cancel the statement. Does nothing if it has ended."""
        self.session.transport.change(
            "POST", self.session.path("statements", self.number, "cancel")
        )


class RemoteSession(Closing):
    """Session of a remote service. Statements run in the order in which they are submitted."""

    def __init__(self, transport: Transport, session_id: str) -> None:
        self.transport = transport
        self.session_id = session_id

    def __repr__(self) -> str:
        return f"<RemoteSession {self.session_id} at {self.transport.url}>"

    def path(self, *parts: object) -> str:
        """Return a path below that of this session."""
        return path_of("sessions", self.session_id, *parts)

    def state(self) -> Document:
        """Return the attached catalogs, the current one, and whether a transaction is open."""
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
        """Submit statements and return without waiting for their end."""
        body = {
            "sql": text,
            "parameters": parameters,
            "dialect": dialect,
            "wait_seconds": 0,
            "timeout_seconds": timeout_seconds,
        }
        state = self.transport.change("POST", self.path("statements"), body)
        return RemoteStatement(self, state["statement"])

    def execute(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Result:
        """Run statements and return the result of the last one."""
        return self.submit(text, parameters, dialect=dialect).result()

    def sql(self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb") -> pa.Table:
        """Run statements and return the rows of the last one."""
        return self.execute(text, parameters, dialect=dialect).arrow()

    def close(self) -> None:
        """Close the session, which cancels its statements and rolls back an open transaction."""
        try:
            self.transport.change("DELETE", self.path())
        except NotFound:
            return  # already closed, for example by the idle timeout
