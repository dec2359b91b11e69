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
from forklake.errors import ForklakeError, outcome

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

DEFAULT_METASTORE = "ducklake:forklake.db"
METASTORE_VARIABLE = "FORKLAKE_METASTORE"

P = ParamSpec("P")

MetastoreOption = Annotated[
    str | None,
    typer.Option(
        "--metastore",
        "-m",
        metavar="URI",
        help="Address of the metastore: ducklake:<path>, ducklake:duckdb:<path> or"
        f" ducklake:postgres:<dsn>. Else the variable {METASTORE_VARIABLE} says it, or it is"
        f" {DEFAULT_METASTORE}.",
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

    def open(self, *, create: bool = False) -> Metastore:
        """The metastore; use it as a context manager."""
        from forklake.catalog.metastore import open_metastore

        return open_metastore(self.uri, create=create, metadata_schema=self.metadata_schema)


def command(function: Callable[Concatenate[Session, P], None]) -> Callable[..., None]:
    """The function as a command line: with the shared options, and with errors shown as such.

    The shared options may stand before the command's name or after it; the latter win.
    """

    def wrapped(
        *,
        context: typer.Context,
        metastore: MetastoreOption = None,
        metadata_schema: MetadataSchemaOption = None,
        as_json: JsonOption = False,
        **own: Any,
    ) -> None:
        before = context.find_root().params
        output = Output(as_json=as_json or before["as_json"])
        uri = metastore or before["metastore"] or os.environ.get(METASTORE_VARIABLE)
        schema = metadata_schema or before["metadata_schema"]
        session = Session(uri or DEFAULT_METASTORE, schema, output)
        try:
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
