"""What all commands share: the options for metastore and form, and how errors end a command."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from forklake.cli.output import Output
from forklake.errors import ForklakeError, InvalidInput, Unsupported, outcome

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.client import Client

DEFAULT_METASTORE = "ducklake:forklake.db"
METASTORE_VARIABLE = "FORKLAKE_METASTORE"
SERVER_VARIABLE = "FORKLAKE_SERVER"
KEY_VARIABLE = "FORKLAKE_KEY"  # never on a command line, which others can see

P = ParamSpec("P")

MetastoreOption = Annotated[
    str | None,
    typer.Option(
        "--metastore",
        "-m",
        metavar="URI",
        help="Address of the metastore: ducklake:<path>, ducklake:postgres:<dsn> or"
        f" ducklake:mysql:<dsn>. Else the variable {METASTORE_VARIABLE} says it, or it is"
        f" {DEFAULT_METASTORE}.",
        show_default=False,
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help=f"Address of a service to ask instead. Else the variable {SERVER_VARIABLE} says it;"
        f" {KEY_VARIABLE} holds the API key or token.",
        show_default=False,
    ),
]
MetadataSchemaOption = Annotated[
    str | None,
    typer.Option(
        "--metadata-schema",
        metavar="NAME",
        help="Schema of the database that holds the metastore's tables.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document.", show_default=False)
]


@dataclass(frozen=True, slots=True)
class Session:
    """One run of a command: the metastore it is about and where its output goes."""

    uri: str
    metadata_schema: str | None
    output: Output
    server: str | None = None

    def reach(self) -> Metastore | Client:
        """The metastore, or the service that was named; use it as a context manager."""
        return self.open() if self.server is None else self.client()

    def client(self) -> Client:
        """The service that was named."""
        from forklake.client import connect

        assert self.server is not None
        return connect(self.server, os.environ.get(KEY_VARIABLE))

    def open(self, *, create: bool = False, partitions: int = 0) -> Metastore:
        """The metastore, for what no service does; use it as a context manager."""
        if self.server is not None:
            raise Unsupported(
                "This command works on a metastore itself, not through a service.",
                remedy=f"Leave out --server and {SERVER_VARIABLE}.",
            )
        from forklake.catalog.metastore import open_metastore

        return open_metastore(
            self.uri,
            create=create,
            metadata_schema=self.metadata_schema,
            partitions=partitions,
        )


def command(function: Callable[Concatenate[Session, P], None]) -> Callable[..., None]:
    """The function as a command line: with the shared options, and with errors shown as such.

    The shared options may stand before the command's name or after it; the latter win.
    """

    def wrapped(
        *,
        context: typer.Context,
        metastore: MetastoreOption = None,
        server: ServerOption = None,
        metadata_schema: MetadataSchemaOption = None,
        as_json: JsonOption = False,
        **own: Any,
    ) -> None:
        before = context.find_root().params
        output = Output(as_json=as_json or before["as_json"])
        uri = metastore or before["metastore"]
        service = server or before["server"]
        if uri is None and service is None:  # what a command line says wins over variables
            uri, service = (os.environ.get(one) for one in (METASTORE_VARIABLE, SERVER_VARIABLE))
        schema = metadata_schema or before["metadata_schema"]
        session = Session(uri or DEFAULT_METASTORE, schema, output, service or None)
        try:
            if uri and service:
                raise InvalidInput(
                    "Both a metastore and a service are named.", remedy="Name one of them."
                )
            function(session, **own)  # type: ignore[call-arg]
        except ForklakeError as error:
            output.error(error)
            _, exit_code = outcome(error)
            raise typer.Exit(exit_code) from None

    # Typer reads the options off the signature.
    _, *own_parameters = inspect.signature(function, eval_str=True).parameters.values()
    *shared, _ = inspect.signature(wrapped, eval_str=True).parameters.values()
    parameters = [
        parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in (*own_parameters, *shared)
    ]
    functools.update_wrapper(wrapped, function)
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {one.name: one.annotation for one in parameters}
    return wrapped
