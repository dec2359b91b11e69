"""Catalogs as Iceberg's REST catalogs, to be read: a catalog is a warehouse, a schema a namespace.

Addresses, answers and errors are those of Iceberg's specification. Loading a table publishes it as
it is at that moment; nothing can be changed here.
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
from forklake.crucible.callers import Asking, Visit
from forklake.crucible.shapes.base import Name
from forklake.errors import Forbidden, ForklakeError, InvalidInput, outcome

if TYPE_CHECKING:
    from forklake.catalog.reading import Snapshotted

_NAMESPACES = "/v1/{catalog}/namespaces"
_NAMESPACE = f"{_NAMESPACES}/{{schema}}"
_TABLES = f"{_NAMESPACE}/tables"
_TABLE = f"{_TABLES}/{{table}}"
_VIEWS = f"{_NAMESPACE}/views"
# What clients may ask for, in the words of the specification.
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
# How the specification calls errors, by their status.
_ERRORS = {
    400: "BadRequestException",
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    404: "NotFoundException",
    422: "UnsupportedOperationException",
    503: "ServiceUnavailableException",
}


class _Route(APIRoute):
    """A route whose errors have Iceberg's shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inside = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await inside(request)
            except RequestValidationError as error:
                return _refusal(request, problems.as_invalid_input(error))
            except ForklakeError as error:
                return _refusal(request, error)

        return handle


router = APIRouter(prefix="/iceberg", route_class=_Route, include_in_schema=False)


def _refusal(request: Request, error: ForklakeError) -> Response:
    """An error as Iceberg's clients read it; what it tells is what any answer of ours would."""
    plain = problems.answer(error, problems.request_id_of(request.scope))
    told = json.loads(bytes(plain.body))["error"]
    status, _ = outcome(error)
    body = {
        "message": f"{told['message']} {told['remedy']}".strip(),
        "type": _ERRORS.get(status, "ServerErrorException"),
        "code": status,
    }
    return _answer({"error": body}, status, plain.headers)


def _answer(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    kept = {name: text for name, text in (headers or {}).items() if name in _KEPT_HEADERS}
    return Response(json.dumps(body), status, kept, "application/json")


@router.get("/v1/config")
def get_config(visit: Asking, warehouse: Annotated[str, Query(max_length=255)] = "") -> Response:
    """The catalog that a client names as its warehouse."""
    if not warehouse:
        raise InvalidInput(
            "The client names no warehouse.", remedy="Set it to the name of a catalog."
        )
    found = visit.catalog(warehouse, "catalog.get")
    overrides = {"prefix": quote(found.name, safe="")}
    return _answer({"defaults": {}, "overrides": overrides, "endpoints": _ENDPOINTS})


@router.get(_NAMESPACES)
def list_namespaces(
    visit: Asking, catalog: Name, parent: Annotated[str, Query(max_length=255)] = ""
) -> Response:
    """The schemas; there are none inside of others."""
    state = visit.catalog(catalog, "schema.list").now().state
    names = [[row.schema_name] for row in state.schemas() if not parent]
    return _answer({"namespaces": names})


@router.get(_NAMESPACE)
def load_namespace(visit: Asking, catalog: Name, schema: Name) -> Response:
    """A schema."""
    found = visit.catalog(catalog, "schema.list").now().state.schema(schema)
    return _answer({"namespace": [found.schema_name], "properties": {}})


@router.head(_NAMESPACE)
def has_namespace(visit: Asking, catalog: Name, schema: Name) -> Response:
    """Whether there is a schema."""
    visit.catalog(catalog, "schema.list").now().state.schema(schema)
    return Response(status_code=204)


@router.get(_TABLES)
def list_tables(visit: Asking, catalog: Name, schema: Name) -> Response:
    """The tables of a schema."""
    state = _seen(visit, catalog, schema, "table.list").state
    names = [{"namespace": [schema], "name": row.table_name} for row in state.tables(schema)]
    return _answer({"identifiers": names})


@router.get(_VIEWS)
def list_views(visit: Asking, catalog: Name, schema: Name) -> Response:
    """None: what a view says is not Iceberg's."""
    _seen(visit, catalog, schema, "view.list")
    return _answer({"identifiers": []})


@router.get(_TABLE)
def load_table(visit: Asking, catalog: Name, schema: Name, table: Name) -> Response:
    """A table as it is now, with some of its past."""
    found = visit.catalog(catalog, "file.list")
    from forklake.iceberg.publishing import publish_table

    published = publish_table(found, table, schema)
    location = json.dumps(published.metadata_location)
    body = f'{{"metadata-location": {location}, "metadata": {published.text}, "config": {{}}}}'
    return Response(body, media_type="application/json")


@router.head(_TABLE)
def has_table(visit: Asking, catalog: Name, schema: Name, table: Name) -> Response:
    """Whether there is a table."""
    _seen(visit, catalog, schema, "table.get").state.table(table, schema)
    return Response(status_code=204)


@router.api_route("/v1/{catalog}/{anything:path}", methods=["POST", "PUT", "PATCH", "DELETE"])
def change(visit: Asking, catalog: Name, anything: str) -> Response:
    """Refused, whatever it is."""
    visit.catalog(catalog, "catalog.get")
    raise Forbidden(
        "Catalogs can be read through Iceberg's interface, and not changed.",
        remedy="Change them with SQL in a session, or through /v1.",
    )


def _seen(visit: Visit, catalog: str, schema: str, operation: str) -> Snapshotted:
    view = visit.catalog(catalog, operation).now()
    view.state.schema(schema)
    return view
