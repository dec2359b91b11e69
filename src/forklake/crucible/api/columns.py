"""Routes for the columns of a table."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.catalog.transaction import Transaction
from forklake.crucible.callers import Context
from forklake.crucible.definition_changes import apply_change
from forklake.crucible.shapes.base import Name, empty_response
from forklake.crucible.shapes.tables import COMMENT, ChangeColumn, NewColumn, Table
from forklake.crucible.shapes.types import to_column_type

router = APIRouter(
    prefix="/v1/catalogs/{catalog}/schemas/{schema}/tables/{table}/columns", tags=["columns"]
)


@router.post("", summary="Add a column", status_code=201, response_model=Table)
def add_column(
    context: Context, catalog: Name, schema: Name, table: Name, body: NewColumn
) -> Response:
    """Add a column. Existing rows return its default value."""
    spec = body.spec()
    after = apply_change(
        context,
        catalog,
        "column.add",
        f"{schema}.{table}.{body.name}",
        lambda change: change.add_column(change.table(table, schema), spec),
    ).now()
    return Table.of(after, after.state.table(table, schema)).to_response(201)


@router.patch("/{column}", summary="Change a column", response_model=Table)
def change_column(
    context: Context, catalog: Name, schema: Name, table: Name, column: Name, body: ChangeColumn
) -> Response:
    """Change the name, type, default, comment or nullability of a column, in one snapshot.

    A type can only be widened. Nulls can be allowed, but not forbidden.
    """

    def change(transaction: Transaction) -> None:
        found = transaction.table(table, schema)
        if body.type is not None:
            transaction.set_column_type(found, column, to_column_type(body.type))
        if "default" in body.model_fields_set:
            transaction.set_default(found, column, body.default)
        if body.nulls_allowed:
            transaction.set_nullable(found, column, True)
        if "comment" in body.model_fields_set:
            transaction.set_column_tag(found, column, COMMENT, body.comment)
        if body.name is not None:
            transaction.rename_column(found, column, body.name)

    what = f"{schema}.{table}.{column}"
    after = apply_change(context, catalog, "column.alter", what, change).now()
    return Table.of(after, after.state.table(table, schema)).to_response()


@router.delete("/{column}", summary="Drop a column", status_code=204)
def drop_column(
    context: Context, catalog: Name, schema: Name, table: Name, column: Name
) -> Response:
    """Drop a column. Earlier snapshots and existing forks keep it."""
    apply_change(
        context,
        catalog,
        "column.drop",
        f"{schema}.{table}.{column}",
        lambda change: change.drop_column(change.table(table, schema), column),
    )
    return empty_response()
