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
        typer.Option("--harden", help="Also close to everybody what tenants should not reach."),
    ] = False,
) -> None:
    """Make views by which a tenant's SQL sees one catalog.

    It is the one of its token.

    For metastores in PostgreSQL. Run it again after an upgrade of forklake.

    \b
    Example:
      forklake access tenants -m ducklake:postgres:dbname=lake
    """
    from forklake.access.tenants import set_up

    with session.open() as metastore:
        made = set_up(metastore, role=role, schema=schema, harden=harden)

    def draw() -> Iterator[RenderableType]:
        views = counted(len(made.views), "view")
        yield f"Made {views} in {visible(made.schema)} that {visible(made.role)} may read."
        if not made.is_hardened:
            yield "Let a superuser look at these, and run them, or use --harden:"
            yield from (f"  {statement};" for statement in made.hardening)

    document = {
        "schema": made.schema,
        "role": made.role,
        "views": list(made.views),
        "is_hardened": made.is_hardened,
        "hardening": list(made.hardening),
    }
    session.output.show(document, draw)
