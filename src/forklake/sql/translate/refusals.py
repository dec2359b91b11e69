"""Refusal of DuckDB constructs that Spark does not have with the same meaning."""

from __future__ import annotations

from sqlglot import exp

from forklake.errors import Unsupported
from forklake.sql.translate.relations import list_sources

# All nodes that a translated query may consist of. All others are refused, since Spark could give
# them another meaning.
_KNOWN_NODES: frozenset[type[exp.Expr]] = frozenset(
    {
        *(exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Values, exp.Subquery),
        *(exp.With, exp.CTE, exp.From, exp.Join, exp.Lateral, exp.Table, exp.TableAlias),
        *(exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered),
        *(exp.Cube, exp.Rollup, exp.GroupingSets, exp.Limit, exp.Offset, exp.Distinct),
        *(exp.Alias, exp.Star, exp.Column, exp.Identifier, exp.Var, exp.Dot, exp.Paren),
        *(exp.Literal, exp.ByteString, exp.Boolean, exp.Null, exp.Interval, exp.Tuple),
        *(exp.Struct, exp.PropertyEQ, exp.Bracket, exp.Lambda, exp.Transform),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg),
        *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot),
        *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
        *(exp.And, exp.Or, exp.Not, exp.Is, exp.Between, exp.In, exp.Exists),
        *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Like, exp.ILike, exp.Escape, exp.Case, exp.If),
        *(exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.ColumnDef),
        *(exp.Anonymous, exp.Filter, exp.Window, exp.WindowSpec),
        *(exp.IgnoreNulls, exp.RespectNulls),
    }
)


def unsupported(construct: str, remedy: str = "") -> Unsupported:
    """Return the error for a construct that is not supported."""
    return Unsupported(
        f"{construct} is not supported in the DuckDB dialect.",
        remedy=remedy or "Write it in another way, or in Spark SQL with dialect='spark'.",
        construct=construct,
    )


def refuse_unknown(tree: exp.Expr) -> exp.Expr:
    """Raise Unsupported if a query contains a node that is not known to be safe."""
    for node in tree.walk():
        if type(node) not in _KNOWN_NODES:
            raise unsupported(f"{type(node).__name__}, {node.sql(dialect='duckdb')},")
    return tree


def refuse_distant_columns(tree: exp.Expr) -> exp.Expr:
    """Raise Unsupported if a subquery refers to a column two query levels further out."""
    for column in tree.find_all(exp.Column):
        if column.table and _count_levels(column) > 1:
            raise unsupported(
                f"{column.sql(dialect='duckdb')}, a column of a query two levels further out,",
                remedy="Join the table of that column in the subquery between.",
            )
    return tree


def _count_levels(column: exp.Column) -> int:
    """Return how many query levels are between a column and the FROM with its table."""
    wanted, levels = column.table.lower(), 0
    place: exp.Expr = column
    while (parent := place.parent) is not None:
        if isinstance(parent, exp.Select):
            if wanted in {one.alias_or_name.lower() for one in list_sources(parent)}:
                return levels
            holder = parent.parent
            while isinstance(holder, exp.Subquery | exp.SetOperation):
                holder = holder.parent
            levels += not isinstance(holder, exp.From | exp.Join | exp.CTE)
        place = parent
    return 0
