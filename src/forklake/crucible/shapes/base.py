"""What all shapes share: how bodies are read, how answers are written, and names in paths.

An answer is made of its shape once and written at once: what FastAPI would do besides, checking our
own answer again, takes longer than most of what is asked for.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import Response

from forklake.crucible.edge import SLASH

MAX_NUMBER = 2**63 - 1
MAX_PAGE = 1000
MAX_BATCH = 10_000


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("the moment is out of range") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Most to list.")]
Lifetime = Annotated[
    int | None, Field(ge=1, le=10 * 366 * 86_400, description="Seconds after which it is dropped.")
]
AtSnapshot = Annotated[
    int | None, Query(ge=0, le=MAX_NUMBER, description="As it was at this snapshot.")
]
AtTime = Annotated[
    Moment | None, Query(description="As it was at this moment (RFC 3339, with a zone).")
]


def _restored(name: str) -> str:
    return name.replace(SLASH, "/")


Name = Annotated[str, Path(description="A name, percent-encoded."), AfterValidator(_restored)]


class Body(BaseModel):
    """What a request says. What is not known is refused: it may be a word that was misspelt."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """What a request is told."""

    model_config = ConfigDict(frozen=True)

    def response(self, status: int = 200) -> Response:
        """The answer, written."""
        return Response(self.model_dump_json(), status, media_type="application/json")


def nothing() -> Response:
    """The answer of a change that has nothing to tell."""
    return Response(status_code=204)
