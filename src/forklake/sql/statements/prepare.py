"""PREPARE, EXECUTE and DEALLOCATE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from forklake.errors import NotFound
from forklake.model.names import folded
from forklake.session.names import perhaps
from forklake.sql import constants
from forklake.sql.dialect.nodes import Deallocate, Execute, Prepare
from forklake.sql.dispatch import dispatch_statement
from forklake.sql.parameters import bind_parameters
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session


def run_prepare(session: Session, statement: exp.Expr) -> Result:
    """Run PREPARE: store a statement under a name."""
    session.prepared[folded(statement.name)] = statement.expression.copy()
    return Result.done("PREPARE")


def run_execute(session: Session, statement: exp.Expr) -> Result:
    """Run EXECUTE: run a prepared statement, with values for its parameters."""
    prepared = _find_prepared(session, statement).copy()
    named: dict[str, Any] = {}
    positional: list[Any] = []
    for one in statement.expressions:
        if isinstance(one, exp.Kwarg | exp.PropertyEQ):
            named[one.this.name] = constants.evaluate_constant(one.expression)
        else:
            positional.append(constants.evaluate_constant(one))
    (bound,) = bind_parameters([prepared], named or positional)
    return dispatch_statement(session, bound)


def run_deallocate(session: Session, statement: exp.Expr) -> Result:
    """Run DEALLOCATE: delete a prepared statement."""
    _find_prepared(session, statement)
    del session.prepared[folded(statement.name)]
    return Result.done("DEALLOCATE")


def _find_prepared(session: Session, statement: exp.Expr) -> exp.Expr:
    found = session.prepared.get(folded(statement.name))
    if found is None:
        raise NotFound(
            f"No statement is prepared as '{statement.name}'.",
            remedy=perhaps(statement.name, session.prepared, what="prepared statements"),
        )
    return found


HANDLERS = {Prepare: run_prepare, Execute: run_execute, Deallocate: run_deallocate}
