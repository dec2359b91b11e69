"""Where a run works: what it asks of a metastore, whether here or behind a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from forklake.errors import Cancelled
    from forklake.model.snapshots import Snapshot
    from forklake.reagent.preparing import Prepared
    from forklake.reagent.reports import Publication
    from forklake.reagent.stamping import Stamp
    from forklake.reagent.workbooks import Output
    from forklake.sql.parameters import Parameters
    from forklake.sql.results import Result
    from forklake.sql.session import Session


class Worker(Protocol):
    """A session of one worktask, used by one thread; any thread may stop it."""

    @property
    def session_id(self) -> str:
        """By which the report calls it."""

    @property
    def session(self) -> Session:
        """The session itself; Unsupported where it is not in this process."""

    def execute(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> list[Result]:
        """Run statements; their answers, as far as they are told."""

    def transaction(self) -> AbstractContextManager[None]:
        """Changes that are made together, and once under the key of the stamp; or not at all."""

    def stop(self, reason: Cancelled) -> None:
        """Make what runs end soon; to be called until it has."""

    def close(self) -> None:
        """End the session."""


class Room(Protocol):
    """A catalog, under the name by which worktasks know it."""

    def worker(self, stamp: Stamp) -> Worker:
        """A session of its own that uses the catalog."""

    def close(self) -> None:
        """Let go of the catalog."""


class Place(Protocol):
    """A metastore: the verbs that runs need."""

    def close(self) -> None:
        """Let go of it."""

    def require(self, tasks: Sequence[Prepared]) -> None:
        """Unsupported if the place cannot do one of them needs."""

    def room(self, catalog: str, alias: str) -> Room:
        """A catalog to work in."""

    def fork(self, parent: str, name: str, stamp: Stamp, ttl: timedelta) -> None:
        """Fork a catalog for some time; the fork is the run's alone."""

    def drop(self, name: str) -> None:
        """End a fork."""

    def head(self, catalog: str) -> int:
        """The newest snapshot."""

    def history(self, catalog: str, since: int) -> list[Snapshot]:
        """The snapshots of a catalog after one of them."""

    def publish(self, fork: str, parent: str, stamp: Stamp) -> Publication:
        """Merge a fork into its parent, as one snapshot; Conflict if that cannot be."""

    def make_delta(self, catalog: str, output: Output) -> None:
        """Make a table a Delta table too, or bring that up to date."""


def counted_rows(results: Sequence[Any]) -> int | None:
    """How many rows statements changed, if any of them says so."""
    counts = [
        int(one.data["Count"][0].as_py())
        for one in results
        if one.is_local and one.kind != "SELECT" and one.data.column_names == ["Count"]
    ]
    return sum(counts) if counts else None
