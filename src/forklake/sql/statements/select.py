"""Queries that are statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session


def run_query(session: Session, statement: exp.Expr) -> Result:
    """Run SELECT, VALUES or FROM, and set operations of them."""
    return Result("SELECT", session.query(statement, may_change=True))


HANDLERS = {exp.Query: run_query, exp.Values: run_query}
