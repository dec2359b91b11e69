"""INSERT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput, Unsupported
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.session.names import perhaps
from forklake.sql import constants
from forklake.sql.dialect.nodes import name_parts
from forklake.sql.query.names import TableReference
from forklake.sql.results import Result
from forklake.sql.statements.atomic import atomic

if TYPE_CHECKING:
    from forklake.sql.session import Session

Cells = list[list[exp.Expr]]
# Expressions with the same meaning in all dialects.
_PLAIN = (exp.Literal, exp.Null, exp.Boolean)


def run_insert(session: Session, statement: exp.Expr) -> Result:
    """Run INSERT. Constant values are evaluated in this process, queries by Spark."""
    assert isinstance(statement, exp.Insert)
    if statement.this.find(exp.Partition):
        raise Unsupported(
            "INSERT does not support PARTITION.",
            remedy="Write the values of the partition columns with the rows.",
        )
    columns = _column_names(statement)
    if statement.args.get("default"):
        return _insert_cells(session, statement, [], [[]])
    source = _source_query(statement)
    is_query = statement.args.get("by_name") or statement.args.get("where")
    cells = None if is_query else _constant_cells(session, source)
    if cells is not None:
        return _insert_cells(session, statement, columns, cells)
    return _insert_query(session, statement, columns, source)


def _column_names(statement: exp.Insert) -> list[str]:
    target = statement.this
    return [one.name for one in target.expressions] if isinstance(target, exp.Schema) else []


def _source_query(statement: exp.Insert) -> exp.Expr:
    """Return the query, including a WITH that stands before the INSERT."""
    source: exp.Expr = statement.expression
    with_clause = statement.args.get("with_")
    if with_clause is not None:
        source.set("with_", with_clause)
    return source


# Values


def _constant_cells(session: Session, source: exp.Expr) -> Cells | None:
    """Return the expressions of each row if all of them are constant, else None."""
    match source:
        case exp.Values() if not source.args.get("with_"):
            rows = [list(row.expressions) for row in source.expressions]
        case exp.Select() if set(_present_clauses(source)) == {"expressions"}:
            rows = [[one.unalias() for one in source.expressions]]
        case _:
            return None
    is_constant = constants.is_constant if session.dialect == "duckdb" else _is_plain
    if all(constants.is_default(cell) or is_constant(cell) for row in rows for cell in row):
        return rows
    return None


def _present_clauses(select: exp.Select) -> list[str]:
    return [key for key, value in select.args.items() if value]


def _is_plain(cell: exp.Expr) -> bool:
    return isinstance(cell.this if isinstance(cell, exp.Neg) else cell, _PLAIN)


def _insert_cells(
    session: Session, statement: exp.Insert, columns: Sequence[str], cells: Cells
) -> Result:
    from forklake.session.insert import insert

    place = session.resolve(name_parts(statement.this))
    with session.changing(place.attachment) as change:
        table = session.find_table(change.transaction, place)
        fields = change.transaction.state.fields(table)
        target_fields = (
            _choose_fields(fields, columns, table.table_name) if columns else list(fields)
        )
        if statement.args.get("overwrite"):
            change.transaction.record_read(table, ignores_removals=True)
            change.transaction.truncate(table)
        if cells != [[]]:
            _require_width(cells, len(target_fields), table.table_name)
        present = [at for at in range(len(target_fields)) if not _is_all_default(cells, at)]
        if not present or cells == [[]]:
            return Result.counted("INSERT", insert(session, change, table, [{}] * len(cells)))
        cells = [[row[at] for at in present] for row in cells]
        rows = constants.evaluate_rows(
            cells, [target_fields[at] for at in present], table.table_name
        )
        return Result.counted("INSERT", insert(session, change, table, rows))


def _is_all_default(cells: Cells, column: int) -> bool:
    """Return whether a column is DEFAULT in every row."""
    return all(not row or constants.is_default(row[column]) for row in cells)


def _choose_fields(fields: Sequence[Field], columns: Sequence[str], table: str) -> list[Field]:
    fields_by_name = {folded(field.name): field for field in fields}
    for number, name in enumerate(columns):
        if folded(name) not in fields_by_name:
            raise InvalidInput(
                f"Table '{table}' has no column '{name}'.",
                remedy=perhaps(name, [field.name for field in fields], what="columns"),
            )
        if folded(name) in [folded(one) for one in columns[:number]]:
            raise InvalidInput(
                f"The column '{name}' of table '{table}' is named twice.", remedy="Name it once."
            )
    return [fields_by_name[folded(name)] for name in columns]


def _require_width(cells: Cells, width: int, table: str) -> None:
    for row in cells:
        if len(row) != width:
            raise InvalidInput(
                f"Table '{table}' expects {width} values in a row, but {len(row)} are given.",
                remedy="Write one value for each column, or list the columns.",
            )


# Queries


def _insert_query(
    session: Session, statement: exp.Insert, columns: Sequence[str], source: exp.Expr
) -> Result:
    from forklake.sql.query.binding import Binding

    target = name_parts(statement.this)
    with atomic(session), Binding(session, session.dialect) as binding:
        place = session.resolve(target)
        table = session.find_table(session.viewing(place.attachment), place)
        rows = session.query(source)
        if columns:
            fields = session.viewing(place.attachment).state.fields(table)
            target_fields = _choose_fields(fields, columns, table.table_name)
            if len(target_fields) != len(rows.columns):
                raise InvalidInput(
                    f"The statement names {len(target_fields)} columns of table"
                    f" '{table.table_name}', but the query has {len(rows.columns)}.",
                    remedy="Name as many columns as the query has.",
                )
            rows = rows.toDF(*(field.name for field in target_fields))
        where = statement.args.get("where") or None  # REPLACE WHERE
        count = session.write(
            rows,
            target,
            mode="overwrite" if where or statement.args.get("overwrite") else "append",
            by_name=bool(columns or statement.args.get("by_name")),
            where=None
            if where is None
            else binding.to_spark_sql(where, TableReference(target, target[-1])),
        )
    return Result.counted("INSERT", count)


HANDLERS = {exp.Insert: run_insert}
