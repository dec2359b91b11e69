"""Routes for the schemas of a catalog."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.crucible.callers import Context
from forklake.crucible.definition_changes import apply_change, read_state
from forklake.crucible.shapes.base import AtSnapshot, AtTime, Name, empty_response
from forklake.crucible.shapes.tables import NewName, NewSchema, Schema, Schemas

router = APIRouter(prefix="/v1/catalogs/{catalog}/schemas", tags=["schemas"])


@router.get("", summary="List schemas", response_model=Schemas)
def list_schemas(
    context: Context, catalog: Name, snapshot: AtSnapshot = None, timestamp: AtTime = None
) -> Response:
    """List all schemas, at the current or a given snapshot."""
    view = read_state(context.catalog(catalog, "schema.list"), snapshot, timestamp)
    rows = sorted(view.state.schemas(), key=lambda row: row.schema_name)
    found = [Schema.of(view.state, row) for row in rows]
    return Schemas(snapshot=view.snapshot_id, schemas=found).to_response()


@router.post("", summary="Create a schema", status_code=201, response_model=Schema)
def create_schema(context: Context, catalog: Name, body: NewSchema) -> Response:
    """Create a schema. Retried if other commits change the catalog concurrently."""
    after = apply_change(
        context,
        catalog,
        "schema.create",
        body.name,
        lambda change: change.create_schema(body.name, if_not_exists=body.if_not_exists),
    )
    state = after.now().state
    return Schema.of(state, state.schema(body.name)).to_response(201)


@router.patch("/{schema}", summary="Rename a schema", response_model=Schema)
def rename_schema(context: Context, catalog: Name, schema: Name, body: NewName) -> Response:
    """Rename a schema. Its data folder keeps its name."""
    after = apply_change(
        context,
        catalog,
        "schema.alter",
        schema,
        lambda change: change.rename_schema(schema, body.name),
    )
    state = after.now().state
    return Schema.of(state, state.schema(body.name)).to_response()


@router.delete("/{schema}", summary="Drop a schema", status_code=204)
def drop_schema(
    context: Context, catalog: Name, schema: Name, cascade: bool = False, if_exists: bool = False
) -> Response:
    """Drop an empty schema, or with `cascade` a schema and everything in it."""
    apply_change(
        context,
        catalog,
        "schema.drop",
        schema,
        lambda change: change.drop_schema(schema, cascade=cascade, if_exists=if_exists),
    )
    return empty_response()
