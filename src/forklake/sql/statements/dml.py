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
from forklake.sql.translate.trees import bare

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.session.changing.merge_into import MergeClause
    from forklake.sql.query.binding import Binding
    from forklake.sql.session import Session


@dataclass(frozen=True)
class _Changing:
    """Context of a running statement that changes a table."""

    session: Session
    binding: Binding
    target: TableReference
    columns: Sequence[str]

    def text(self, node: exp.Expr) -> str:
        """Return an expression over the table in Spark SQL."""
        return self.binding.to_spark_sql(node, self.target)

    def condition(self, where: exp.Expr | None) -> str | None:
        """Return the condition of a WHERE clause in Spark SQL."""
        return None if where is None else self.text(_with_exists(where.copy()).this)

    def rows(self, sources: Sequence[exp.Expr]) -> DataFrame:
        """Return the cross join of source tables; their columns stay qualified."""
        first, *others = [one.copy() for one in sources]
        both = exp.Select(expressions=[exp.Star()], from_=exp.From(this=first))
        for other in others:
            both.append("joins", exp.Join(this=other, kind="CROSS"))
        found: DataFrame = self.binding.to_relation(both)
        return found

    def assignments(self, equations: Sequence[exp.Expr]) -> dict[str, str]:
        """Return the values of a SET clause in Spark SQL, by column or field of a struct."""
        found: dict[str, str] = {}
        for equation in equations:
            if not isinstance(equation, exp.EQ):
                raise InvalidInput(
                    f"SET {equation.sql('duckdb')} does not assign a value to a column.",
                    remedy="Write SET column = value.",
                )
            name = self._path(equation.this)
            if name in found:
                raise InvalidInput(
                    f"The column '{'.'.join(split_name(name))}' is set twice.",
                    remedy="Set each column once.",
                )
            found[name] = self.value(equation.expression)
        return found

    def value(self, node: exp.Expr) -> str:
        """Return a value for a column in Spark SQL, or DEFAULT."""
        return "DEFAULT" if is_default(node) else self.text(node)

    def _path(self, node: exp.Expr) -> str:
        parts = name_parts(node)
        is_column = folded(parts[0]) in {folded(one) for one in self.columns}
        if len(parts) > 1 and not is_column and folded(parts[0]) == folded(self.target.alias):
            parts = parts[1:]
        return ".".join(quoted(part) for part in parts)


def _with_exists(where: exp.Expr) -> exp.Expr:
    """Replace `(a, b) IN (SELECT …)` by EXISTS.

    Where it is NULL, EXISTS is false, which has the same effect in a condition.
    """
    for node in list(where.find_all(exp.In)):
        place: exp.Expr = node
        while isinstance(place.parent, exp.And | exp.Or | exp.Paren):
            place = place.parent
        value, query = bare(node.this), node.args.get("query")
        if place.parent is not where or query is None or not isinstance(value, exp.Tuple):
            continue
        names = [exp.to_identifier(f"_value{at}") for at in range(len(value.expressions))]
        listed = exp.TableAlias(this=exp.to_identifier("_listed"), columns=names)
        source = exp.Subquery(this=query.unnest().copy(), alias=listed)
        equal = exp.and_(
            *(
                exp.EQ(this=one.copy(), expression=exp.column(name.copy(), table="_listed"))
                for one, name in zip(value.expressions, names, strict=True)
            )
        )
        found = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=source))
        found.set("where", exp.Where(this=equal))
        node.replace(exp.Exists(this=found))
    return where


@contextmanager
def _changing(session: Session, table: exp.Expr) -> Iterator[_Changing]:
    from forklake.engines.spark.error_translation import translate_spark_errors
    from forklake.sql.query.binding import Binding

    assert isinstance(table, exp.Table)
    written = TableReference.from_table(table)
    with atomic(session), translate_spark_errors(), Binding(session, session.dialect) as binding:
        place = session.resolve(written.parts)
        view = session.viewing(place.attachment)
        fields = view.state.fields(session.find_table(view, place))
        yield _Changing(session, binding, written, [field.name for field in fields])


def run_delete(session: Session, statement: exp.Expr) -> Result:
    """Run DELETE FROM … [USING …] [WHERE …]."""
    with _changing(session, statement.this) as changing:
        using = statement.args.get("using")
        count = session.delete(
            changing.target.parts,
            changing.condition(statement.args.get("where")),
            using=changing.rows(using) if using else None,
            target_alias=changing.target.alias,
            source_alias=None,
        )
    return Result.counted("DELETE", count)


