"""Rows of a table that a statement changes: found by a condition, or by a join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from forklake.engines.pushdown import predicate_of
from forklake.engines.relations import Expression
from forklake.engines.row_matches import Matching
from forklake.engines.spark.quoting import quoted
from forklake.engines.targets import Target
from forklake.engines.virtual_columns import VIRTUAL
from forklake.model.entities import InlinedRow, Table
from forklake.model.names import folded
from forklake.model.scans import ScanFile
from forklake.session.changing.inlined_evaluation import decided
from forklake.session.read_records import record_read, record_virtual

if TYPE_CHECKING:
    from forklake.session.session import Session
    from forklake.session.unit_of_work import UnitOfWork


def match_rows(
    session: Session,
    change: UnitOfWork,
    table: Table,
    alias: str,
    narrowed: str | None,
) -> Matching:
    """Return the rows of a table that a statement may change, and record the read.

    Only those files are read in which the condition `narrowed` may be true for a row.
    """
    target = Target(change.attachment, change.transaction.state, table)
    conditions = [] if narrowed is None else [narrowed]
    record_read(change.transaction, table, conditions, ignores_removals=True)
    return Matching(change, target, alias, _find_files(session, change, target, narrowed))


def _find_files(
    session: Session, change: UnitOfWork, target: Target, narrowed: str | None
) -> list[ScanFile]:
    """Return the files that may have matching rows."""
    view, table = change.transaction, target.table
    if narrowed is None:
        return view.scan_files(table)
    wanted = predicate_of([narrowed], target.fields, zone=None)
    found = view.scan_files(table, wanted)
    if not found:
        return found
    # The engine, which has the time zone, is started only if there are files to read.
    in_zone = predicate_of([narrowed], target.fields, zone=session.engine.time_zone)
    return found if in_zone == wanted else view.scan_files(table, in_zone)


def decide_inlined(found: Matching, where: Expression | None) -> list[InlinedRow] | None:
    """Return the rows for which a condition is true, or None if finding them needs an engine."""
    if not isinstance(where, str | None) or found.files:
        return None
    rows = found.change.transaction.inlined_rows(found.target.table)
    return decided(where, found.alias, found.fields, rows)


def record_places(found: Matching, *expressions: Expression | None) -> None:
    """Record that a statement reads the virtual columns that its expressions use."""
    taken = {folded(field.name) for field in found.fields}
    text = " ".join(str(one) for one in expressions).lower()
    named = [name for name in VIRTUAL if name in text and name not in taken]
    record_virtual(found.change.transaction, found.target.table, named)


def text_of(condition: Expression | None) -> str | None:
    """Return a condition that can prune files; None if it is not SQL text."""
    return condition if isinstance(condition, str) else None


def about(alias: str, condition: Expression | None) -> str | None:
    """Return the conjuncts of a condition on two tables that use only columns of one, or None."""
    parsed = _parse_condition(condition)
    if parsed is None:
        return None
    parts = list(parsed.flatten()) if isinstance(parsed, exp.And) else [parsed]
    own = [part.sql("spark") for part in parts if _uses_only(alias, part)]
    return " AND ".join(f"({part})" for part in own) or None


def qualified(condition: Expression, alias: str, columns: Sequence[str]) -> Expression:
    """Return the condition with the alias before these columns, which may exist in both tables."""
    parsed = _parse_condition(condition)
    if parsed is None or not isinstance(condition, str):
        return condition
    known = {folded(name) for name in columns}
    starts = []
    for column in parsed.find_all(exp.Column):
        first, *rest = column.parts
        is_qualified = rest and folded(first.name) == folded(alias)
        is_inner = column.find_ancestor(exp.Select) is not None
        if folded(first.name) in known and not is_qualified and not is_inner:
            starts.append(first.meta["start"])
    for start in sorted(starts, reverse=True):
        condition = f"{condition[:start]}{quoted(alias)}.{condition[start:]}"
    return condition


def _parse_condition(condition: Expression | None) -> exp.Expr | None:
    if not isinstance(condition, str):
        return None
    try:
        return sqlglot.parse_one(condition, read="spark", into=exp.Condition)
    except (SqlglotError, RecursionError):
        return None


def _uses_only(alias: str, part: exp.Expr) -> bool:
    columns = list(part.find_all(exp.Column))
    return bool(columns) and all(folded(one.table) == folded(alias) for one in columns)
