"""Command that lists and sets options of the metastore, a catalog, a schema or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.output import make_table
from forklake.errors import InvalidInput

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

# Name of an option, its effective value and the scope that sets it.
OptionRow = tuple[str, str | None, str]
# Names and new values. None removes a value.
Changes = Sequence[tuple[str, str | None]]


@command
def options(
    context: CommandContext,
    catalog: Annotated[
        str | None,
        typer.Argument(
            help="Name of a catalog. Defaults to the whole metastore.", show_default=False
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set an option. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    removals: Annotated[
        list[str] | None,
        typer.Option(
            "--unset",
            metavar="NAME",
            help="Remove the value of an option. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show or set options of a schema.", show_default=False),
    ] = None,
    table_name: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="NAME", help="Show or set options of a table.", show_default=False
        ),
    ] = None,
) -> None:
    """Show or set options.

    The values shown are the effective ones: those of the table, then of the schema, the catalog
    and the metastore, then the defaults.

    \b
    Examples:
      forklake options
      forklake options sales --set target_file_size=256MB
      forklake options sales --table orders --set parquet_compression=zstd
    """
    from forklake.model.options import OPTIONS

    if catalog is None and (schema is not None or table_name is not None):
        raise InvalidInput(
            "A schema or a table is given without its catalog.",
            remedy="Pass the name of the catalog as the argument.",
        )
    changes = [
        *map(_parse_assignment, assignments or []),
        *((name, None) for name in removals or []),
    ]
    if catalog is None:
        with context.open() as metastore:
            found = _list_metastore_options(metastore, changes)
    else:
        with context.connect() as place:
            chosen = place.catalog(catalog)
            if changes:
                chosen.set_options(dict(changes), schema=schema, table=table_name)
            found = chosen.options(schema=schema, table=table_name)
    document = {
        "catalog": catalog,
        "schema": schema,
        "table": table_name,
        "options": [
            {"name": name, "value": value, "set_for": scope, "is_default": scope == "default"}
            for name, value, scope in found
        ],
    }
    rows = [(*one, OPTIONS[one[0]].description) for one in found]
    headings = ("option", "value", "set for", "meaning")
    context.output.show(document, lambda: [make_table(headings, rows)])


def _parse_assignment(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput(
            f"The setting {text!r} has no '='.",
            remedy="Write --set NAME=VALUE, or --unset NAME to remove a value.",
        )
    return name.strip(), value.strip()


def _list_metastore_options(metastore: Metastore, changes: Changes) -> list[OptionRow]:
    from forklake.model.options import OPTIONS

    for name, value in changes:
        metastore.set_option(name, value)
    values = metastore.options()
    return [
        (name, values.get(name, rule.default), "global" if name in values else "default")
        for name, rule in OPTIONS.items()
    ]
