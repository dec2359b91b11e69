"""Selection and execution of the checks of a metastore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.catalog.doctor import embedded, everywhere
from forklake.catalog.doctor.checks import Check, Finding

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore


def checks_for(backend: str) -> tuple[Check, ...]:
    """Return the checks for a metastore in this kind of database."""
    match backend:
        case "postgresql":
            from forklake.catalog.doctor.postgresql import CHECKS

            return CHECKS + everywhere.CHECKS
        case "sqlite":
            return embedded.SQLITE + everywhere.CHECKS
        case "duckdb":
            return embedded.DUCKDB + everywhere.CHECKS
    return everywhere.CHECKS


def examine(metastore: Metastore, checks: Sequence[Check] | None = None) -> list[Finding]:
    """Run checks on a metastore, by default all; return their findings."""
    chosen = checks_for(metastore.database.dialect.name) if checks is None else checks
    return [finding for check in chosen for finding in check.run(metastore)]
