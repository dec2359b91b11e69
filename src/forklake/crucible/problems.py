"""Error responses of the service, and their documentation in OpenAPI.

All have the shape `{"error": {"code", "message", "remedy", …}}` (see `Problem`). They never repeat
the contents of a request, which may be secret. Details of internal errors are only logged.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from forklake import errors
from forklake.crucible.logs import log_event
from forklake.errors import ForklakeError, InvalidInput

# Errors of the HTTP layer: status -> (code, message, remedy)
PLAIN: dict[int, tuple[str, str, str]] = {
    400: ("invalid_input", "The request body cannot be read.", "Send JSON as application/json."),
    404: ("not_found", "The URL does not exist.", "See /openapi.json for all URLs."),
    408: ("timeout", "The request body did not arrive in time.", "Send the body without pauses."),
    405: (
        "method_not_allowed",
        "The URL does not support this method.",
        "See /openapi.json for the methods of each URL.",
    ),
    413: ("too_large", "The request body is too large.", "Split the request into smaller ones."),
    500: ("error", "Internal error.", "Search the log of the service for the request id."),
    504: (
        "timeout",
        "The request took too long.",
        "The change may have been made all the same: check before you try again.",
    ),
}
# Statuses after which a client can try again.
_RETRYABLE = frozenset({408, 504})


class Problem(BaseModel):
    """Error with a message for users and a remedy."""

    code: str
    message: str
    remedy: str
    details: dict[str, Any]
    retryable: bool
    request_id: str


class ProblemBody(BaseModel):
    """Body of every error response."""

    error: Problem


_DESCRIPTIONS = {
    400: "Invalid input",
    401: "Missing or invalid credential",
    403: "Operation not allowed",
    404: "Object does not exist, or the caller cannot read it",
    409: "Name already exists, or conflict with a concurrent change",
    413: "Request body too large",
    422: "Operation not supported",
    429: "Quota or rate limit exceeded",
    503: "Metadata database unavailable",
    504: "Request timed out",
}
# Responses documented for every route.
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemBody, "description": text} for status, text in _DESCRIPTIONS.items()
}


def install(app: FastAPI) -> None:
    """Register the error handlers of an application."""
    app.add_exception_handler(ForklakeError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ForklakeError)
    return error_response(error, request_id_of(request.scope))


async def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(to_invalid_input(error), request_id_of(request.scope))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return http_error_response(error.status_code, request_id_of(request.scope), error.headers)


def to_invalid_input(error: RequestValidationError) -> InvalidInput:
    """Return the error for a request that failed validation, without the rejected values."""
    found = [
        {"where": ".".join(map(str, one["loc"])), "problem": str(one["msg"])}
        for one in error.errors()
    ]
    first = found[0]
    return InvalidInput(
        f"The request is invalid: {first['where']}: {first['problem']}.",
        remedy="See /openapi.json for the expected parameters and body.",
        problems=found[:20],
    )


def error_response(error: ForklakeError, request_id: str) -> Response:
    """Return the response for a Forklake error."""
    status, _ = errors.outcome(error)
    is_inside = status >= 500  # messages of the database may name hosts, roles and files
    if is_inside:
        log_event("problem", level=logging.WARNING, request_id=request_id, error=str(error))
    found = Problem(
        code=error.code,
        message=_INSIDE.get(error.code, _FAILED) if is_inside else error.message,
        remedy=_RETRY if is_inside else error.remedy,
        details=_select_public_details(error) if is_inside else error.details,
        retryable=error.retryable,
        request_id=request_id,
    )
    return _response(status, found, headers_of(error))


def headers_of(error: ForklakeError) -> dict[str, str]:
    """Return the extra headers of an error response."""
    if isinstance(error, errors.Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    wait = error.details.get("retry_after")
    return {} if wait is None else {"Retry-After": str(wait)}


def _select_public_details(error: ForklakeError) -> dict[str, Any]:
    return {name: error.details[name] for name in _HARMLESS if name in error.details}


_HARMLESS = ("attempts",)
_FAILED = "Internal error."
_RETRY = "Try again. If it fails again, search the log of the service for the request id."
_INSIDE = {
    "unavailable": "The metadata database does not respond.",
    "corruption": "The metadata database is inconsistent.",
}


def http_error_response(
    status: int, request_id: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response for an error of the HTTP layer."""
    code, message, remedy = PLAIN.get(status, PLAIN[500])
    found = Problem(
        code=code,
        message=message,
        remedy=remedy,
        details={},
        retryable=status in _RETRYABLE,
        request_id=request_id,
    )
    return _response(status, found, headers)


def _response(status: int, found: Problem, headers: Mapping[str, str] | None) -> Response:
    body = json.dumps({"error": found.model_dump()}, default=str)
    return Response(body, status, dict(headers or {}), "application/json")


def request_id_of(scope: Mapping[str, Any]) -> str:
    """Return the id of a request, as assigned by the middleware."""
    return str(scope.get("state", {}).get("request_id", ""))
