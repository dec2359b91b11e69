"""Expansion of COLUMNS(…), and of stars that Spark does not have or orders differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from forklake.engines.local.evaluation import EvaluationError, evaluate
from forklake.errors import InvalidInput, NotFound
from forklake.sql.translate.joins import JoinColumns, SourceColumn, resolve_joins
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.relations import ColumnsOf, list_sources
from forklake.sql.translate.trees import find_within, quoted_alias


def expand_stars(tree: exp.Expr, columns_of: ColumnsOf) -> exp.Expr:
    """Resolve joins by name, and expand stars unless they mean the same in Spark."""
    for select in reversed(list(tree.find_all(exp.Select))):
        from_columns = _FromColumns(select, columns_of, resolve_joins(select, columns_of))
        expanded = [
            one for column in select.expressions for one in _expand_item(column, from_columns)
        ]
        select.set("expressions", expanded)
        for clause in ("where", "having", "qualify"):
            if (condition := select.args.get(clause)) is not None:
                _expand_condition(condition, from_columns)
    return tree


@dataclass
class _FromColumns:
    """Columns of FROM, which are resolved when a star needs them."""

    select: exp.Select
    columns_of: ColumnsOf
    resolved: list[SourceColumn] | None  # of joins with USING or NATURAL

    @property
    def is_by_name(self) -> bool:
        return self.resolved is not None

    @property
    def has_joins(self) -> bool:
        return len(list_sources(self.select)) > 1

    def list_columns(self, table: str = "") -> list[SourceColumn]:
        """Return all columns, or those of one table."""
        if self.resolved is None:
            self.resolved = JoinColumns(self.select, self.columns_of).resolve()
        if not table:
            return self.resolved
        return JoinColumns(self.select, self.columns_of).list_source_columns(table)


def _find_star(node: exp.Expr) -> exp.Star | None:
    inner = node.this if isinstance(node, exp.Column) else node
    return inner if isinstance(inner, exp.Star) else None


def _expand_item(node: exp.Expr, from_columns: _FromColumns) -> list[exp.Expr]:
    star = _find_star(node)
    if star is not None:
        table = node.table if isinstance(node, exp.Column) else ""
        is_changed = star.args.get("replace") or star.args.get("rename")
        is_mixed = from_columns.is_by_name and not table
        if (
            not is_changed
            and not is_mixed
            and not (star.args.get("except_") and from_columns.has_joins)
        ):
            return [node]
        return _expand_star(star, from_columns.list_columns(table))
    calls = _find_columns_calls(node)
    if not calls:
        return [node]
    return [_apply_to_column(node, one) for one in _choose_columns(calls[0], from_columns)]


def _expand_star(star: exp.Star, columns: Sequence[SourceColumn]) -> list[exp.Expr]:
    excluded = star.args.get("except_") or []
    replaced = {one.alias.lower(): one for one in star.args.get("replace") or []}
    renamed = {one.this.name.lower(): one.alias for one in star.args.get("rename") or []}
    names = {one.name.lower() for one in columns}
    for name in [*(one.name for one in excluded), *replaced, *renamed]:
        if name.lower() not in names:
            raise NotFound(
                f"EXCLUDE, REPLACE or RENAME names the column '{name}', which FROM does not have.",
                remedy="The columns are: " + ", ".join(one.name for one in columns) + ".",
            )
    result: list[exp.Expr] = []
    for one in columns:
        key = one.name.lower()
        if any(_is_excluded(one, each) for each in excluded):
            continue
        if key in replaced:  # once: only the first of several columns with the same name is kept
            if not any(key == earlier.alias_or_name.lower() for earlier in result):
                result.append(quoted_alias(replaced[key].this.copy(), one.name))
        elif key in renamed:
            result.append(quoted_alias(one.value.copy(), renamed[key]))
        else:
            result.append(one.to_select_item())
    return result


def _is_excluded(column: SourceColumn, excluded: exp.Expr) -> bool:
    table = excluded.text("table")
    if excluded.name.lower() != column.name.lower():
        return False
    if table and column.is_merged:
        raise unsupported(f"EXCLUDE of {table}.{excluded.name}, which is a column of USING,")
    return not table or table.lower() == column.source.lower()


def _find_columns_calls(node: exp.Expr) -> list[exp.Expr]:
    return [
        one
        for one in find_within(node, exp.Anonymous)
        if isinstance(one, exp.Anonymous) and one.name.lower() == "columns"
    ]


def _choose_columns(call: exp.Expr, from_columns: _FromColumns) -> list[SourceColumn]:
    """Return the columns that COLUMNS(…) stands for."""
    [choice] = call.expressions
    columns = from_columns.list_columns()
    if isinstance(choice, exp.Star):
        excluded = choice.args.get("except_") or []
        return [one for one in columns if not any(_is_excluded(one, each) for each in excluded)]
    if isinstance(choice, exp.Array):
        names = [one.name.lower() for one in choice.expressions]
        return [one for one in columns if one.name.lower() in names]
    if not choice.is_string:
        raise unsupported(f"COLUMNS({choice.sql(dialect='duckdb')})")
    matches = _match_names(choice.name, [one.name for one in columns])
    matching = [one for one, is_match in zip(columns, matches, strict=True) if is_match]
    if not matching:
        raise unsupported(f"COLUMNS('{choice.name}'), which matches no column,")
    return matching


def _match_names(pattern: str, names: Sequence[str]) -> list[bool]:
    """Return which names have a match of a pattern, as DuckDB finds it.

    Python would take exponential time for some patterns, and stop all other threads meanwhile.
    """
    texts = [exp.Literal.string(one).sql("duckdb") for one in (pattern, *names)]
    calls = ", ".join(f"regexp_matches({name}, {texts[0]})" for name in texts[1:])
    try:
        matches: list[bool] = evaluate(f"SELECT [{calls}] AS v").column(0)[0].as_py()
    except EvaluationError as reason:
        raise InvalidInput(
            f"The pattern '{pattern}' of COLUMNS cannot be used: {reason}.",
            remedy="Correct the pattern.",
        ) from None
    return matches


def _apply_to_column(node: exp.Expr, source: SourceColumn) -> exp.Expr:
    """Return an expression with COLUMNS(…) for one of its columns."""
    result = node.copy()
    holder = exp.Tuple(expressions=[result])
    for call in _find_columns_calls(result):
        call.replace(source.value.copy())
    column = holder.expressions[0].pop()
    if isinstance(column, exp.Alias):
        return column
    return source.to_select_item() if column == source.value else quoted_alias(column, source.name)


def _expand_condition(clause: exp.Expr, from_columns: _FromColumns) -> None:
    """Replace a condition with COLUMNS(…) by the conjunction for each of the columns."""
    calls = _find_columns_calls(clause.this)
    if calls:
        each = [
            _apply_to_column(clause.this, one).unalias()
            for one in _choose_columns(calls[0], from_columns)
        ]
        clause.set("this", exp.and_(*each))
