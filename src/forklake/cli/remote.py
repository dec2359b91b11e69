"""A session at a service, as the commands of SQL and the shell use sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklake.cli.formatting import quoted
from forklake.cli.scripts import Script
from forklake.errors import InvalidInput, Unsupported
from forklake.model.closing import Closing
from forklake.sql.parameters import Parameters

if TYPE_CHECKING:
    from forklake.client import Client
    from forklake.client.sessions import RemoteSession, RemoteStatement
    from forklake.sql.results import Result


class ServedSession(Closing):
    """Catalogs of a service, and the session there that has them."""

    def __init__(self, client: Client, catalogs: list[str]) -> None:
        self._client = client
        self._session: RemoteSession = client.session(catalogs[0])
        self._running: RemoteStatement | None = None
        for name in catalogs[1:]:
            self._attach(name)

    def close(self) -> None:
        """Close the session, and the connections to the service."""
        self._session.close()
        self._client.close()

    def _attach(self, name: str) -> None:
        text = name.replace("'", "''")
        self._session.execute(f"ATTACH '{text}' AS {quoted(name)}")

    @property
    def current(self) -> tuple[str, ...] | None:
        """Where names are looked up."""
        found = self._session.state()["current"]
        return None if found is None else tuple(found)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._session.state()["in_transaction"])

    def fork(self, parent: str, name: str, *, attach_as: str) -> None:
        """Fork a catalog and attach the fork."""
        self._client.fork(parent, name)
        self._attach(attach_as)

    def use(self, name: str) -> None:
        """Look names up in a catalog from now on."""
        self._session.execute(f"USE {name}")

    def run(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Iterator[Result]:
        """Run statements one after the other, each when its answer is asked for."""
        statements = Script(text, dialect).statements()
        if parameters and len(statements) > 1:
            raise InvalidInput(
                "Values are given for several statements at once.",
                remedy="Run each statement with its own values.",
            )
        for one in statements:
            self._running = self._session.submit(one.text, parameters, dialect=dialect)
            yield self._running.result()

    def cancel(self) -> None:
        """Stop what runs."""
        if self._running is not None:
            self._running.cancel()


def served(client: Client, catalogs: list[str] | None, *, create: bool) -> ServedSession:
    """A session at a service with catalogs, the first of which is in use."""
    if not catalogs:
        raise InvalidInput(
            "A session at a service needs a catalog.", remedy="Name one with --catalog."
        )
    if create:
        for name in catalogs:
            client.create_catalog(name, if_not_exists=True)
    return ServedSession(client, catalogs)


def require_none(**options: object) -> None:
    """Unsupported if any of these options was given, which are up to a service."""
    for name, value in options.items():
        if value:
            raise Unsupported(
                f"The option --{name.replace('_', '-')} is not for services.",
                remedy="Leave it out: the service decides that.",
            )
