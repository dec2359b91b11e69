"""Interface between runners and the execution of workbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo

from forklake.model.ids import SnapshotId
from forklake.reagent.automations.due_firings import name_occasion
from forklake.store.automations import Automation
from forklake.store.firings import Firing


@dataclass(frozen=True, slots=True)
class FiringRun:
    """Firing to run, with its catalog.

    The final commit of the run must carry `key`, so that a run that was taken over cannot count
    twice. `check` raises Cancelled once another runner has taken over.
    """

    automation: Automation
    firing: Firing
    catalog: str
    check: Callable[[], None]

    @property
    def key(self) -> str:
        """Idempotency key of the final commit of the run."""
        return self.firing.key

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters of this run."""
        return expand_parameters(self.automation, self.firing)


class FiringHandler(Protocol):
    """Function that runs the workbook of a firing."""

    def __call__(self, work: FiringRun) -> SnapshotId | None:
        """Run the workbook. Return its last snapshot, or None if it changed nothing."""


def expand_parameters(automation: Automation, firing: Firing) -> dict[str, str]:
    """Return the parameters of an automation with {due}, {date} and {snapshot} replaced."""
    zone = ZoneInfo(automation.time_zone or "UTC")
    words = {
        "{due}": name_occasion(firing.due_at),
        "{date}": firing.due_at.astimezone(zone).date().isoformat(),
        "{snapshot}": "" if firing.snapshot_id is None else str(firing.snapshot_id),
    }
    return {name: _replace_words(value, words) for name, value in automation.parameters.items()}


def _replace_words(value: str, words: Mapping[str, str]) -> str:
    for word, meaning in words.items():
        value = value.replace(word, meaning)
    return value
