"""What every scenario has: a beginning, roles, and a check of what they left behind."""

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
    """How long a round is and how much it does."""

    seconds: float = 30.0
    seconds_between_faults: float = 3.0
    workers: int = 8
    forks: int = 1000
    tasks: int = 64
    steps: int = 12

    @property
    def calm_seconds(self) -> float:
        """The time at the end of a round in which nothing goes wrong any more."""
        return min(5.0, self.seconds / 4)


@dataclass
class Scenario:
    """One round of a kind of work on a ground of its own."""

    ground: Ground
    size: Size
    facts: dict[str, Any] = field(default_factory=dict)  # figures for the report
    name: ClassVar[str]
    backends: ClassVar[Sequence[str]] = ("postgresql", "sqlite")
    faults: ClassVar[Sequence[str]] = ()  # those that make sense; all if there are none
    expires: ClassVar[bool] = False  # whether snapshots go, and with them what others would miss

    def prepare(self) -> None:
        """Make what the workers find."""
        raise NotImplementedError

    def roles(self) -> list[Role]:
        """A role for each worker."""
        raise NotImplementedError

    def service(self) -> AbstractContextManager[Restartable | None]:
        """What runs besides the workers."""
        return nullcontext()

    def verify(self, journals: Path) -> Iterator[str]:
        """All that is wrong when everybody is done."""
        raise NotImplementedError
