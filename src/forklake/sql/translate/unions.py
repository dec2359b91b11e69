"""UNION BY NAME: columns are matched by name, and missing ones are NULL."""

from __future__ import annotations

from sqlglot import exp

from forklake.sql.translate.relations import ColumnsOf
from forklake.sql.translate.trees import quoted_alias, quoted_column


def match_names(tree: exp.Expr, columns_of: ColumnsOf) -> exp.Expr:
    """Give both sides of UNION BY NAME the same columns in the same order."""
    for union in reversed(list(tree.find_all(exp.SetOperation))):
        if not union.args.get("by_name"):
            continue
        left, right = columns_of(union.this), columns_of(union.expression)
        known = {name.lower() for name in left}
        names = [*left, *(name for name in right if name.lower() not in known)]
        union.set("this", _fill_columns(union.this, left, names))
        union.set("expression", _fill_columns(union.expression, right, names))
        union.set("by_name", False)
    return tree


def _fill_columns(query: exp.Expr, own: list[str], names: list[str]) -> exp.Select:
    have = {name.lower() for name in own}
    columns = [
        quoted_column(name) if name.lower() in have else quoted_alias(exp.Null(), name)
        for name in names
    ]
    source = exp.Subquery(
        this=query.unnest().copy(), alias=exp.TableAlias(this=exp.to_identifier("_side"))
    )
    return exp.Select(expressions=columns, from_=exp.From(this=source))
