"""The command that lets stock DuckDB read the catalogs of a metastore."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.formatting import visible
from forklake.cli.session import Session, command
from forklake.model.figures import counted


@command
def expose(
    session: Session,
    role: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Role of PostgreSQL that may read them besides the owner.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make views by which stock DuckDB reads every catalog.

    For metastores in PostgreSQL. A client attaches the schema of views and names a catalog in its
    connection string. Run it again after an upgrade of forklake.

    \b
    Examples:
      forklake expose -m ducklake:postgres:dbname=lake
      forklake expose -m ducklake:postgres:dbname=lake --role forklake_tenant
    """
    from forklake.store.exposing import expose as run

    with session.open() as metastore:
        made = run(metastore.database, role=role)
    said = f"Made {counted(len(made.views), 'view')} in {visible(made.schema)}."
    document = {"schema": made.schema, "views": list(made.views), "role": made.role}
    session.output.show(document, lambda: [said])
