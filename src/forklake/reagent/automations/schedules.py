"""Schedules: the times that a cron expression defines in a time zone.

Times are returned in UTC. When clocks go forward, times in the missing hour are due right after it.
When they go back, a fixed time is due once, but an interval (such as every ten minutes) continues
through both hours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from forklake.errors import InvalidInput

# Periods before now that are searched for the latest time, one after another: a cron expression can
# only be iterated forwards, and a long absence may contain very many times.
_WINDOWS = tuple(timedelta(days=days) for days in (1 / 24, 1, 31, 366, 60 * 366))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Cron expression of five fields, with its time zone."""

    text: str
    zone: ZoneInfo

    @classmethod
    def parse(cls, text: str, zone: str = "UTC") -> Schedule:
        """Parse a cron expression. Raise InvalidInput if it or the time zone is not valid."""
        try:
            found = cls(text, ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidInput(
                f"The time zone {zone!r} does not exist.",
                remedy="Use a name like Europe/Zurich, or UTC.",
            ) from None
        if len(text.split()) != 5:
            raise _invalid_expression(text, "it does not have five fields")
        try:
            CronSim(text, datetime.now(UTC))
        except CronSimError as reason:
            raise _invalid_expression(text, str(reason)) from None
        return found

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the times after `moment` in UTC, each once."""
        last = moment
        for local in CronSim(self.text, moment.astimezone(self.zone)):
            found = local.astimezone(UTC)
            # When clocks go back, a fixed time may occur in both hours: skip the second one.
            if found > last:
                yield found
                last = found

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time after `moment`."""
        found = next(self.after(moment), None)
        if found is None:
            raise _invalid_expression(self.text, "it is never due")
        return found

    def between(self, start: datetime, end: datetime, limit: int) -> list[datetime]:
        """Return the first `limit` times after `start` and up to `end`."""
        found: list[datetime] = []
        for moment in self.after(start):
            if moment > end or len(found) == limit:
                break
            found.append(moment)
        return found

    def latest(self, start: datetime, end: datetime) -> datetime | None:
        """Return the last time after `start` and up to `end`, or None."""
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


def _invalid_expression(text: str, reason: str) -> InvalidInput:
    return InvalidInput(
        f"The schedule {text!r} is not valid: {reason}.",
        remedy="Use minute, hour, day of month, month and day of week, such as '0 2 * * *'.",
    )
