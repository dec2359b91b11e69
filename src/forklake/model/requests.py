"""Requests for new catalogs: what the caller of any interface may choose.

They are built where a call enters the program (method of a metastore or client, command, HTTP
route, SQL function) and passed down as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TypedDict

from forklake.errors import InvalidInput
from forklake.model.names import checked_catalog_names


class ForkMode(StrEnum):
    """Whether a fork inherits the metadata rows of its parent or copies them."""

    INHERIT = "inherit"
    COPY = "copy"


class CreateOptions(TypedDict, total=False):
    """Keyword arguments of methods that create catalogs; see `CreateRequest`."""

    data_path: str | None
    if_not_exists: bool
    ttl: timedelta | None


class ForkOptions(CreateOptions, total=False):
    """Keyword arguments of methods that fork a catalog; see `ForkRequest`."""

    at: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """Request for empty catalogs. Raises InvalidInput for names that are not valid.

    Args:
        data_path: the folder or bucket of their data files.
        if_not_exists: return catalogs that exist instead of raising AlreadyExists.
        ttl: time until they are dropped; None for no limit.
    """

    names: Sequence[str]
    data_path: str | None = None
    if_not_exists: bool = False
    ttl: timedelta | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(checked_catalog_names(self.names)))


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """Request for forks of one catalog. Raises InvalidInput for names that are not valid.

    Args:
        at: the snapshot of the parent to fork; None for the current one.
        data_path: the folder or bucket of new data files; None for that of the parent.
        mode: a `ForkMode`.
        if_not_exists: return forks that exist instead of raising AlreadyExists.
        ttl: time until they are dropped; None for no limit.
    """

    parent: str
    names: Sequence[str]
    at: int | None = None
    data_path: str | None = None
    mode: str = ForkMode.INHERIT
    if_not_exists: bool = False
    ttl: timedelta | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(checked_catalog_names(self.names)))
        if self.mode not in set(ForkMode):
            raise InvalidInput(
                f"The fork mode {self.mode!r} does not exist.",
                remedy=f"Use one of: {', '.join(ForkMode)}.",
            )
