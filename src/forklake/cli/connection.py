"""Options and sessions of the commands that run SQL on attached catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.formatting import quoted
from forklake.cli.session import Session

if TYPE_CHECKING:
    from forklake.cli.remote import ServedSession
    from forklake.cli.statement_runner import WatchedSession

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


def connected(
    place: Session,
    catalogs: list[str] | None,
    *,
    create: bool,
    data_path: str | None,
    read_only: bool,
) -> WatchedSession | ServedSession:
    """Return a session with the catalogs attached and the first of them in use."""
    if place.server is not None:
        from forklake.cli.remote import require_none, served

        require_none(data_path=data_path, read_only=read_only)
        return served(place.client(), catalogs, create=create)
    from forklake.cli.statement_runner import WatchedSession

    session = WatchedSession()
    try:
        for name in catalogs or []:
            session.attach(
                place.uri,
                catalog=name,
                data_path=data_path,
                metadata_schema=place.metadata_schema,
                create_if_not_exists=create,
                read_only=read_only,
            )
        if catalogs:
            session.use(quoted(catalogs[0]))
    except BaseException:
        session.close()
        raise
    return session
