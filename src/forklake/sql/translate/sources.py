"""Sources in FROM: unnested lists, ranges, VALUES and lateral queries."""

from __future__ import annotations

from sqlglot import exp

from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import fill_template
from forklake.sql.translate.trees import duckdb_call

_RANGES = ("range", "generate_series")
_JOINS = {"POSITIONAL": "POSITIONAL JOIN", "ASOF": "ASOF JOIN"}


def translate_sources(tree: exp.Expr) -> exp.Expr:
    """Replace every source in FROM by one that Spark has."""
    for select in list(tree.find_all(exp.Select)):
        if (start := select.args.get("from_")) is not None:
            start.set("this", _translate_source(start.this, set()))
        left_names = _source_names(start.this) if start is not None else set()
        for join in select.args.get("joins") or []:
            _check_join(join)
            join.set("this", _translate_source(join.this, left_names))
            left_names |= _source_names(join.this)
    return tree


def _source_names(source: exp.Expr) -> set[str]:
    return {source.alias_or_name.lower()} - {""}


def _check_join(join: exp.Expr) -> None:
    word = str(join.args.get("method") or join.args.get("kind") or "").upper()
    if word in _JOINS:
        raise unsupported(_JOINS[word])


def _translate_source(source: exp.Expr, left_names: set[str]) -> exp.Expr:
    if source.args.get("sample") is not None:
        raise unsupported("TABLESAMPLE")
    if isinstance(source, exp.Unnest):
        return _translate_unnest(source)
    if isinstance(source, exp.Table) and isinstance(source.this, exp.Anonymous):
        if source.this.meta.get("spark"):
            return source
        return _translate_function(source)
    if isinstance(source, exp.Values) or isinstance(source.this, exp.Values):
        return _translate_values(source)
    if isinstance(source, exp.Subquery) and _refers_to_sources(source, left_names):
        return exp.Lateral(this=source.copy())
    return source


def _refers_to_sources(source: exp.Expr, left_names: set[str]) -> bool:
    """Return whether a query uses columns of sources on its left, by their names."""
    own = {one.alias_or_name.lower() for one in source.find_all(exp.Table, exp.Subquery)}
    used = {one.table.lower() for one in source.find_all(exp.Column) if one.table}
    return bool((used - own) & left_names)


def _build_alias(alias: exp.Expr | None, name: str) -> exp.TableAlias:
    """Return the alias of a source with one column, both named like the function by default."""
    table = alias.this.name if alias is not None and alias.this is not None else name
    columns = alias.args.get("columns") or [] if alias is not None else []
    if len(columns) > 1:
        raise unsupported(f"{name} with {len(columns)} columns")
    return exp.TableAlias(
        this=exp.to_identifier(table, quoted=True),
        columns=columns or [exp.to_identifier(name, quoted=True)],
    )


def _explode_list(values: exp.Expr, alias: exp.Expr | None, name: str) -> exp.Expr:
    """Return a source with the elements of a list as rows of one column."""
    rows, names = fill_template("explode(_0)", [values]), _build_alias(alias, name)
    if values.find(exp.Column, exp.Query) is None:
        return exp.Table(this=rows, alias=names)
    return exp.Lateral(this=rows, alias=names)


def _translate_unnest(source: exp.Expr) -> exp.Expr:
    if source.args.get("offset"):
        raise unsupported("WITH ORDINALITY")
    if len(source.expressions) != 1:
        raise unsupported("unnest of several lists in FROM")
    return _explode_list(source.expressions[0], source.args.get("alias"), "unnest")


def _translate_function(source: exp.Table) -> exp.Expr:
    name = source.this.name.lower()
    if name not in _RANGES:
        raise unsupported(f"The table function {source.this.name}")
    arguments, alias = source.this.expressions, source.args.get("alias")
    if name == "range" and all(_is_integer(one) for one in arguments):
        return _build_spark_range(arguments, alias)
    return _explode_list(duckdb_call(name, *arguments), alias, name)


def _is_integer(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal) and inner.is_int


def _build_spark_range(arguments: list[exp.Expr], alias: exp.Expr | None) -> exp.Expr:
    """Return the Spark function range, which generates its numbers lazily."""
    bounds = arguments if len(arguments) > 1 else [exp.Literal.number(0), *arguments]
    return exp.Table(this=fill_template("range(_all)", bounds), alias=_build_alias(alias, "range"))


def _translate_values(source: exp.Expr) -> exp.Expr:
    """Name the columns of VALUES col0, col1… where the alias does not name them."""
    values = source if isinstance(source, exp.Values) else source.this
    alias = source.args.get("alias")
    if alias is None:
        alias = exp.TableAlias(this=exp.to_identifier("valueslist"))
    given = alias.args.get("columns") or []
    width = len(values.expressions[0].expressions)
    others = [exp.to_identifier(f"col{number}") for number in range(len(given), width)]
    alias.set("columns", [*given, *others])
    return exp.Subquery(this=exp.Values(expressions=values.expressions), alias=alias)
