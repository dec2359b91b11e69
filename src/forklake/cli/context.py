"""Options that all commands share, and the conversion of errors to exit codes."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from forklake.cli.output import CommandOutput
from forklake.errors import ForklakeError, InvalidInput, Unsupported, outcome

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.catalog.service import CatalogService
    from forklake.client import Client
    from forklake.store.upgrade import Upgrade

DEFAULT_METASTORE = "ducklake:forklake.db"
METASTORE_VARIABLE = "FORKLAKE_METASTORE"
SERVER_VARIABLE = "FORKLAKE_SERVER"
KEY_VARIABLE = "FORKLAKE_KEY"  # no option: other users of the machine can see command lines

P = ParamSpec("P")

MetastoreOption = Annotated[
    str | None,
    typer.Option(
        "--metastore",
        "-m",
        metavar="URI",
        help="Address of the metastore: ducklake:<path>, ducklake:postgres:<dsn> or"
        f" ducklake:mysql:<dsn>. Defaults to ${METASTORE_VARIABLE}, then {DEFAULT_METASTORE}.",
        show_default=False,
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Address of a service to use instead of a metastore. Defaults to"
        f" ${SERVER_VARIABLE}. The API key or token is read from ${KEY_VARIABLE}.",
        show_default=False,
    ),
]
MetadataSchemaOption = Annotated[
    str | None,
    typer.Option(
        "--metadata-schema",
        metavar="NAME",
        help="Database schema with the tables of the metastore.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print results and errors as JSON.", show_default=False),
]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Context of one command: its metastore or service, and its output."""

    uri: str
    metadata_schema: str | None
    output: CommandOutput
    server: str | None = None

    def connect(self) -> CatalogService:
        """Open the metastore, or connect to the service. The result is a context manager."""
        return self.open() if self.server is None else self.client()

    def client(self) -> Client:
        """Connect to the service."""
        from forklake.client import connect

        assert self.server is not None
        return connect(self.server, os.environ.get(KEY_VARIABLE))

    def open(self, *, create: bool = False, partitions: int = 0) -> Metastore:
        """Open the metastore. Raise Unsupported if a service was given instead."""
        self._require_metastore()
        from forklake.catalog.metastore import open_metastore

        return open_metastore(
            self.uri,
            create=create,
            metadata_schema=self.metadata_schema,
            partitions=partitions,
        )

    def upgrade(self) -> Upgrade:
        """Upgrade the metastore. Raise Unsupported if a service was given instead."""
        self._require_metastore()
        from forklake.store.bootstrap import upgrade_database

        return upgrade_database(self.uri, metadata_schema=self.metadata_schema)

    def _require_metastore(self) -> None:
        if self.server is not None:
            raise Unsupported(
                "This command needs the metastore itself and cannot use a service.",
                remedy=f"Leave out --server, unset {SERVER_VARIABLE}, and pass --metastore URI.",
            )


def command(function: Callable[Concatenate[CommandContext, P], None]) -> Callable[..., None]:
    """Return a Typer command for a function: with the shared options, and with errors printed.

    The shared options are accepted before and after the name of the command; after it, they win.
    """

    def wrapped(
        *,
        typer_context: typer.Context,
        metastore: MetastoreOption = None,
        server: ServerOption = None,
        metadata_schema: MetadataSchemaOption = None,
        as_json: JsonOption = False,
        **own: Any,
    ) -> None:
        before = typer_context.find_root().params
        output = CommandOutput(as_json=as_json or before["as_json"])
        uri = metastore or before["metastore"]
        service = server or before["server"]
        if uri is None and service is None:  # options take precedence over variables
            uri, service = (os.environ.get(one) for one in (METASTORE_VARIABLE, SERVER_VARIABLE))
        schema = metadata_schema or before["metadata_schema"]
        context = CommandContext(uri or DEFAULT_METASTORE, schema, output, service or None)
        try:
            if uri and service:
                raise InvalidInput(
                    "Both a metastore and a service are given.",
                    remedy=f"Choose one: --metastore or --server, {METASTORE_VARIABLE} or"
                    f" {SERVER_VARIABLE}.",
                )
            function(context, **own)  # type: ignore[call-arg]
        except ForklakeError as error:
            output.error(error)
            _, exit_code = outcome(error)
            raise typer.Exit(exit_code) from None

    # Typer reads options from the signature: merge those of the function and the shared ones.
    _, *own_parameters = inspect.signature(function, eval_str=True).parameters.values()
    *shared, _ = inspect.signature(wrapped, eval_str=True).parameters.values()
    parameters = [
        parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in (*own_parameters, *shared)
    ]
    functools.update_wrapper(wrapped, function)
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {one.name: one.annotation for one in parameters}
    return wrapped
