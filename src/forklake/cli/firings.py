"""How automations and their firings look: to people, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklake.cli.formatting import duration, iso_time, visible

if TYPE_CHECKING:
    from datetime import datetime

    from forklake.store.automations import Automation
    from forklake.store.firings import Firing


def sentence(automation: Automation, firing: Firing) -> str:
    """What became of a firing, on one line."""
    said = f": {firing.message}" if firing.message else ""
    took = time_taken(firing)
    time = f" in {took}" if took else ""
    return visible(f"{automation.name}, {firing.occasion}: {firing.state}{time}{said}")


def occasion_of(automation: Automation) -> str:
    """When an automation runs."""
    if automation.watched is not None:
        return f"when {automation.watched.schema}.{automation.watched.table} changes"
    return f"at '{automation.schedule}' ({automation.time_zone})"


def time_taken(firing: Firing) -> str | None:
    """How long a firing ran that has ended."""
    if firing.started_at is None or firing.ended_at is None:
        return None
    return duration((firing.ended_at - firing.started_at).total_seconds())


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else iso_time(moment)


def automation_document(automation: Automation, catalog: str | None) -> dict[str, Any]:
    """An automation of a catalog, of what JSON has."""
    watched = automation.watched
    return {
        "name": automation.name,
        "catalog": catalog,
        "workbook_path": automation.workbook_path,
        "parameters": dict(automation.parameters),
        "isolation": automation.isolation,
        "schedule": automation.schedule,
        "time_zone": automation.time_zone,
        "table": watched and f"{watched.schema}.{watched.table}",
        "overlap": automation.overlap.value,
        "catch_up": automation.catch_up.value,
        "is_enabled": automation.is_enabled,
        "next_due_at": _moment(automation.next_due_at),
    }


def firing_document(firing: Firing) -> dict[str, Any]:
    """A firing, of what JSON has."""
    return {
        "occasion": firing.occasion,
        "state": firing.state.value,
        "due_at": _moment(firing.due_at),
        "tries": firing.tries,
        "owner": firing.owner,
        "started_at": _moment(firing.started_at),
        "ended_at": _moment(firing.ended_at),
        "snapshot": firing.result_snapshot,
        "message": firing.message,
    }
