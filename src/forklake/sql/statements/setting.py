"""SET and RESET: of what a session is told by them, only where names are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput, Unsupported
from forklake.spark.names import joined_name
from forklake.sql.dialect import nodes
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session

_PLACES = frozenset({"schema", "search_path"})


def run_set(session: Session, statement: exp.Set) -> Result:
    """SET schema or search_path: the place of names that do not say theirs."""
    for item in statement.expressions:
        setting = ".".join(nodes.names(item.this.this)) if item.this is not None else ""
        if setting.lower() not in _PLACES or item.args.get("kind") == "VARIABLE":
            raise _unknown(setting)
        value = item.this.expression.name
        if not value or "," in value:
            raise InvalidInput(
                f"The setting {setting} cannot be {value!r}.", remedy="Name one schema."
            )
        session.use(value)
    return Result.done("SET")


def run_reset(session: Session, statement: nodes.Reset) -> Result:
    """RESET schema: to the first schema of the current catalog."""
    if statement.name.lower() not in _PLACES:
        raise _unknown(statement.name)
    if session.current is not None:
        session.use(joined_name([session.current[0]]))
    return Result.done("RESET")


def _unknown(setting: str) -> Unsupported:
    return Unsupported(
        f"There is no setting '{setting}'.",
        remedy="Set the schema; options of a catalog are set by ducklake_set_option.",
    )


HANDLERS = {exp.Set: run_set, nodes.Reset: run_reset}
