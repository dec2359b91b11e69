"""Inserts of a few rows into tables by name, without Spark where that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.engines.local import inserts
from forklake.engines.local.conform import Rows, conformed, given_names
from forklake.engines.targets import Target
from forklake.model.entities import Table
from forklake.model.names import folded

if TYPE_CHECKING:
    from forklake.session.session import Session
    from forklake.session.unit_of_work import UnitOfWork


def insert_rows(session: Session, name: str | Sequence[str], rows: Rows) -> int:
    """Insert rows into a table, and return their number.

    Rows are mappings by column name, in which missing columns get their defaults, or sequences
    in the order of the columns, or an Arrow table by name.
    """
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        table = session.find_table(change.transaction, place)
        return insert(session, change, table, rows)


def insert(session: Session, change: UnitOfWork, table: Table, rows: Rows) -> int:
    """Insert rows within a change. Spark is needed only if the table has rules for rows."""
    target = Target(change.attachment, change.transaction.state, table)
    if target.rules.concern_rows:
        return _insert_by_rules(session, change, target, rows)
    return inserts.insert(change, target, rows)


def _insert_by_rules(session: Session, change: UnitOfWork, target: Target, rows: Rows) -> int:
    """Insert rows with the engine, which computes generated columns and checks constraints."""
    given = given_names(rows)
    fields = [
        field
        for field in target.fields
        if given is None
        or folded(field.name) in given
        or target.rules.of_column(field.name) is None
    ]
    fitting = conformed(rows, fields, target.table.table_name)
    engine = session.engine
    frame = engine.relations.from_table_rows(fitting, fields)
    return engine.writer.append(change, target.table, frame, by_name=True)
