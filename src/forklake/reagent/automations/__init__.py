"""Automations: workbooks that run on a schedule or after table changes, once per occasion."""

from __future__ import annotations

from forklake.reagent.automations.automations import Automations
from forklake.reagent.automations.runner import Runner
from forklake.reagent.automations.work import FiringRun

__all__ = ["Automations", "FiringRun", "Runner"]
