"""Command that creates views with which stock DuckDB reads the catalogs of a metastore."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.model.figures import counted


@command
def expose(
    context: CommandContext,
    role: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="PostgreSQL role that may read the views, in addition to their owner.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Create views with which stock DuckDB reads every catalog.

    For metastores in PostgreSQL. A client attaches the schema of the views, and names a catalog in
    its connection string. Run the command again after an upgrade of forklake.

    \b
    Examples:
      forklake expose -m ducklake:postgres:dbname=lake
      forklake expose -m ducklake:postgres:dbname=lake --role forklake_tenant
    """
    from forklake.store.stock_schema import expose as run

    with context.open() as metastore:
        made = run(metastore.database, role=role)
    message = f"Created {counted(len(made.views), 'view')} in {escape(made.schema)}."
    document = {"schema": made.schema, "views": list(made.views), "role": made.role}
    context.output.show(document, lambda: [message])
