"""Requests for new catalogs and for merges: what the caller of any interface may choose.

They are built where a call enters the program (method of a metastore or client, command, HTTP
route, SQL function) and passed down as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal, TypedDict, get_args

from forklake.errors import InvalidInput
from forklake.model.names import checked_catalog_names

# What a merge does with rows that both sides changed: fail, or keep the version of the target
# (ours) or of the source (theirs).
Choice = Literal["fail", "ours", "theirs"]
OnConflict = Choice | Mapping[str, Choice]


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


class MergeOptions(TypedDict, total=False):
    """Keyword arguments of methods that merge a fork; see `MergeRequest`."""

    into: str | None
    tables: Sequence[str] | None
    on_conflict: OnConflict
    dry_run: bool
    message: str | None
    extra_info: str | None
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """Request for a merge of the changes of a catalog since its last merge into another catalog.

    Args:
        fork: the source: the catalog whose changes are merged.
        into: the target: by default the parent of the source. Name a fork of the source to bring
            that fork up to date.
        tables: merge only these tables; the others can be merged later.
        on_conflict: the version that wins where both sides changed a row: `ours` (target), `theirs`
            (source), or `fail`. One choice for all tables, or a mapping by table name.
        dry_run: only return what the merge would do, with its conflicts.
        idempotency_key: a merge with a key that was used before is not repeated.
    """

    fork: str
    into: str | None = None
    tables: Sequence[str] | None = None
    on_conflict: OnConflict = "fail"
    dry_run: bool = False
    message: str | None = None
    extra_info: str | None = None
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        given = self.on_conflict
        for one in [given] if isinstance(given, str) else given.values():
            if one not in get_args(Choice):
                raise InvalidInput(
                    f"Invalid value for on_conflict: {one!r}.",
                    remedy=f"Use one of: {', '.join(get_args(Choice))}.",
                )
