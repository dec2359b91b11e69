"""Base classes and common types of request and response models.

Responses are serialized directly: validating them a second time, as FastAPI does by default, would
take longer than most requests.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import Response

from forklake.crucible.middleware import SLASH

MAX_NUMBER = 2**63 - 1
MAX_PAGE = 1000
MAX_BATCH = 10_000


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("the timestamp is out of range") from None


Moment = Annotated[AwareDatetime, AfterValidator(_to_utc)]
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of results to return.")]
Lifetime = Annotated[
    int | None,
    Field(ge=1, le=10 * 366 * 86_400, description="Seconds until the catalog expires."),
]
AtSnapshot = Annotated[
    int | None, Query(ge=0, le=MAX_NUMBER, description="Read the state at this snapshot.")
]
AtTime = Annotated[
    Moment | None,
    Query(description="Read the state at this time (RFC 3339 with a time zone)."),
]


def _restore_slashes(name: str) -> str:
    return name.replace(SLASH, "/")


Name = Annotated[
    str, Path(description="A name, percent-encoded."), AfterValidator(_restore_slashes)
]


class RequestBody(BaseModel):
    """Request body. Unknown fields are rejected, because they may be misspelled."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseBody(BaseModel):
    """Response body."""

    model_config = ConfigDict(frozen=True)

    def to_response(self, status: int = 200) -> Response:
        """Return the response with this body as JSON."""
        return Response(self.model_dump_json(), status, media_type="application/json")


def empty_response() -> Response:
    """Return an empty response with status 204."""
    return Response(status_code=204)
