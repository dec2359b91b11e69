"""The command that lets PostgreSQL itself keep tenants apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.formatting import visible
from forklake.cli.session import Session, command
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType


@command
def tenants(
    session: Session,
    role: Annotated[
        str, typer.Option(metavar="NAME", help="Role that tenants connect as.")
    ] = "forklake_tenant",
    schema: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Schema of their views (tenant).", show_default=False),
    ] = None,
    harden: Annotated[
        bool,
        typer.Option(
            "--harden/--no-harden",
            help="Close the advisory locks of commits, the statements of others, temporary tables"
            " and large objects to every role but those that commit. Needs a superuser.",
        ),
    ] = True,
    members: Annotated[
        list[str] | None,
        typer.Option(
            "--member",
            metavar="NAME",
            help="Login role to create for one tenant, with the limits.",
            show_default=False,
        ),
    ] = None,
    statement_seconds: Annotated[
        int, typer.Option(metavar="SECONDS", help="Longest statement of a tenant.")
    ] = 60,
    idle_seconds: Annotated[
        int, typer.Option(metavar="SECONDS", help="Longest pause in a transaction of a tenant.")
    ] = 60,
    connections: Annotated[
        int, typer.Option(metavar="NUMBER", help="Connections of each role of tenants.")
    ] = 64,
) -> None:
    """Create views by which a tenant's SQL sees one catalog.

    It is the one of its token.

    For metastores in PostgreSQL. Run it again after an upgrade of forklake, and after you made a
    role a member of the role of tenants: it sets the limits of each member.

    \b
    Examples:
      forklake access tenants -m ducklake:postgres:dbname=lake
      forklake access tenants -m ducklake:postgres:dbname=lake --member acme
    """
    from forklake.access.tenant_roles import Limits
    from forklake.access.tenants import set_up

    limits = Limits(statement_seconds, idle_seconds, connections)
    with session.open() as metastore:
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
        yield f"Made {views} in {visible(made.schema)} that {visible(made.role)} may read."
        for name in made.unlimited:
            yield (
                f"The role {visible(name)} has no limits, and is refused. Let a superuser run this"
                " command, or set them with ALTER ROLE."
            )
        if not made.is_hardened:
            yield "Tenants can take the locks that commits wait for, and see statements of others."
            yield "Let a superuser look at these, and run them:"
            yield from (f"  {statement};" for statement in made.hardening)

    document = {
        "schema": made.schema,
        "role": made.role,
        "views": list(made.views),
        "is_hardened": made.is_hardened,
        "hardening": list(made.hardening),
        "unlimited": list(made.unlimited),
    }
    session.output.show(document, draw)
