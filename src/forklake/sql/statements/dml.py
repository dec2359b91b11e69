"""UPDATE, DELETE, MERGE INTO and TRUNCATE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.model.names import folded, quoted
from forklake.session.names import split_name
from forklake.sql.constants import is_default
from forklake.sql.dialect.nodes import name_parts
from forklake.sql.query.names import TableReference
from forklake.sql.results import Result
from forklake.sql.statements.atomic import atomic
from forklake.sql.translate.trees import strip_parentheses

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.session.changing.merge_into import MergeClause
    from forklake.sql.query.binding import Binding
    from forklake.sql.session import Session


@dataclass(frozen=True)
class _TableChange:
    """Context of a running statement that changes a table."""

    session: Session
    binding: Binding
    target: TableReference
    columns: Sequence[str]

    def to_spark_sql(self, node: exp.Expr) -> str:
        """Return an expression over the table in Spark SQL."""
        return self.binding.to_spark_sql(node, self.target)

    def translate_condition(self, where: exp.Expr | None) -> str | None:
        """Return the condition of a WHERE clause in Spark SQL."""
        return (
            None if where is None else self.to_spark_sql(_replace_row_membership(where.copy()).this)
        )

    def join_sources(self, sources: Sequence[exp.Expr]) -> DataFrame:
        """Return the cross join of source tables; their columns stay qualified."""
        first, *others = [one.copy() for one in sources]
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=first))
        for other in others:
            query.append("joins", exp.Join(this=other, kind="CROSS"))
        found: DataFrame = self.binding.to_relation(query)
        return found

    def translate_assignments(self, equations: Sequence[exp.Expr]) -> dict[str, str]:
        """Return the values of a SET clause in Spark SQL, by column or field of a struct."""
        assignments: dict[str, str] = {}
        for equation in equations:
            if not isinstance(equation, exp.EQ):
                raise InvalidInput(
                    f"SET {equation.sql('duckdb')} does not assign a value to a column.",
                    remedy="Write SET column = value.",
                )
            name = self._column_path(equation.this)
            if name in assignments:
                raise InvalidInput(
                    f"The column '{'.'.join(split_name(name))}' is set twice.",
                    remedy="Set each column once.",
                )
            assignments[name] = self.translate_value(equation.expression)
        return assignments

    def translate_value(self, node: exp.Expr) -> str:
        """Return a value for a column in Spark SQL, or DEFAULT."""
        return "DEFAULT" if is_default(node) else self.to_spark_sql(node)

    def _column_path(self, node: exp.Expr) -> str:
        parts = name_parts(node)
        is_column = folded(parts[0]) in {folded(one) for one in self.columns}
        if len(parts) > 1 and not is_column and folded(parts[0]) == folded(self.target.alias):
            parts = parts[1:]
        return ".".join(quoted(part) for part in parts)


def _replace_row_membership(where: exp.Expr) -> exp.Expr:
    """Replace `(a, b) IN (SELECT …)` by EXISTS.

    Where it is NULL, EXISTS is false, which has the same effect in a condition.
    """
    for node in list(where.find_all(exp.In)):
        outermost: exp.Expr = node
        while isinstance(outermost.parent, exp.And | exp.Or | exp.Paren):
            outermost = outermost.parent
        value, query = strip_parentheses(node.this), node.args.get("query")
        if outermost.parent is not where or query is None or not isinstance(value, exp.Tuple):
            continue
        names = [exp.to_identifier(f"_value{at}") for at in range(len(value.expressions))]
        alias = exp.TableAlias(this=exp.to_identifier("_listed"), columns=names)
        source = exp.Subquery(this=query.unnest().copy(), alias=alias)
        equal = exp.and_(
            *(
                exp.EQ(this=one.copy(), expression=exp.column(name.copy(), table="_listed"))
                for one, name in zip(value.expressions, names, strict=True)
            )
        )
        exists = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=source))
        exists.set("where", exp.Where(this=equal))
        node.replace(exp.Exists(this=exists))
    return where


@contextmanager
def _open_table_change(session: Session, table: exp.Expr) -> Iterator[_TableChange]:
    from forklake.engines.spark.error_translation import translate_spark_errors
    from forklake.sql.query.binding import Binding

    assert isinstance(table, exp.Table)
    reference = TableReference.from_table(table)
    with atomic(session), translate_spark_errors(), Binding(session, session.dialect) as binding:
        place = session.resolve(reference.parts)
        view = session.viewing(place.attachment)
        fields = view.state.fields(session.find_table(view, place))
        yield _TableChange(session, binding, reference, [field.name for field in fields])


def run_delete(session: Session, statement: exp.Expr) -> Result:
    """Run DELETE FROM … [USING …] [WHERE …]."""
    with _open_table_change(session, statement.this) as change:
        using = statement.args.get("using")
        count = session.delete(
            change.target.parts,
            change.translate_condition(statement.args.get("where")),
            using=change.join_sources(using) if using else None,
            target_alias=change.target.alias,
            source_alias=None,
        )
    return Result.counted("DELETE", count)


def run_update(session: Session, statement: exp.Expr) -> Result:
    """Run UPDATE … SET … [FROM …] [WHERE …]."""
    with _open_table_change(session, statement.this) as change:
        source = statement.args.get("from_")
        condition = change.translate_condition(statement.args.get("where"))
        rows = None if source is None else change.join_sources([source.this])
        count = session.update(
            change.target.parts,
            change.translate_assignments(statement.expressions),
            condition if rows is None else None,
            source=rows,
            on=None if rows is None else condition,
            target_alias=change.target.alias,
            source_alias=None,
        )
    return Result.counted("UPDATE", count)


def run_truncate(session: Session, statement: exp.Expr) -> Result:
    """Run TRUNCATE [TABLE] …."""
    with atomic(session):
        count = sum(session.truncate(name_parts(table)) for table in statement.expressions)
    return Result.counted("TRUNCATE", count)


# MERGE INTO


def run_merge_into(session: Session, statement: exp.Expr) -> Result:
    """Run MERGE INTO … USING … ON … WHEN …."""
    source = statement.args["using"]
    with _open_table_change(session, statement.this) as change:
        alias = source.alias_or_name
        if not alias:
            raise InvalidInput(
                "The source of MERGE INTO has no name.",
                remedy="Name it with an alias: USING (…) AS source.",
            )
        counts = session.merge(
            change.target.parts,
            change.join_sources([source]),
            _translate_merge_condition(change, statement, alias),
            [_translate_clause(change, when) for when in statement.args["whens"].expressions],
            target_alias=change.target.alias,
            source_alias=alias,
        )
    return Result.counted("MERGE", counts.inserted + counts.updated + counts.deleted)


def _translate_merge_condition(change: _TableChange, statement: exp.Expr, alias: str) -> str:
    shared = statement.args.get("using_cond")
    if not shared:
        return change.to_spark_sql(statement.args["on"])
    pairs = [
        exp.column(one.copy(), table=exp.to_identifier(change.target.alias, quoted=True)).eq(
            exp.column(one.copy(), table=exp.to_identifier(alias, quoted=True))
        )
        for one in shared
    ]
    return change.to_spark_sql(exp.and_(*pairs))


def _translate_clause(change: _TableChange, when: exp.Expr) -> MergeClause:
    from forklake.engines.merge_clauses import Action, When
    from forklake.session.changing.merge_into import MergeClause

    condition = when.args.get("condition")
    if when.args.get("matched"):
        branch = When.MATCHED
    elif when.args.get("source"):
        branch = When.NOT_MATCHED_BY_SOURCE
    else:
        branch = When.NOT_MATCHED
    text = None if condition is None else change.to_spark_sql(condition)
    match action := when.args["then"]:
        case exp.Update():
            return MergeClause(branch, text, Action.UPDATE, _translate_update(change, action))
        case exp.Insert():
            return MergeClause(branch, text, Action.INSERT, _translate_insert(change, action))
        case exp.Var() if action.name.upper() == "DELETE":
            return MergeClause(branch, text, Action.DELETE)
        case exp.Var() if action.name.upper() == "DO NOTHING":
            return MergeClause(branch, text, Action.NOTHING)
    raise InvalidInput(
        f"MERGE INTO does not support the action {action.sql('duckdb')}.",
        remedy="Write UPDATE, DELETE, INSERT or DO NOTHING.",
    )


def _translate_update(change: _TableChange, action: exp.Update) -> dict[str, str] | None:
    """Return the values by column; None stands for all columns, by name."""
    equations = action.expressions
    if not equations or isinstance(equations[0], exp.Star):
        return None
    return change.translate_assignments(equations)


def _translate_insert(change: _TableChange, action: exp.Insert) -> dict[str, str] | None:
    values = action.expression
    if not values or isinstance(action.this, exp.Star):
        return None
    columns = (
        [name_parts(one)[-1] for one in action.this.expressions] if action.this else change.columns
    )
    if len(columns) != len(values.expressions):
        raise InvalidInput(
            f"INSERT names {len(columns)} columns but has {len(values.expressions)} values.",
            remedy="Write one value for each column.",
        )
    return {
        quoted(column): change.translate_value(value)
        for column, value in zip(columns, values.expressions, strict=True)
    }


HANDLERS = {
    exp.Delete: run_delete,
    exp.Update: run_update,
    exp.Merge: run_merge_into,
    exp.TruncateTable: run_truncate,
}
