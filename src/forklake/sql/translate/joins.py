"""Columns of FROM as DuckDB has them, for joins with USING, NATURAL, and equal names.

Spark puts the columns of USING first, and cannot resolve them in some clauses. So USING and NATURAL
are replaced by ON conditions, and each merged column by an expression of both sides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from forklake.errors import InvalidInput, NotFound
from forklake.sql.translate.relations import (
    ColumnsOf,
    find_parenthesized,
    list_sources,
    name_sources,
    select_all,
)
from forklake.sql.translate.trees import quoted_alias, quoted_column

_LEFT_ONLY = ("SEMI", "ANTI")


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """Column of FROM: its name, the expression that it stands for, and its source."""

    name: str
    value: exp.Expr
    source: str
    is_merged: bool = False  # by USING or NATURAL, from columns of two sources

    def to_select_item(self) -> exp.Expr:
        """Return the column as an expression in the list of a SELECT."""
        is_plain = isinstance(self.value, exp.Column) and self.value.name == self.name
        return self.value.copy() if is_plain else quoted_alias(self.value.copy(), self.name)


def group_commas(tree: exp.Expr) -> None:
    """Put joins after a comma in parentheses where needed: in DuckDB they bind more tightly.

    In `FROM a, b FULL JOIN c ON …` Spark would join `a` with `b` first.
    """
    for select in tree.find_all(exp.Select):
        groups: list[list[exp.Expr]] = [[]]
        for join in select.args.get("joins") or []:
            if _is_comma(join):
                groups.append([])
            groups[-1].append(join)
        first, *others = groups
        if any(map(_binds_first, others)):
            select.set("joins", [*first, *(one for group in others for one in _group_joins(group))])


def _is_comma(join: exp.Expr) -> bool:
    return not any(join.args.get(name) for name in ("kind", "side", "method", "on", "using"))


def _binds_first(group: Sequence[exp.Expr]) -> bool:
    return any(join.args.get("side") in ("RIGHT", "FULL") or is_by_name(join) for join in group)


def _group_joins(group: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    if not _binds_first(group):
        return group
    start, *joins = group
    source = start.this
    source.set("joins", [*(source.args.get("joins") or []), *joins])
    return [exp.Join(this=exp.Subquery(this=source))]


@dataclass
class JoinColumns:
    """Columns of the FROM of one SELECT, and the columns that each join has merged."""

    select: exp.Select
    columns_of: ColumnsOf
    order: list[exp.Expr] = field(default_factory=list)
    merged: dict[str, list[tuple[int, SourceColumn]]] = field(default_factory=dict)

    def resolve(self) -> list[SourceColumn]:
        """Return the columns of `*`. Replaces USING and NATURAL of joins by ON conditions."""
        origin = self.select.args.get("from_")
        if origin is None:
            return []
        name_sources(self.select)
        return self._list_columns(origin.this, self.select.args.get("joins") or [])

    def list_source_columns(self, name: str) -> list[SourceColumn]:
        """Return the columns of one source."""
        name_sources(self.select)
        for one in list_sources(self.select):
            if one.alias_or_name.lower() == name.lower():
                return self._list_own_columns(one)
        raise NotFound(
            f"FROM has no source '{name}' to expand '{name}.*'.",
            remedy="Use the name or alias of a source in FROM.",
        )

    def find_merged_column(self, column: exp.Expr) -> SourceColumn | None:
        """Return what a merged column stands for at its position: ON only sees earlier joins."""
        last = len(self.order)
        place: exp.Expr | None = column
        while place is not None and place is not self.select:
            if place.arg_key == "on" and any(place.parent is one for one in self.order):
                last = next(number for number, one in enumerate(self.order) if one is place.parent)
            place = place.parent
        merged = [one for number, one in self.merged[column.name.lower()] if number <= last]
        return merged[-1] if merged else None

    def _list_columns(self, start: exp.Expr, joins: Sequence[exp.Expr]) -> list[SourceColumn]:
        return self._add_joins(self._list_source_with_joins(start), joins)

    def _add_joins(
        self, columns: list[SourceColumn], joins: Sequence[exp.Expr]
    ) -> list[SourceColumn]:
        for join in joins:
            right = self._list_source_with_joins(join.this)
            self.order.append(join)
            shared = self._find_shared_names(join, columns, right)
            word = str(join.args.get("side") or join.args.get("kind") or "").upper()
            if shared:
                pairs = [
                    (_find_only(columns, name, "left"), _find_only(right, name, "right"))
                    for name in shared
                ]
                equal = [one.value.copy().eq(other.value.copy()) for one, other in pairs]
                join.set("on", exp.and_(*equal))
                join.set("using", None)
                join.set("method", None)
            if str(join.args.get("kind") or "").upper() in _LEFT_ONLY:
                continue
            if shared:
                merged = {
                    one.name.lower(): _merge_columns(one, other, word) for one, other in pairs
                }
                for name, one in merged.items():
                    self.merged.setdefault(name, []).append((len(self.order), one))
                columns = [
                    merged.get(one.name.lower(), one) if _is_paired(one, pairs) else one
                    for one in columns
                ]
                right = [one for one in right if one.name.lower() not in merged]
            columns = [*columns, *right]
        return columns

    def _list_source_with_joins(self, source: exp.Expr) -> list[SourceColumn]:
        """Return the columns of a source, including joins inside of its parentheses."""
        inner = find_parenthesized(source)
        if inner is not None:
            return self._list_columns(inner, [])
        return self._add_joins(self._list_own_columns(source), source.args.get("joins") or [])

    def _list_own_columns(self, source: exp.Expr) -> list[SourceColumn]:
        qualifier = source.alias_or_name
        return [
            SourceColumn(name, quoted_column(name, qualifier), qualifier)
            for name in self.columns_of(self._build_probe(source))
        ]

    def _build_probe(self, source: exp.Expr) -> exp.Expr:
        """Return a query for the columns of a source, after the sources that it may refer to."""
        if isinstance(source, exp.Table) or not source.find(exp.Column):
            bare = source.copy()
            bare.set("joins", None)
            return select_all(bare, self.select)
        before: list[exp.Expr] = []
        for one in list_sources(self.select):
            bare = one.copy()
            bare.set("joins", None)
            before.append(bare)
            if one is source:
                break
        star = exp.Column(
            this=exp.Star(), table=exp.to_identifier(source.alias_or_name, quoted=True)
        )
        probe = select_all(before[0], self.select)
        probe.set("expressions", [star])
        probe.set("joins", [exp.Join(this=one, kind="CROSS") for one in before[1:]])
        return probe

    def _find_shared_names(
        self, join: exp.Expr, left: list[SourceColumn], right: list[SourceColumn]
    ) -> list[str]:
        if str(join.args.get("method") or "").upper() != "NATURAL":
            return [one.name for one in join.args.get("using") or []]
        left_names = {one.name.lower() for one in left}
        shared = [one.name for one in right if one.name.lower() in left_names]
        if not shared:
            raise InvalidInput(
                "A NATURAL JOIN has no columns in common.",
                remedy="Use CROSS JOIN to combine all rows.",
            )
        return shared


def _find_only(columns: Sequence[SourceColumn], name: str, side: str) -> SourceColumn:
    matches = [one for one in columns if one.name.lower() == name.lower()]
    if len(matches) > 1 and any(one.is_merged for one in matches):
        matches = [one for one in matches if one.is_merged]
    if not matches:
        raise NotFound(
            f"The column '{name}' of USING does not exist on the {side} side of the join.",
            remedy="The columns are: " + ", ".join(one.name for one in columns) + ".",
        )
    if len(matches) > 1:
        raise InvalidInput(
            f"The column '{name}' of USING exists more than once on the {side} side of the join.",
            remedy="Join with ON, and qualify the column.",
        )
    return matches[0]


def _is_paired(column: SourceColumn, pairs: Sequence[tuple[SourceColumn, SourceColumn]]) -> bool:
    return any(column is one for one, _ in pairs)


def _merge_columns(left: SourceColumn, right: SourceColumn, word: str) -> SourceColumn:
    match word:
        case "RIGHT":
            value = right.value
        case "FULL":
            value = exp.Anonymous(
                this="coalesce", expressions=[left.value.copy(), right.value.copy()]
            )
        case _:
            value = left.value
    return SourceColumn(left.name, value, left.source, is_merged=True)


# Merged columns


def resolve_joins(select: exp.Select, columns_of: ColumnsOf) -> list[SourceColumn] | None:
    """Replace USING and NATURAL by ON conditions, and return the columns of `*`.

    Returns None for a SELECT without such joins, which is not changed.
    """
    if not any(is_by_name(join) for join in _find_joins(select)):
        return None
    join_columns = JoinColumns(select, columns_of)
    all_columns = join_columns.resolve()
    for column in list(_find_unqualified(select, join_columns.merged)):
        if (merged := join_columns.find_merged_column(column)) is not None:
            _replace_merged(column, merged, select, columns_of)
    return all_columns


def _find_joins(select: exp.Select) -> Iterator[exp.Expr]:
    yield from select.args.get("joins") or []
    origin = select.args.get("from_")
    for one in [origin, *list_sources(select)] if origin is not None else []:
        yield from one.args.get("joins") or []


def is_by_name(join: exp.Expr) -> bool:
    """Return whether a join has USING or is NATURAL."""
    return bool(join.args.get("using")) or str(join.args.get("method") or "").upper() == "NATURAL"


def _find_unqualified(select: exp.Select, names: Collection[str]) -> Iterator[exp.Column]:
    with_ = select.args.get("with_")
    for one in select.find_all(exp.Column):
        is_candidate = not one.table and one.name.lower() in names
        is_left_out = isinstance(one.parent, exp.Star)  # an EXCLUDE of this star
        is_renamed = isinstance(one.parent, exp.Alias) and one.parent.arg_key == "rename"
        if is_candidate and not (is_left_out or is_renamed or _is_below(one, with_)):
            yield one


def _is_below(node: exp.Expr, above: exp.Expr | None) -> bool:
    place: exp.Expr | None = node
    while place is not None:
        if place is above:
            return True
        place = place.parent
    return False


def _replace_merged(
    column: exp.Column, merged: SourceColumn, select: exp.Select, columns_of: ColumnsOf
) -> None:
    inner = column.find_ancestor(exp.Select)
    while inner is not None and inner is not select:
        if _provides_name(inner, column.name, columns_of):
            return
        inner = inner.find_ancestor(exp.Select)
    parent = column.parent
    is_output = parent is select and column.arg_key == "expressions"
    is_ordered = isinstance(parent, exp.Ordered) and parent.parent is select.args.get("order")
    if is_ordered and not _has_distinct_on(select):
        outputs = {one.alias_or_name.lower() for one in select.expressions}
        if column.name.lower() in outputs:
            return
    column.replace(
        quoted_alias(merged.value.copy(), merged.name) if is_output else merged.value.copy()
    )


def _has_distinct_on(select: exp.Expr) -> bool:
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def _provides_name(select: exp.Expr, name: str, columns_of: ColumnsOf) -> bool:
    """Return whether a name inside of a query is an alias or a source column of that query."""
    aliases = [one.alias.lower() for one in select.expressions if isinstance(one, exp.Alias)]
    if name.lower() in aliases:
        return True
    if select.args.get("from_") is None:
        return False
    probe = exp.Select(expressions=[exp.Star()], from_=select.args["from_"].copy())
    probe.set("joins", [one.copy() for one in select.args.get("joins") or []])
    probe.parent = select
    return name.lower() in {one.lower() for one in columns_of(probe)}
