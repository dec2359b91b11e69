"""ATTACH, DETACH and USE. LOAD and INSTALL are accepted without effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.model.names import folded
from forklake.session.attachments import AUTOMATIC
from forklake.session.names import joined_name
from forklake.sql import constants
from forklake.sql.dialect import nodes
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session

_TRUE, _FALSE = {"true", "1", "on", "yes"}, {"false", "0", "off", "no"}
_TEMPORARY_ALIAS = "__forklake_attaching"


# ATTACH


def run_attach(session: Session, statement: exp.Attach) -> Result:
    """Run ATTACH: attach a catalog under an alias."""
    address, alias = statement.this, None
    if isinstance(address, exp.Alias):
        address, alias = address.this, address.alias
    options = _read_options(statement.expressions)
    wanted_alias = alias or options.get("catalog")
    is_taken = wanted_alias is not None and _is_attached(session, wanted_alias)
    if is_taken and statement.args.get("exists"):
        return Result.done("ATTACH")
    if is_taken and statement.args.get("replace"):
        _replace_attachment(session, address.name, str(wanted_alias), options)
    else:
        session.attach(address.name, alias, **options)
    return Result.done("ATTACH")


def _is_attached(session: Session, alias: str) -> bool:
    return any(folded(one.alias) == folded(alias) for one in session.attachments())


def _replace_attachment(session: Session, uri: str, alias: str, options: dict[str, Any]) -> None:
    """Attach a catalog under an alias in use.

    It is attached under a temporary alias first: if that fails, the old catalog stays attached.
    """
    session.attach(uri, _TEMPORARY_ALIAS, **options)
    session.detach(_TEMPORARY_ALIAS)
    session.detach(alias)
    session.attach(uri, alias, **options)


def _read_options(given: Sequence[exp.AttachOption]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for option in given:
        name = option.this.name.upper()
        if name not in _OPTIONS:
            raise InvalidInput(
                f"ATTACH has no option {name}.",
                remedy=f"The options are {', '.join(_OPTIONS)}.",
            )
        keyword, convert = _OPTIONS[name]
        if keyword and keyword in options:
            raise InvalidInput(f"The option {name} is given twice.", remedy="Give it once.")
        options[keyword] = convert(name, _evaluate_option(option))
    options.pop("", None)
    return options


def _evaluate_option(option: exp.AttachOption) -> Any:
    """Return the value of an option; an option without a value is true."""
    value = option.args.get("expression")
    match value:
        case None:
            return True
        case exp.Column() | exp.Identifier() | exp.Var():
            return value.name
    return constants.evaluate_constant(value)


def _read_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _invalid_option(name, value, "a string")
    return value


def _read_number(name: str, value: Any) -> int:
    if isinstance(value, bool) or not str(value).lstrip("+-").isdecimal():
        raise _invalid_option(name, value, "a whole number")
    return int(value)


def _read_flag(name: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in _TRUE | _FALSE:
        raise _invalid_option(name, value, "true or false")
    return text in _TRUE


def _read_negated_flag(name: str, value: Any) -> bool:
    return not _read_flag(name, value)


def _read_timestamp(name: str, value: Any) -> datetime | str:
    if not isinstance(value, str | date):
        raise _invalid_option(name, value, "a timestamp, such as '2024-01-31 12:00:00'")
    return value if isinstance(value, str | datetime) else value.isoformat()


def _read_encryption(name: str, value: Any) -> bool | str:
    is_automatic = str(value).upper() == AUTOMATIC
    return AUTOMATIC if is_automatic else _read_flag(name, value)


def _refuse_parameters(name: str, value: Any) -> None:
    if value:
        raise Unsupported(
            f"The option {name} is not supported.",
            remedy="Write connection parameters into the attach string.",
        )


def _check_type(name: str, value: Any) -> None:
    if str(value).lower() != "ducklake":
        raise InvalidInput(
            f"A catalog of type {value!r} cannot be attached.", remedy="Use TYPE ducklake."
        )


def _invalid_option(name: str, value: Any, expected: str) -> InvalidInput:
    return InvalidInput(
        f"The option {name} cannot be {value!r}.", remedy=f"Set it to {expected}.", option=name
    )


# option -> keyword of Session.attach, and the function that reads its value; "" has no effect
_OPTIONS: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "CATALOG": ("catalog", _read_text),
    "DATA_PATH": ("data_path", _read_text),
    "METADATA_SCHEMA": ("metadata_schema", _read_text),
    "METADATA_CATALOG": ("metadata_catalog", _read_text),
    "SNAPSHOT_VERSION": ("snapshot_version", _read_number),
    "SNAPSHOT_TIME": ("snapshot_time", _read_timestamp),
    "ENCRYPTED": ("encrypted", _read_encryption),
    "DATA_INLINING_ROW_LIMIT": ("data_inlining_row_limit", _read_number),
    "CREATE_IF_NOT_EXISTS": ("create_if_not_exists", _read_flag),
    "MIGRATE_IF_REQUIRED": ("migrate_if_required", _read_flag),
    "OVERRIDE_DATA_PATH": ("override_data_path", _read_flag),
    "READ_ONLY": ("read_only", _read_flag),
    "READ_WRITE": ("read_only", _read_negated_flag),
    "METADATA_PARAMETERS": ("", _refuse_parameters),
    "TYPE": ("", _check_type),
}


# DETACH, USE and extensions


def run_detach(session: Session, statement: exp.Detach) -> Result:
    """Run DETACH."""
    try:
        session.detach(statement.this.name)
    except NotFound:
        if not statement.args.get("exists"):
            raise
    return Result.done("DETACH")


def run_use(session: Session, statement: exp.Use) -> Result:
    """Run USE: set the catalog and schema of unqualified names."""
    session.use(joined_name(nodes.name_parts(statement.this)))
    return Result.done("USE")


def run_extension(session: Session, statement: exp.Expr) -> Result:
    """Accept INSTALL and LOAD without effect: the DuckDB extensions of a lake are built in."""
    return Result.done("LOAD" if isinstance(statement, nodes.Load) else "INSTALL")


HANDLERS = {
    exp.Attach: run_attach,
    exp.Detach: run_detach,
    exp.Use: run_use,
    exp.Install: run_extension,
    nodes.Load: run_extension,
}
