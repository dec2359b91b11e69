"""Command that starts the HTTP service."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forklake.cli.context import DEFAULT_METASTORE, CommandContext, command
from forklake.cli.packages import require_packages

if TYPE_CHECKING:
    from forklake.crucible.settings import Settings


@command
def serve(
    context: CommandContext,
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on. Defaults to 127.0.0.1.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Port to listen on. Defaults to 8480.", show_default=False),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Settings file in TOML.", show_default=False),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Create the metastore if it does not exist.")
    ] = False,
) -> None:
    """Start the HTTP service.

    Without access rules, it accepts only loopback addresses of this machine as --host.

    \b
    Examples:
      forklake serve
      forklake serve --host 0.0.0.0 --port 80 --config forklake.toml
    """
    settings = read_service_settings(context, config, host=host, port=port, create=create or None)
    with require_packages("Services", "server"):
        from forklake.crucible.web_server import serve as run
    with _run_automations(settings) if settings.automations else nullcontext():
        run(settings)


@contextmanager
def _run_automations(settings: Settings) -> Iterator[None]:
    """Run due automations in the background while the service runs."""
    from forklake.catalog.metastore import open_metastore

    with require_packages("Automations", "reagent"):
        from forklake.reagent.automations import Runner
        from forklake.reagent.automations.background import run_in_background
        from forklake.reagent.automations.workbooks import workbooks
    # When the server ends, it raises SIGTERM once more, which by default would kill running
    # workbooks at once. As an exception, it lets them end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with (
        open_metastore(
            settings.metastore, create=settings.create, metadata_schema=settings.metadata_schema
        ) as metastore,
        workbooks(settings.metastore, settings.metadata_schema) as perform,
        run_in_background(
            Runner(metastore, perform), settings.automations, patience=settings.shutdown_seconds
        ),
    ):
        yield


def read_service_settings(context: CommandContext, config: str | None, **given: Any) -> Settings:
    """Return the settings of a file, overridden by options of the command line."""
    with require_packages("Services", "server"):
        from forklake.crucible.settings import read_settings
    is_given = context.uri != DEFAULT_METASTORE or config is None
    return read_settings(
        config,
        metastore=context.uri if is_given else None,
        metadata_schema=context.metadata_schema,
        **given,
    )
