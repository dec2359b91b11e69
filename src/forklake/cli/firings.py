"""Formats of automations and their firings, as text and as JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklake.cli.formatting import duration, escape, iso_time

if TYPE_CHECKING:
    from datetime import datetime

    from forklake.store.automations import Automation
    from forklake.store.firings import Firing


def describe_firing(automation: Automation, firing: Firing) -> str:
    """Return the result of a firing as one line of text."""
    suffix = f": {firing.message}" if firing.message else ""
    took = format_run_time(firing)
    time = f" in {took}" if took else ""
    return escape(f"{automation.name}, {firing.occasion}: {firing.state}{time}{suffix}")


def describe_trigger(automation: Automation) -> str:
    """Describe when an automation runs."""
    if automation.watched is not None:
        return f"when {automation.watched.schema}.{automation.watched.table} changes"
    return f"at '{automation.schedule}' ({automation.time_zone})"


def format_run_time(firing: Firing) -> str | None:
    """Return the duration of a firing that has ended, or None."""
    if firing.started_at is None or firing.ended_at is None:
        return None
    return duration((firing.ended_at - firing.started_at).total_seconds())


def _format_moment(moment: datetime | None) -> str | None:
    return None if moment is None else iso_time(moment)


def automation_document(automation: Automation, catalog: str | None) -> dict[str, Any]:
    """Return the JSON document of an automation of a catalog."""
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
        "next_due_at": _format_moment(automation.next_due_at),
    }


def firing_document(firing: Firing) -> dict[str, Any]:
    """Return the JSON document of a firing."""
    return {
        "occasion": firing.occasion,
        "state": firing.state.value,
        "due_at": _format_moment(firing.due_at),
        "tries": firing.tries,
        "owner": firing.owner,
        "started_at": _format_moment(firing.started_at),
        "ended_at": _format_moment(firing.ended_at),
        "snapshot": firing.result_snapshot,
        "message": firing.message,
    }
