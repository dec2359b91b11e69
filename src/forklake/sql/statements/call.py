"""CALL of functions of the lake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput, NotFound
from forklake.session.names import perhaps
from forklake.sql.dialect.nodes import Call, split_call
from forklake.sql.functions.registry import find_hidden_columns, list_function_names
from forklake.sql.query.scalars import call_table_function
from forklake.sql.query.snapshot_reads import StateCache
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session


def run_call(session: Session, statement: exp.Expression) -> Result:
    """Run CALL of a function by its full name, or as a function of an attached catalog."""
    parts, positional, named = split_call(statement)
    rows = call_table_function(session, parts, positional, named)
    if rows is None:
        raise _not_callable(session, parts)
    if hidden := find_hidden_columns(session, parts):
        rows = rows.drop(*hidden)
    return Result("CALL", rows)


def _not_callable(session: Session, parts: Sequence[str]) -> InvalidInput | NotFound:
    name = ".".join(parts)
    states = StateCache(session)
    if any(states.find_macro(parts, kind) for kind in ("table", "scalar")):
        return InvalidInput(
            f"The macro '{name}' cannot be called.",
            remedy=f"Write SELECT {name}(…), or SELECT * FROM {name}(…).",
        )
    if len(parts) > 1:
        session.attachment(parts[0])  # raises an error that lists the attached catalogs
    return NotFound(
        f"The function '{name}' does not exist",
        remedy=perhaps(name, list_function_names(parts), what="functions"),
    )


HANDLERS = {Call: run_call}
