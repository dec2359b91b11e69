"""Problems: how every error reads over HTTP, and which ones a route documents.

All have one shape, `{"error": {"code", "message", "remedy", …}}` (see `Problem`). What a request
held is never repeated in it, since that might be a secret; what failed inside is told to the log.
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
from forklake.crucible.logs import note
from forklake.errors import ForklakeError, InvalidInput

# What HTTP itself has to say, in words of ours: status -> (code, message, remedy)
PLAIN: dict[int, tuple[str, str, str]] = {
    400: ("invalid_input", "The body cannot be read.", "Send JSON as application/json."),
    404: ("not_found", "There is no such address.", "See /openapi.json for all there are."),
    408: ("timeout", "The body did not arrive in time.", "Send it without pauses."),
    405: ("method_not_allowed", "The address does not take this method.", "See /openapi.json."),
    413: ("too_large", "The body is larger than the service takes.", "Send it in parts."),
    500: ("error", "The service failed.", "Look for the request id in its log."),
    504: ("timeout", "The request took too long.", "It may still have gone through: look."),
}
# A problem in these is worth another try.
_RETRYABLE = frozenset({408, 504})


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    code: str
    message: str
    remedy: str
    details: dict[str, Any]
    retryable: bool
    request_id: str


class ProblemAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: Problem


_DESCRIPTIONS = {
    400: "The input cannot be accepted",
    401: "Who asks is not known",
    403: "Not allowed",
    404: "Not there, or not to be seen",
    409: "Taken, or changed by somebody else first",
    413: "The body is too large",
    422: "This version does not do that",
    429: "A limit is reached",
    503: "The metadata database cannot be reached",
    504: "It took too long",
}
# What every route documents.
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemAnswer, "description": text} for status, text in _DESCRIPTIONS.items()
}


def install(app: FastAPI) -> None:
    """Give the application its answers to errors."""
    app.add_exception_handler(ForklakeError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ForklakeError)
    return answer(error, request_id_of(request.scope))


async def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return answer(as_invalid_input(error), request_id_of(request.scope))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return plain(error.status_code, request_id_of(request.scope), error.headers)


def as_invalid_input(error: RequestValidationError) -> InvalidInput:
    """What is wrong with a request, without what it held."""
    found = [
        {"where": ".".join(map(str, one["loc"])), "problem": str(one["msg"])}
        for one in error.errors()
    ]
    first = found[0]
    return InvalidInput(
        f"The request cannot be accepted: {first['where']}: {first['problem']}.",
        remedy="See /openapi.json for what is wanted.",
        problems=found[:20],
    )


def answer(error: ForklakeError, request_id: str) -> Response:
    """The answer to an error of ours."""
    status, _ = errors.outcome(error)
    is_inside = status >= 500  # what the database says may name hosts, roles and files
    if is_inside:
        note("problem", level=logging.WARNING, request_id=request_id, error=str(error))
    found = Problem(
        code=error.code,
        message=_INSIDE.get(error.code, _FAILED) if is_inside else error.message,
        remedy="Try again; else look for the request id in the log." if is_inside else error.remedy,
        details=_told_of(error) if is_inside else error.details,
        retryable=error.retryable,
        request_id=request_id,
    )
    return _response(status, found, headers_of(error))


def headers_of(error: ForklakeError) -> dict[str, str]:
    """Return the headers that belong to the answer to an error."""
    if isinstance(error, errors.Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    wait = error.details.get("retry_after")
    return {} if wait is None else {"Retry-After": str(wait)}


def _told_of(error: ForklakeError) -> dict[str, Any]:
    return {name: error.details[name] for name in _HARMLESS if name in error.details}


_HARMLESS = ("attempts",)
_FAILED = "The service failed."
_INSIDE = {
    "unavailable": "The metadata database does not answer.",
    "corruption": "The metadata database contradicts itself.",
}


def plain(status: int, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to what HTTP itself refuses."""
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
    """The id of a request, which the edge has given it."""
    return str(scope.get("state", {}).get("request_id", ""))
