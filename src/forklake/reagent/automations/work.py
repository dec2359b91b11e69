"""What a runner hands to whoever runs workbooks: a firing, with all that the run has to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo

from forklake.model.ids import SnapshotId
from forklake.reagent.automations.planning import occasion_at
from forklake.store.automations import Automation
from forklake.store.firings import Firing


@dataclass(frozen=True, slots=True)
class Work:
    """One firing that is to be run.

    What the run commits at its end carries `key`, so that a run that was taken over cannot count
    twice. `check` fails once another runner has taken over.
    """

    automation: Automation
    firing: Firing
    catalog: str
    check: Callable[[], None]

    @property
    def key(self) -> str:
        """The idempotency key of the commit that the run comes to."""
        return self.firing.key

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of this run."""
        return parameters_of(self.automation, self.firing)


class Perform(Protocol):
    """Runs a workbook for a firing."""

    def __call__(self, work: Work) -> SnapshotId | None:
        """Run it; the snapshot that it came to, if it changed anything."""


def parameters_of(automation: Automation, firing: Firing) -> dict[str, str]:
    """The parameters of an automation, with the words that stand for the occasion replaced."""
    zone = ZoneInfo(automation.time_zone or "UTC")
    words = {
        "{due}": occasion_at(firing.due_at),
        "{date}": firing.due_at.astimezone(zone).date().isoformat(),
        "{snapshot}": "" if firing.snapshot_id is None else str(firing.snapshot_id),
    }
    return {name: _replaced(value, words) for name, value in automation.parameters.items()}


def _replaced(value: str, words: Mapping[str, str]) -> str:
    for word, meaning in words.items():
        value = value.replace(word, meaning)
    return value
