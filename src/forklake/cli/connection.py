"""Options and sessions of the commands that run SQL on attached catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext
from forklake.model.names import quoted

if TYPE_CHECKING:
    from forklake.cli.remote import ServiceSession
    from forklake.cli.statement_runner import CommandSession

CatalogsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        "-c",
        metavar="NAME",
        help="Attach a catalog under its name. Can be repeated; the first one is in use.",
        show_default=False,
    ),
]
CreateOption = Annotated[
    bool,
    typer.Option("--create", help="Create the metastore and the catalogs if they do not exist."),
]
ReadOnlyOption = Annotated[bool, typer.Option("--read-only", help="Attach the catalogs read-only.")]


def open_session(
    context: CommandContext,
    catalogs: list[str] | None,
    *,
    create: bool,
    data_path: str | None,
    read_only: bool,
) -> CommandSession | ServiceSession:
    """Return a session with the catalogs attached and the first of them in use."""
    if context.server is not None:
        from forklake.cli.remote import open_service_session, reject_options

        reject_options(data_path=data_path, read_only=read_only)
        return open_service_session(context.client(), catalogs, create=create)
    from forklake.cli.statement_runner import CommandSession

    session = CommandSession()
    try:
        for name in catalogs or []:
            session.attach(
                context.uri,
                catalog=name,
                data_path=data_path,
                metadata_schema=context.metadata_schema,
                create_if_not_exists=create,
                read_only=read_only,
            )
        if catalogs:
            session.use(quoted(catalogs[0]))
    except BaseException:
        session.close()
        raise
    return session
