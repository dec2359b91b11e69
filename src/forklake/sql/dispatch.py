"""Dispatch of statements to the functions that run them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from forklake.errors import ForklakeError, Unsupported
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session

Handler: TypeAlias = "Callable[[Session, exp.Expr], Result]"

# Each module has a table HANDLERS, keyed by the class of the statement.
_MODULES = (
    "select",
    "insert",
    "dml",
    "attach",
    "create",
    "alter",
    "transactions",
    "settings",
    "call",
    "show",
    "describe",
    "explain",
    "prepare",
)

# Statements that are repeated on the new snapshot when they conflict in autocommit.
_REPEATABLE = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.TruncateTable,
    exp.Create,
    exp.Drop,
    exp.Alter,
    exp.Comment,
)


@cache
def load_handlers() -> dict[type[exp.Expr], Handler]:
    """Return the functions that run statements, by class of the statement."""
    loaded: dict[type[exp.Expr], Handler] = {}
    for name in _MODULES:
        loaded.update(import_module(f"forklake.sql.statements.{name}").HANDLERS)
    return loaded


def dispatch_statement(session: Session, statement: exp.Expr) -> Result:
    """Run one statement and return its result."""
    loaded = load_handlers()
    for kind in type(statement).__mro__:
        if kind in loaded:
            with session.guard.authorize_statement(kind):
                return _run_handler(session, loaded[kind], statement)
    raise Unsupported(
        f"The statement {statement.key.upper()} is not supported.",
        remedy="See the list of statements in the documentation.",
    )


def _run_handler(session: Session, handler: Handler, statement: exp.Expr) -> Result:
    if session.in_transaction:
        try:
            return handler(session, statement)
        except ForklakeError:
            session.record_definitions()  # whether a statement fails can depend on any name
            raise
    if not isinstance(statement, _REPEATABLE):
        return handler(session, statement)
    return session.run_statement(lambda: handler(session, statement.copy()))  # handlers edit it
