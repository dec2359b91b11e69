"""Base class of scenarios: preparation, roles of workers, and verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from stress.faults import Restartable
from stress.grounds import Ground
from stress.workers import Role


@dataclass(frozen=True)
class Size:
    """Duration and amount of work of a round."""

    seconds: float = 30.0
    seconds_between_faults: float = 3.0
    workers: int = 8
    forks: int = 1000
    tasks: int = 64
    steps: int = 12

    @property
    def calm_seconds(self) -> float:
        """Time at the end of a round without faults."""
        return min(5.0, self.seconds / 4)


@dataclass
class Scenario:
    """One round of a kind of work on a fresh ground."""

    ground: Ground
    size: Size
    facts: dict[str, Any] = field(default_factory=dict)  # numbers for the report
    name: ClassVar[str]
    backends: ClassVar[Sequence[str]] = ("postgresql", "sqlite")
    faults: ClassVar[Sequence[str]] = ()  # names of the faults to inject; empty for all
    expires: ClassVar[bool] = False  # whether snapshots expire, which some checks do not expect

    def prepare(self) -> None:
        """Create what the workers need."""
        raise NotImplementedError

    def roles(self) -> list[Role]:
        """Return a role for each worker."""
        raise NotImplementedError

    def service(self) -> AbstractContextManager[Restartable | None]:
        """Return a context that runs a service besides the workers, if the scenario needs one."""
        return nullcontext()

    def verify(self, journals: Path) -> Iterator[str]:
        """Yield all problems after the workers have ended."""
        raise NotImplementedError
