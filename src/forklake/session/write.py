"""Writes of DataFrames to tables by name: what the mode of a write means for its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forklake.engines.relations import Relation
from forklake.errors import AlreadyExists, InvalidInput
from forklake.model.entities import Table
from forklake.model.rules import Check
from forklake.model.state import CatalogState
from forklake.session.changing.delete import delete_from
from forklake.session.definitions import partition_keys

if TYPE_CHECKING:
    from forklake.session.name_resolution import TableName
    from forklake.session.session import Session
    from forklake.session.unit_of_work import UnitOfWork

MODES = ("append", "overwrite", "error", "ignore")


def write(
    session: Session,
    df: Relation,
    name: str | Sequence[str],
    *,
    mode: str = "append",
    by_name: bool = False,
    partition_by: Sequence[str | tuple[str, str]] = (),
    replace_schema: bool = False,
    where: str | None = None,
) -> int:
    """Write a DataFrame to a table, and return the number of rows.

    Args:
        mode: `append` to an existing table; `overwrite` its rows; `error` if it exists; `ignore`
            the write if it exists. All but `append` create a missing table.
        by_name: match columns by name; missing ones get their defaults.
        partition_by: for a new table: columns, or `year(column)` and so on.
        replace_schema: `overwrite` creates a new table with the columns of the DataFrame.
        where: `overwrite` replaces the rows for which this condition is true; it must be true for
            all rows of the DataFrame.
    """
    if mode not in MODES:
        raise InvalidInput(f"{mode!r} is not a write mode.", remedy=f"Use: {', '.join(MODES)}.")
    if where is not None:
        _require_replacing(mode, replace_schema)
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        found = _find(change, place)
        if found is not None and mode == "ignore":
            change.transaction.record_definitions()
            return 0
        if found is not None and mode == "error":
            raise AlreadyExists(
                f"Table '{place}' already exists",
                remedy="Append to it, overwrite it, or choose another name.",
            )
        checks = []
        if mode == "append" or where is not None or (found is not None and not replace_schema):
            table = session.find_table(change.transaction, place)
            _require_partitioning(change.transaction.state, table, partition_by)
            if where is not None:
                checks.append(_delete_replaced(session, change, table, where))
            elif mode == "overwrite":
                change.transaction.record_read(table, ignores_removals=True)
                change.transaction.truncate(table)
        else:
            table = change.transaction.create_table(
                place.table,
                # Non-nullable columns of a DataFrame do not imply a constraint on later rows.
                [
                    replace(spec, nulls_allowed=True)
                    for spec in session.engine.relations.column_specs(df)
                ],
                schema=place.schema,
                partition_by=partition_keys(partition_by),
                or_replace=replace_schema,
            )
        return session.engine.writer.append(change, table, df, by_name=by_name, checks=checks)


def _require_replacing(mode: str, replace_schema: bool) -> None:
    if mode != "overwrite" or replace_schema:
        raise InvalidInput(
            "The parameter `where` is valid only when rows of an existing table are overwritten.",
            remedy="Use it with mode='overwrite' and without replace_schema.",
        )


def _delete_replaced(session: Session, change: UnitOfWork, table: Table, where: str) -> Check:
    """Delete the rows for which a condition is true, and return it as a check of the new rows."""
    delete_from(session, change, table, where)
    return Check("condition by which rows are replaced", where)


def create_table_as(
    session: Session,
    name: str | Sequence[str],
    df: Relation,
    *,
    partition_by: Sequence[str | tuple[str, str]] = (),
    if_not_exists: bool = False,
    or_replace: bool = False,
) -> int:
    """Create a table with the columns and rows of a DataFrame, and return the number of rows."""
    mode = "overwrite" if or_replace else "ignore" if if_not_exists else "error"
    return write(session, df, name, mode=mode, partition_by=partition_by, replace_schema=or_replace)


def _find(change: UnitOfWork, place: TableName) -> Table | None:
    found = change.transaction.state.find_relation(place.table, place.schema)
    if found is None or isinstance(found, Table):
        return found
    raise InvalidInput(f"'{place}' is a view.", remedy="Write to one of the tables that it reads.")


def _require_partitioning(
    state: CatalogState, table: Table, partition_by: Sequence[str | tuple[str, str]]
) -> None:
    wanted = [
        (state.column(table, column).column_id, transform)
        for column, transform in partition_keys(partition_by)
    ]
    if wanted and wanted != [(key.column_id, key.transform) for key in state.partitioning(table)]:
        raise InvalidInput(
            f"Table '{table.table_name}' exists with another partitioning.",
            remedy="Omit partition_by, or change the partitioning of the table first.",
        )
