"""Routes for the options of a catalog, schema or table."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.crucible.callers import Context
from forklake.crucible.definition_changes import apply_change
from forklake.crucible.shapes.base import Name
from forklake.crucible.shapes.history import Option, Options, SetOption
from forklake.errors import NotFound
from forklake.model.options import OPTIONS

router = APIRouter(prefix="/v1/catalogs/{catalog}/options", tags=["options"])
OfSchema = Annotated[str | None, Query(description="Schema that the option applies to.")]
OfTable = Annotated[
    str | None,
    Query(description="Table that the option applies to, in `schema` or else in `main`."),
]


@router.get("", summary="List options", response_model=Options)
def list_options(
    context: Context, catalog: Name, schema: OfSchema = None, table: OfTable = None
) -> Response:
    """List the options with the effective value of each and the scope where it is set."""
    rows = context.catalog(catalog, "options.get").options(schema=schema, table=table)
    found = [Option(name=name, value=value, scope=scope) for name, value, scope in rows]
    return Options(options=found).to_response()


@router.get("/{option}", summary="Get an option", response_model=Option)
def get_option(
    context: Context, catalog: Name, option: Name, schema: OfSchema = None, table: OfTable = None
) -> Response:
    """Return the effective value of an option and the scope where it is set."""
    rows = context.catalog(catalog, "options.get").options(schema=schema, table=table)
    for name, value, scope in rows:
        if name == option.lower():
            return Option(name=name, value=value, scope=scope).to_response()
    raise NotFound(
        f"Option {option!r} does not exist.",
        remedy=f"Use one of: {', '.join(sorted(OPTIONS))}.",
    )


@router.put("/{option}", summary="Set an option", response_model=Option)
def set_option(
    context: Context,
    catalog: Name,
    option: Name,
    body: SetOption,
    schema: OfSchema = None,
    table: OfTable = None,
) -> Response:
    """Set an option for the catalog, a schema or a table. A null value removes the setting."""
    apply_change(
        context,
        catalog,
        "options.set",
        option,
        lambda change: change.set_option(option, body.value, schema=schema, table=table),
    )
    return get_option(context, catalog, option, schema, table)