def run_update(session: Session, statement: exp.Expr) -> Result:
    """Run UPDATE … SET … [FROM …] [WHERE …]."""
    with _changing(session, statement.this) as changing:
        source = statement.args.get("from_")
        condition = changing.condition(statement.args.get("where"))
        rows = None if source is None else changing.rows([source.this])
        count = session.update(
            changing.target.parts,
            changing.assignments(statement.expressions),
            condition if rows is None else None,
            source=rows,
            on=None if rows is None else condition,
            target_alias=changing.target.alias,
            source_alias=None,
        )
    return Result.counted("UPDATE", count)


def run_truncate(session: Session, statement: exp.Expr) -> Result:
    """Run TRUNCATE [TABLE] …."""
    with atomic(session):
        count = sum(session.truncate(name_parts(table)) for table in statement.expressions)
    return Result.counted("TRUNCATE", count)


# MERGE INTO


def run_merge(session: Session, statement: exp.Expr) -> Result:
    """Run MERGE INTO … USING … ON … WHEN …."""
    source = statement.args["using"]
    with _changing(session, statement.this) as changing:
        alias = source.alias_or_name
        if not alias:
            raise InvalidInput(
                "The source of MERGE INTO has no name.",
                remedy="Name it with an alias: USING (…) AS source.",
            )
        counts = session.merge(
            changing.target.parts,
            changing.rows([source]),
            _merge_condition(changing, statement, alias),
            [_clause(changing, when) for when in statement.args["whens"].expressions],
            target_alias=changing.target.alias,
            source_alias=alias,
        )
    return Result.counted("MERGE", counts.inserted + counts.updated + counts.deleted)


def _merge_condition(changing: _Changing, statement: exp.Expr, alias: str) -> str:
    shared = statement.args.get("using_cond")
    if not shared:
        return changing.text(statement.args["on"])
    pairs = [
        exp.column(one.copy(), table=exp.to_identifier(changing.target.alias, quoted=True)).eq(
            exp.column(one.copy(), table=exp.to_identifier(alias, quoted=True))
        )
        for one in shared
    ]
    return changing.text(exp.and_(*pairs))


def _clause(changing: _Changing, when: exp.Expr) -> MergeClause:
    from forklake.engines.merge_clauses import Action, When
    from forklake.session.changing.merge_into import MergeClause

    condition = when.args.get("condition")
    if when.args.get("matched"):
        where = When.MATCHED
    elif when.args.get("source"):
        where = When.NOT_MATCHED_BY_SOURCE
    else:
        where = When.NOT_MATCHED
    text = None if condition is None else changing.text(condition)
    match then := when.args["then"]:
        case exp.Update():
            return MergeClause(where, text, Action.UPDATE, _update_values(changing, then))
        case exp.Insert():
            return MergeClause(where, text, Action.INSERT, _insert_values(changing, then))
        case exp.Var() if then.name.upper() == "DELETE":
            return MergeClause(where, text, Action.DELETE)
        case exp.Var() if then.name.upper() == "DO NOTHING":
            return MergeClause(where, text, Action.NOTHING)
    raise InvalidInput(
        f"MERGE INTO does not support the action {then.sql('duckdb')}.",
        remedy="Write UPDATE, DELETE, INSERT or DO NOTHING.",
    )


def _update_values(changing: _Changing, then: exp.Update) -> dict[str, str] | None:
    """Return the values by column; None stands for all columns, by name."""
    equations = then.expressions
    if not equations or isinstance(equations[0], exp.Star):
        return None
    return changing.assignments(equations)


def _insert_values(changing: _Changing, then: exp.Insert) -> dict[str, str] | None:
    values = then.expression
    if not values or isinstance(then.this, exp.Star):
        return None
    columns = (
        [name_parts(one)[-1] for one in then.this.expressions] if then.this else changing.columns
    )
    if len(columns) != len(values.expressions):
        raise InvalidInput(
            f"INSERT names {len(columns)} columns but has {len(values.expressions)} values.",
            remedy="Write one value for each column.",
        )
    return {
        quoted(column): changing.value(value)
        for column, value in zip(columns, values.expressions, strict=True)
    }


HANDLERS = {
    exp.Delete: run_delete,
    exp.Update: run_update,
    exp.Merge: run_merge,
    exp.TruncateTable: run_truncate,
}
