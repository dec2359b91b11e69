"""SET and RESET of session settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput, Unsupported
from forklake.model.options import ISOLATION_LEVELS
from forklake.session.names import joined_name
from forklake.sql.dialect import nodes
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session

_SCHEMA_SETTINGS = frozenset({"schema", "search_path"})
_ISOLATION_SETTING = "isolation_level"


def run_set(session: Session, statement: exp.Set) -> Result:
    """Run SET of the schema of unqualified names, or of the isolation level."""
    for item in statement.expressions:
        setting = ".".join(nodes.name_parts(item.this.this)) if item.this is not None else ""
        if (
            setting.lower() not in {*_SCHEMA_SETTINGS, _ISOLATION_SETTING}
            or item.args.get("kind") == "VARIABLE"
        ):
            raise _unknown_setting(setting)
        if item.args.get("kind") in {"GLOBAL", "LOCAL"}:
            raise Unsupported(
                f"SET {item.args['kind']} is not supported: settings are of one session.",
                remedy=f"Write SET {setting} = …, or set an option of a catalog: call"
                " ducklake_set_option.",
            )
        value = item.this.expression.name
        if setting.lower() == _ISOLATION_SETTING:
            session.isolation_level = _read_isolation_level(value)
            continue
        if not value or "," in value:
            raise InvalidInput(
                f"The setting {setting} cannot be {value!r}.",
                remedy="Set it to the name of one schema.",
            )
        session.use(value)
    return Result.done("SET")


def run_reset(session: Session, statement: nodes.Reset) -> Result:
    """Run RESET: use the default schema or isolation level of the current catalog."""
    if statement.name.lower() == _ISOLATION_SETTING:
        session.isolation_level = None
        return Result.done("RESET")
    if statement.name.lower() not in _SCHEMA_SETTINGS:
        raise _unknown_setting(statement.name)
    if session.current is not None:
        session.use(joined_name([session.current[0]]))
    return Result.done("RESET")


def _read_isolation_level(value: str) -> str:
    if value.lower() not in ISOLATION_LEVELS:
        raise InvalidInput(
            f"The isolation level cannot be {value!r}.",
            remedy=f"Set it to one of: {', '.join(ISOLATION_LEVELS)}.",
        )
    return value.lower()


def _unknown_setting(setting: str) -> Unsupported:
    return Unsupported(
        f"Unknown setting '{setting}'.",
        remedy="Set schema or isolation_level. To set an option of a catalog, call"
        " ducklake_set_option.",
    )


HANDLERS = {exp.Set: run_set, nodes.Reset: run_reset}
