"""Examining a metastore: all checks that there are for its database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.catalog.doctor import embedded, everywhere
from forklake.catalog.doctor.checks import Check, Finding

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore


def checks_for(backend: str) -> tuple[Check, ...]:
    """The checks of a metastore in a database of that kind."""
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
    """What is wrong with a metastore; all checks unless some are given."""
    chosen = checks_for(metastore.database.dialect.name) if checks is None else checks
    return [finding for check in chosen for finding in check.run(metastore)]
