"""Commands that create metastores, catalogs and forks."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.cli.listings import show_created
from forklake.errors import NotFound
from forklake.model.figures import counted
from forklake.model.options import as_age
from forklake.model.requests import CreateRequest, ForkMode, ForkRequest
from forklake.store.upgrade import Upgrade

NamesArgument = Annotated[
    list[str], typer.Argument(metavar="NAME", help="Names of the catalogs.", show_default=False)
]
DataPathOption = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Folder or bucket for data files.", show_default=False),
]
IfNotExistsOption = Annotated[
    bool, typer.Option("--if-not-exists", help="Keep catalogs that already exist.")
]
TtlOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time to live, such as 2h or '7 days'. Without it, they never expire.",
        show_default=False,
    ),
]


@command
def init(
    context: CommandContext,
    uri: Annotated[
        str | None,
        typer.Argument(metavar="[URI]", help="Address of the metastore.", show_default=False),
    ] = None,
    partitions: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of partitions of the large tables (PostgreSQL only; 0 for none).",
        ),
    ] = 0,
    upgrade: Annotated[
        bool,
        typer.Option(
            "--upgrade",
            help="Upgrade a metastore that an older version made, and restore missing tables.",
        ),
    ] = False,
) -> None:
    """Create a metastore, or upgrade an existing one.

    Existing catalogs are kept.

    \b
    Examples:
      forklake init
      forklake init ducklake:postgres:dbname=lake
      forklake init ducklake:postgres:dbname=lake --partitions 16
      forklake init ducklake:postgres:dbname=lake --upgrade
    """
    place = context if uri is None else CommandContext(uri, context.metadata_schema, context.output)
    done = Upgrade((), ())
    try:
        done = place.upgrade() if upgrade else done
        metastore, created = place.open(partitions=partitions), False
    except NotFound:
        metastore, created = place.open(create=True, partitions=partitions), True
    with metastore:
        address, backend = metastore.database.address, metastore.database.dialect.name
        count = metastore.count()
    where = f"{escape(address)} ({backend})"
    message = f"Created the metastore {where}."
    if not created:
        message = f"The metastore {where} already exists, with {counted(count, 'catalog')}."
        message += f" Added or updated: {', '.join(done.restored)}." if done.restored else ""
    document = {"address": address, "backend": backend, "created": created, "catalogs": count}
    document |= {"migrations": [one.name for one in done.migrations], "added": done.restored}
    lines = [f"Migrated: {one.name} ({one.change})" for one in done.migrations]
    context.output.show(document, lambda: [*lines, message])


@command
def create(
    context: CommandContext,
    names: NamesArgument,
    data_path: DataPathOption = None,
    if_not_exists: IfNotExistsOption = False,
    ttl: TtlOption = None,
) -> None:
    """Create empty catalogs, all in one snapshot.

    \b
    Examples:
      forklake create sales
      forklake create sales stock --data-path s3://lake/
    """
    age = None if ttl is None else as_age(ttl)
    request = CreateRequest(names, data_path, if_not_exists, age)
    with context.connect() as metastore:
        rows = metastore.create(request).rows
    show_created(context.output, rows)


@command
def fork(
    context: CommandContext,
    parent: Annotated[str, typer.Argument(help="Catalog to fork.", show_default=False)],
    names: NamesArgument,
    at: Annotated[
        int | None,
        typer.Option(
            metavar="SNAPSHOT",
            help="Fork the state at this snapshot instead of the current one.",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        ForkMode,
        typer.Option(help="Read the metadata rows of the parent in place, or copy them."),
    ] = ForkMode.INHERIT,
    count: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=999_999,
            metavar="N",
            help="Number of forks to create: NAME-000001, NAME-000002 …",
            show_default=False,
        ),
    ] = None,
    data_path: DataPathOption = None,
    if_not_exists: IfNotExistsOption = False,
    ttl: TtlOption = None,
) -> None:
    """Fork a catalog, once for each name, without copying data.

    \b
    Examples:
      forklake fork sales experiment
      forklake fork sales agent --count 1000 --ttl 2h
      forklake fork sales before-the-mishap --at 42
    """
    fork_names = names
    if count is not None:
        fork_names = [f"{name}-{number:06d}" for name in names for number in range(1, count + 1)]
    age = None if ttl is None else as_age(ttl)
    request = ForkRequest(parent, fork_names, at, data_path, mode, if_not_exists, age)
    with context.connect() as metastore:
        rows = metastore.create_forks(request).rows
    show_created(context.output, rows, parent)
