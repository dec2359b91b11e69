"""Automations: workbooks that run by the clock, or when a table changes, exactly once each time."""

from __future__ import annotations

from forklake.reagent.automations.automations import Automations
from forklake.reagent.automations.running import Runner
from forklake.reagent.automations.work import Work

__all__ = ["Automations", "Runner", "Work"]
