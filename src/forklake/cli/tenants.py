"""Command that sets up PostgreSQL to isolate tenants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType


@command
def tenants(
    context: CommandContext,
    role: Annotated[
        str, typer.Option(metavar="NAME", help="Group role of all tenants.")
    ] = "forklake_tenant",
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Schema of the views. Defaults to tenant.",
            show_default=False,
        ),
    ] = None,
    harden: Annotated[
        bool,
        typer.Option(
            "--harden/--no-harden",
            help="Deny all roles that do not commit access to the advisory locks of commits, the"
            " statements of other sessions, temporary tables and large objects. Needs a"
            " superuser.",
        ),
    ] = True,
    members: Annotated[
        list[str] | None,
        typer.Option(
            "--member",
            metavar="NAME",
            help="Login role to create for one tenant, with the limits. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    statement_seconds: Annotated[
        int, typer.Option(metavar="SECONDS", help="Maximum time of a statement of a tenant.")
    ] = 60,
    idle_seconds: Annotated[
        int,
        typer.Option(metavar="SECONDS", help="Maximum idle time in a transaction of a tenant."),
    ] = 60,
    connections: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="Maximum number of connections of each tenant role."),
    ] = 64,
) -> None:
    """Create views in which SQL of a tenant sees one catalog.

    The token of a tenant selects the catalog.

    For metastores in PostgreSQL. Run the command again after an upgrade of forklake, and after
    granting the group role to another role: it sets the limits of every member.

    \b
    Examples:
      forklake access tenants -m ducklake:postgres:dbname=lake
      forklake access tenants -m ducklake:postgres:dbname=lake --member acme
    """
    from forklake.access.tenant_roles import Limits
    from forklake.access.tenants import set_up

    limits = Limits(statement_seconds, idle_seconds, connections)
    with context.open() as metastore:
        made = set_up(
            metastore,
            role=role,
            schema=schema,
            harden=harden,
            members=members or [],
            limits=limits,
        )

    def draw() -> Iterator[RenderableType]:
        views = counted(len(made.views), "view")
        yield f"Created {views} in {escape(made.schema)}, readable by {escape(made.role)}."
        for name in made.unlimited:
            yield (
                f"The role {escape(name)} has no limits, so its access is refused. Run this"
                " command as a superuser, or set the limits with ALTER ROLE."
            )
        if not made.is_hardened:
            yield "Tenants can block commits by taking their locks, and see statements of others."
            yield "Review these statements and run them as a superuser to prevent it:"
            yield from (f"  {statement};" for statement in made.hardening)

    document = {
        "schema": made.schema,
        "role": made.role,
        "views": list(made.views),
        "is_hardened": made.is_hardened,
        "hardening": list(made.hardening),
        "unlimited": list(made.unlimited),
    }
    context.output.show(document, draw)
