"""Routes of the read-only Iceberg REST catalog: catalogs as warehouses, schemas as namespaces.

Paths, responses and errors follow the Iceberg REST specification. Loading a table publishes its
current snapshot as an Iceberg table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import Response

from forklake.crucible import problems
from forklake.crucible.callers import Context, RequestContext
from forklake.crucible.shapes.base import Name
from forklake.errors import Forbidden, ForklakeError, InvalidInput, outcome

if TYPE_CHECKING:
    from forklake.catalog.snapshot_reads import SnapshotReads

_NAMESPACES = "/v1/{catalog}/namespaces"
_NAMESPACE = f"{_NAMESPACES}/{{schema}}"
_TABLES = f"{_NAMESPACE}/tables"
_TABLE = f"{_TABLES}/{{table}}"
_VIEWS = f"{_NAMESPACE}/views"
# The supported endpoints, in the notation of the specification.
_ENDPOINTS = [
    f"{method} {path.format(catalog='{prefix}', schema='{namespace}', table='{table}')}"
    for method, path in (
        ("GET", _NAMESPACES),
        ("GET", _NAMESPACE),
        ("HEAD", _NAMESPACE),
        ("GET", _TABLES),
        ("GET", _TABLE),
        ("HEAD", _TABLE),
        ("GET", _VIEWS),
    )
]
_KEPT_HEADERS = frozenset({"www-authenticate", "retry-after"})
# Error types of the specification by HTTP status.
_ERRORS = {
    400: "BadRequestException",
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    404: "NotFoundException",
    422: "UnsupportedOperationException",
    503: "ServiceUnavailableException",
}


class _Route(APIRoute):
    """Route that returns errors in the format of the Iceberg specification."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inside = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await inside(request)
            except RequestValidationError as error:
                return _error_response(request, problems.to_invalid_input(error))
            except ForklakeError as error:
                return _error_response(request, error)

        return handle


router = APIRouter(prefix="/iceberg", route_class=_Route, include_in_schema=False)


def _error_response(request: Request, error: ForklakeError) -> Response:
    """Return an error as an Iceberg error response, with the message that /v1 would return."""
    plain = problems.error_response(error, problems.request_id_of(request.scope))
    shown = json.loads(bytes(plain.body))["error"]
    status, _ = outcome(error)
    body = {
        "message": f"{shown['message']} {shown['remedy']}".strip(),
        "type": _ERRORS.get(status, "ServerErrorException"),
        "code": status,
    }
    return _json_response({"error": body}, status, plain.headers)


def _json_response(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    kept = {name: text for name, text in (headers or {}).items() if name in _KEPT_HEADERS}
    return Response(json.dumps(body), status, kept, "application/json")


@router.get("/v1/config")
def get_config(context: Context, warehouse: Annotated[str, Query(max_length=255)] = "") -> Response:
    """Return the configuration for the catalog that the client names as its warehouse."""
    if not warehouse:
        raise InvalidInput(
            "The request does not name a warehouse.",
            remedy="Set the parameter 'warehouse' to the name of a catalog.",
        )
    found = context.catalog(warehouse, "catalog.get")
    overrides = {"prefix": quote(found.name, safe="")}
    return _json_response({"defaults": {}, "overrides": overrides, "endpoints": _ENDPOINTS})


@router.get(_NAMESPACES)
def list_namespaces(
    context: Context, catalog: Name, parent: Annotated[str, Query(max_length=255)] = ""
) -> Response:
    """Return the schemas of a catalog. Namespaces are not nested: with `parent`, return none."""
    state = context.catalog(catalog, "schema.list").now().state
    names = [[row.schema_name] for row in state.schemas() if not parent]
    return _json_response({"namespaces": names})


@router.get(_NAMESPACE)
def load_namespace(context: Context, catalog: Name, schema: Name) -> Response:
    """Return a schema."""
    found = context.catalog(catalog, "schema.list").now().state.schema(schema)
    return _json_response({"namespace": [found.schema_name], "properties": {}})


@router.head(_NAMESPACE)
def has_namespace(context: Context, catalog: Name, schema: Name) -> Response:
    """Return 204 if the schema exists."""
    context.catalog(catalog, "schema.list").now().state.schema(schema)
    return Response(status_code=204)


@router.get(_TABLES)
def list_tables(context: Context, catalog: Name, schema: Name) -> Response:
    """Return the tables of a schema."""
    state = _read_schema(context, catalog, schema, "table.list").state
    names = [{"namespace": [schema], "name": row.table_name} for row in state.tables(schema)]
    return _json_response({"identifiers": names})


@router.get(_VIEWS)
def list_views(context: Context, catalog: Name, schema: Name) -> Response:
    """Return an empty list: SQL views are not converted to Iceberg views."""
    _read_schema(context, catalog, schema, "view.list")
    return _json_response({"identifiers": []})


@router.get(_TABLE)
def load_table(context: Context, catalog: Name, schema: Name, table: Name) -> Response:
    """Publish a table at its current snapshot and return its Iceberg metadata."""
    found = context.catalog(catalog, "file.list")
    from forklake.iceberg.publication import publish_table

    published = publish_table(found, table, schema)
    location = json.dumps(published.metadata_location)
    body = f'{{"metadata-location": {location}, "metadata": {published.text}, "config": {{}}}}'
    return Response(body, media_type="application/json")


@router.head(_TABLE)
def has_table(context: Context, catalog: Name, schema: Name, table: Name) -> Response:
    """Return 204 if the table exists."""
    _read_schema(context, catalog, schema, "table.get").state.table(table, schema)
    return Response(status_code=204)


@router.api_route("/v1/{catalog}/{anything:path}", methods=["POST", "PUT", "PATCH", "DELETE"])
def reject_change(context: Context, catalog: Name, anything: str) -> Response:
    """Reject all changes."""
    context.catalog(catalog, "catalog.get")
    raise Forbidden(
        "The Iceberg REST interface is read-only.",
        remedy="Change the catalog with SQL in a session, or through the API at /v1.",
    )


def _read_schema(
    context: RequestContext, catalog: str, schema: str, operation: str
) -> SnapshotReads:
    view = context.catalog(catalog, operation).now()
    view.state.schema(schema)
    return view
