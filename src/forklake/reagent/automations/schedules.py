"""Schedules: the moments that a cron text means in a time zone.

Moments are told in UTC. When clocks are put forward, what would be due in the hour that is missing
is due right after it; when they are put back, what is due at a fixed time is due once, and what is
due every so often goes on being so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from forklake.errors import InvalidInput

# How far back the latest moment is looked for, one after the other: after a long time there may be
# very many, and only one is wanted.
_WINDOWS = tuple(timedelta(days=days) for days in (1 / 24, 1, 31, 366, 60 * 366))


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron text of five fields, and the time zone in which it is meant."""

    text: str
    zone: ZoneInfo

    @classmethod
    def parse(cls, text: str, zone: str = "UTC") -> Schedule:
        """The schedule; InvalidInput if it means nothing."""
        try:
            found = cls(text, ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidInput(
                f"There is no time zone {zone!r}.", remedy="Use a name like Europe/Zurich, or UTC."
            ) from None
        if len(text.split()) != 5:
            raise _bad(text, "it does not have five fields")
        try:
            CronSim(text, datetime.now(UTC))
        except CronSimError as reason:
            raise _bad(text, str(reason)) from None
        return found

    def after(self, moment: datetime) -> Iterator[datetime]:
        """The moments after one, in UTC, each once."""
        last = moment
        for local in CronSim(self.text, moment.astimezone(self.zone)):
            found = local.astimezone(UTC)
            # In the hour that comes twice, a fixed time may have been in the first of them.
            if found > last:
                yield found
                last = found

    def next_after(self, moment: datetime) -> datetime:
        """The first moment after one."""
        found = next(self.after(moment), None)
        if found is None:
            raise _bad(self.text, "it never comes")
        return found

    def between(self, start: datetime, end: datetime, limit: int) -> list[datetime]:
        """The first moments after `start` that are not after `end`."""
        found: list[datetime] = []
        for moment in self.after(start):
            if moment > end or len(found) == limit:
                break
            found.append(moment)
        return found

    def latest(self, start: datetime, end: datetime) -> datetime | None:
        """The last moment after `start` that is not after `end`."""
        for window in _WINDOWS:
            begin = max(start, end - window)
            last = None
            for moment in self.after(begin):
                if moment > end:
                    break
                last = moment
            if last is not None or begin == start:
                return last
        return None


def _bad(text: str, reason: str) -> InvalidInput:
    return InvalidInput(
        f"The schedule {text!r} means nothing: {reason}.",
        remedy="Give minute, hour, day of month, month and day of week, such as '0 2 * * *'.",
    )
