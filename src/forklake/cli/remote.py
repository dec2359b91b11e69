"""Sessions of a service, with the interface that the SQL commands and the shell use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklake.cli.scripts import Script
from forklake.errors import InvalidInput, Unsupported
from forklake.model.closeable import Closing
from forklake.model.names import quoted
from forklake.sql.parameters import Parameters

if TYPE_CHECKING:
    from forklake.client import Client
    from forklake.client.sessions import RemoteSession, RemoteStatement
    from forklake.sql.results import Result


class ServiceSession(Closing):
    """Session of a service with its attached catalogs."""

    def __init__(self, client: Client, catalogs: list[str]) -> None:
        self._client = client
        self._session: RemoteSession = client.session(catalogs[0])
        self._running: RemoteStatement | None = None
        for name in catalogs[1:]:
            self._attach(name)

    def close(self) -> None:
        """Close the session and the connections to the service."""
        self._session.close()
        self._client.close()

    def _attach(self, name: str) -> None:
        text = name.replace("'", "''")
        self._session.execute(f"ATTACH '{text}' AS {quoted(name)}")

    @property
    def current(self) -> tuple[str, ...] | None:
        """Catalog and schema in which names are resolved."""
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
        """Resolve names in another catalog from now on."""
        self._session.execute(f"USE {name}")

    def run(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Iterator[Result]:
        """Run statements in order, each one when its result is requested."""
        statements = Script(text, dialect).statements()
        if parameters and len(statements) > 1:
            raise InvalidInput(
                "Parameters are given for more than one statement.",
                remedy="Run each statement separately, with its parameters.",
            )
        for one in statements:
            self._running = self._session.submit(one.text, parameters, dialect=dialect)
            yield self._running.result()

    def cancel(self) -> None:
        """Cancel the running statement."""
        if self._running is not None:
            self._running.cancel()


def open_service_session(
    client: Client, catalogs: list[str] | None, *, create: bool
) -> ServiceSession:
    """Open a session of a service with catalogs attached, the first of them in use."""
    if not catalogs:
        raise InvalidInput("A session of a service needs a catalog.", remedy="Pass --catalog NAME.")
    if create:
        for name in catalogs:
            client.create_catalog(name, if_not_exists=True)
    return ServiceSession(client, catalogs)


def reject_options(**options: object) -> None:
    """Raise Unsupported if any of these options is set: the service controls them."""
    for name, value in options.items():
        if value:
            raise Unsupported(
                f"The option --{name.replace('_', '-')} cannot be used with a service.",
                remedy="Leave it out: it is controlled by the settings of the service.",
            )
