"""Routes for the tables of a schema, and their data files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.catalog.transaction import Transaction
from forklake.crucible.callers import Context
from forklake.crucible.definition_changes import apply_change, read_state
from forklake.crucible.shapes.base import (
    MAX_NUMBER,
    AtSnapshot,
    AtTime,
    Limit,
    Name,
    empty_response,
)
from forklake.crucible.shapes.tables import (
    COMMENT,
    ChangeTable,
    File,
    FilePage,
    NewTable,
    PartitionKey,
    Table,
    TablePage,
    TableSummary,
)

router = APIRouter(prefix="/v1/catalogs/{catalog}/schemas/{schema}/tables", tags=["tables"])


@router.get("", summary="List tables", response_model=TablePage)
def list_tables(
    context: Context,
    catalog: Name,
    schema: Name,
    snapshot: AtSnapshot = None,
    timestamp: AtTime = None,
    after: Annotated[
        str, Query(max_length=255, description="Return the tables that follow this name.")
    ] = "",
    limit: Limit = 100,
) -> Response:
    """List tables ordered by name, at the current or a given snapshot."""
    view = read_state(context.catalog(catalog, "table.list"), snapshot, timestamp)
    view.state.schema(schema)
    rows = [row for row in view.state.tables(schema) if row.table_name > after]
    rows = sorted(rows, key=lambda row: row.table_name)[: limit + 1]
    found = [
        TableSummary(
            name=row.table_name,
            table_id=row.table_id,
            uuid=str(row.table_uuid),
            columns=len(view.state.columns(row)),
        )
        for row in rows[:limit]
    ]
    more = found[-1].name if len(rows) > limit else None
    return TablePage(snapshot=view.snapshot_id, tables=found, next=more).to_response()


@router.post("", summary="Create a table", status_code=201, response_model=Table)
def create_table(context: Context, catalog: Name, schema: Name, body: NewTable) -> Response:
    """Create a table with its columns, in one snapshot."""
    columns = [column.spec() for column in body.columns]
    after = apply_change(
        context,
        catalog,
        "table.create",
        f"{schema}.{body.name}",
        lambda change: change.create_table(
            body.name,
            columns,
            schema=schema,
            partition_by=_key_pairs(body.partition_by),
            comment=body.comment,
            if_not_exists=body.if_not_exists,
        ),
    ).now()
    return Table.of(after, after.state.table(body.name, schema)).to_response(201)


def _key_pairs(keys: Iterable[PartitionKey]) -> list[tuple[str, str]]:
    return [(key.column, key.transform) for key in keys]


@router.get("/{table}", summary="Get a table", response_model=Table)
def get_table(
    context: Context,
    catalog: Name,
    schema: Name,
    table: Name,
    snapshot: AtSnapshot = None,
    timestamp: AtTime = None,
) -> Response:
    """Return columns, row count and size of a table, at the current or a given snapshot."""
    view = read_state(context.catalog(catalog, "table.get"), snapshot, timestamp)
    return Table.of(view, view.state.table(table, schema)).to_response()


@router.patch("/{table}", summary="Change a table", response_model=Table)
def change_table(
    context: Context, catalog: Name, schema: Name, table: Name, body: ChangeTable
) -> Response:
    """Change the name, comment, partitioning or sort order of a table, in one snapshot."""

    def change(transaction: Transaction) -> None:
        found = transaction.table(table, schema)
        if "comment" in body.model_fields_set:
            transaction.set_tag(found, COMMENT, body.comment)
        if body.partition_by is not None:
            transaction.set_partitioning(found, _key_pairs(body.partition_by))
        if body.sorted_by is not None:
            keys = [(one.column, one.is_descending, one.nulls_first) for one in body.sorted_by]
            transaction.set_sorted_by(found, keys)
        if body.name is not None:
            transaction.rename_table(table, body.name, schema=schema)

    after = apply_change(context, catalog, "table.alter", f"{schema}.{table}", change).now()
    return Table.of(after, after.state.table(body.name or table, schema)).to_response()


@router.delete("/{table}", summary="Drop a table", status_code=204)
def drop_table(
    context: Context, catalog: Name, schema: Name, table: Name, if_exists: bool = False
) -> Response:
    """Drop a table. Earlier snapshots and existing forks keep it."""
    apply_change(
        context,
        catalog,
        "table.drop",
        f"{schema}.{table}",
        lambda change: change.drop_table(table, schema=schema, if_exists=if_exists),
    )
    return empty_response()


@router.get("/{table}/files", summary="List data files", response_model=FilePage)
def list_files(
    context: Context,
    catalog: Name,
    schema: Name,
    table: Name,
    snapshot: AtSnapshot = None,
    timestamp: AtTime = None,
    after: Annotated[
        int, Query(ge=-1, le=MAX_NUMBER, description="Return the files that follow this id.")
    ] = -1,
    limit: Limit = 100,
) -> Response:
    """List the data files of a table ordered by id, at the current or a given snapshot."""
    view = read_state(context.catalog(catalog, "file.list"), snapshot, timestamp)
    files = view.scan_files(view.state.table(table, schema))
    rest = sorted(
        (one for one in files if one.file.data_file_id > after),
        key=lambda one: one.file.data_file_id,
    )
    found = [File.of(one) for one in rest[:limit]]
    more = found[-1].data_file_id if len(rest) > limit else None
    return FilePage(snapshot=view.snapshot_id, files=found, next=more).to_response()
