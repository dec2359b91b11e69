"""Expansion of COLUMNS(…), and of stars that Spark does not have or orders differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from forklake.engines.local.evaluation import EvaluationError, evaluate
from forklake.errors import InvalidInput, NotFound
from forklake.sql.translate.joins import JoinColumns, Shown, resolve_joins
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.relations import ColumnsOf, sources
from forklake.sql.translate.trees import aliased, within


def expand_stars(tree: exp.Expr, columns: ColumnsOf) -> exp.Expr:
    """Resolve joins by name, and expand stars unless they mean the same in Spark."""
    for select in reversed(list(tree.find_all(exp.Select))):
        found = _Columns(select, columns, resolve_joins(select, columns))
        expanded = [one for column in select.expressions for one in _expand_item(column, found)]
        select.set("expressions", expanded)
        for clause in ("where", "having", "qualify"):
            if (condition := select.args.get(clause)) is not None:
                _expand_condition(condition, found)
    return tree


@dataclass
class _Columns:
    """Columns of FROM, which are resolved when a star needs them."""

    select: exp.Select
    columns: ColumnsOf
    shown: list[Shown] | None  # of joins with USING or NATURAL

    @property
    def is_by_name(self) -> bool:
        return self.shown is not None

    @property
    def has_joins(self) -> bool:
        return len(sources(self.select)) > 1

    def of(self, table: str = "") -> list[Shown]:
        """Return all columns, or those of one table."""
        if self.shown is None:
            self.shown = JoinColumns(self.select, self.columns).shown()
        if not table:
            return self.shown
        return JoinColumns(self.select, self.columns).of_source(table)


def _star(node: exp.Expr) -> exp.Star | None:
    inner = node.this if isinstance(node, exp.Column) else node
    return inner if isinstance(inner, exp.Star) else None


def _expand_item(node: exp.Expr, found: _Columns) -> list[exp.Expr]:
    star = _star(node)
    if star is not None:
        table = node.table if isinstance(node, exp.Column) else ""
        is_changed = star.args.get("replace") or star.args.get("rename")
        is_mixed = found.is_by_name and not table
        if not is_changed and not is_mixed and not (star.args.get("except_") and found.has_joins):
            return [node]
        return _expand_star(star, found.of(table))
    calls = _columns_calls(node)
    if not calls:
        return [node]
    return [_for_column(node, one) for one in _choose_columns(calls[0], found)]


def _expand_star(star: exp.Star, shown: Sequence[Shown]) -> list[exp.Expr]:
    left_out = star.args.get("except_") or []
    replaced = {one.alias.lower(): one for one in star.args.get("replace") or []}
    renamed = {one.this.name.lower(): one.alias for one in star.args.get("rename") or []}
    known = {one.name.lower() for one in shown}
    for name in [*(one.name for one in left_out), *replaced, *renamed]:
        if name.lower() not in known:
            raise NotFound(
                f"EXCLUDE, REPLACE or RENAME names the column '{name}', which FROM does not have.",
                remedy="The columns are: " + ", ".join(one.name for one in shown) + ".",
            )
    made: list[exp.Expr] = []
    for one in shown:
        key = one.name.lower()
        if any(_is_left_out(one, each) for each in left_out):
            continue
        if key in replaced:  # once: only the first of several columns with the same name is kept
            if not any(key == made_one.alias_or_name.lower() for made_one in made):
                made.append(aliased(replaced[key].this.copy(), one.name))
        elif key in renamed:
            made.append(aliased(one.value.copy(), renamed[key]))
        else:
            made.append(one.output())
    return made


def _is_left_out(shown: Shown, left_out: exp.Expr) -> bool:
    table = left_out.text("table")
    if left_out.name.lower() != shown.name.lower():
        return False
    if table and shown.is_merged:
        raise unsupported(f"EXCLUDE of {table}.{left_out.name}, which is a column of USING,")
    return not table or table.lower() == shown.source.lower()


def _columns_calls(node: exp.Expr) -> list[exp.Expr]:
    return [
        one
        for one in within(node, exp.Anonymous)
        if isinstance(one, exp.Anonymous) and one.name.lower() == "columns"
    ]


def _choose_columns(call: exp.Expr, found: _Columns) -> list[Shown]:
    """Return the columns that COLUMNS(…) stands for."""
    [choice] = call.expressions
    shown = found.of()
    if isinstance(choice, exp.Star):
        left_out = choice.args.get("except_") or []
        return [one for one in shown if not any(_is_left_out(one, each) for each in left_out)]
    if isinstance(choice, exp.Array):
        wanted = [one.name.lower() for one in choice.expressions]
        return [one for one in shown if one.name.lower() in wanted]
    if not choice.is_string:
        raise unsupported(f"COLUMNS({choice.sql(dialect='duckdb')})")
    matches = _matches(choice.name, [one.name for one in shown])
    matching = [one for one, is_match in zip(shown, matches, strict=True) if is_match]
    if not matching:
        raise unsupported(f"COLUMNS('{choice.name}'), which matches no column,")
    return matching


def _matches(pattern: str, names: Sequence[str]) -> list[bool]:
    """Return which names have a match of a pattern, as DuckDB finds it.

    Python would take exponential time for some patterns, and stop all other threads meanwhile.
    """
    texts = [exp.Literal.string(one).sql("duckdb") for one in (pattern, *names)]
    calls = ", ".join(f"regexp_matches({name}, {texts[0]})" for name in texts[1:])
    try:
        found: list[bool] = evaluate(f"SELECT [{calls}] AS v").column(0)[0].as_py()
    except EvaluationError as reason:
        raise InvalidInput(
            f"The pattern '{pattern}' of COLUMNS cannot be used: {reason}.",
            remedy="Correct the pattern.",
        ) from None
    return found


def _for_column(node: exp.Expr, shown: Shown) -> exp.Expr:
    """Return an expression with COLUMNS(…) for one of its columns."""
    made = node.copy()
    holder = exp.Tuple(expressions=[made])
    for call in _columns_calls(made):
        call.replace(shown.value.copy())
    column = holder.expressions[0].pop()
    if isinstance(column, exp.Alias):
        return column
    return shown.output() if column == shown.value else aliased(column, shown.name)


def _expand_condition(clause: exp.Expr, found: _Columns) -> None:
    """Replace a condition with COLUMNS(…) by the conjunction for each of the columns."""
    calls = _columns_calls(clause.this)
    if calls:
        each = [_for_column(clause.this, one).unalias() for one in _choose_columns(calls[0], found)]
        clause.set("this", exp.and_(*each))
