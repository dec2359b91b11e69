"""Which function runs which statement."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from forklake.errors import Unsupported
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session

Handler: TypeAlias = "Callable[[Session, exp.Expr], Result]"

# Each has a table HANDLERS, by the class of the statement.
_MODULES = (
    "selecting",
    "inserting",
    "changing",
    "attaching",
    "defining",
    "altering",
    "transacting",
    "setting",
    "calling",
    "showing",
    "describing",
    "explaining",
    "preparing",
)


@cache
def handlers() -> dict[type[exp.Expr], Handler]:
    """The functions that run statements, by class of the statement."""
    found: dict[type[exp.Expr], Handler] = {}
    for name in _MODULES:
        found.update(import_module(f"forklake.sql.statements.{name}").HANDLERS)
    return found


def answer(session: Session, statement: exp.Expr) -> Result:
    """Run one statement."""
    table = handlers()
    for kind in type(statement).__mro__:
        if kind in table:
            with session.guard.statement(kind):
                return table[kind](session, statement)
    raise Unsupported(
        f"The statement {statement.key.upper()} is not supported.",
        remedy="See the list of statements in the documentation.",
    )
