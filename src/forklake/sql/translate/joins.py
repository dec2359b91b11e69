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
    name_sources,
    parenthesized,
    select_all,
    sources,
)
from forklake.sql.translate.trees import aliased, named

_LEFT_ONLY = ("SEMI", "ANTI")


@dataclass(frozen=True, slots=True)
class Shown:
    """Column of FROM: its name, the expression that it stands for, and its source."""

    name: str
    value: exp.Expr
    source: str
    is_merged: bool = False  # by USING or NATURAL, from columns of two sources

    def output(self) -> exp.Expr:
        """Return the column as an expression in the list of a SELECT."""
        is_plain = isinstance(self.value, exp.Column) and self.value.name == self.name
        return self.value.copy() if is_plain else aliased(self.value.copy(), self.name)


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
    columns: ColumnsOf
    order: list[exp.Expr] = field(default_factory=list)
    merged: dict[str, list[tuple[int, Shown]]] = field(default_factory=dict)

    def shown(self) -> list[Shown]:
        """Return the columns of `*`. Replaces USING and NATURAL of joins by ON conditions."""
        origin = self.select.args.get("from_")
        if origin is None:
            return []
        name_sources(self.select)
        return self._list_columns(origin.this, self.select.args.get("joins") or [])

    def of_source(self, name: str) -> list[Shown]:
        """Return the columns of one source."""
        name_sources(self.select)
        for one in sources(self.select):
            if one.alias_or_name.lower() == name.lower():
                return self._own(one)
        raise NotFound(
            f"FROM has no source '{name}' to expand '{name}.*'.",
            remedy="Use the name or alias of a source in FROM.",
        )

    def value(self, column: exp.Expr) -> Shown | None:
        """Return what a merged column stands for at its position: ON only sees earlier joins."""
        last = len(self.order)
        place: exp.Expr | None = column
        while place is not None and place is not self.select:
            if place.arg_key == "on" and any(place.parent is one for one in self.order):
                last = next(n for n, one in enumerate(self.order) if one is place.parent)
            place = place.parent
        known = [one for number, one in self.merged[column.name.lower()] if number <= last]
        return known[-1] if known else None

    def _list_columns(self, start: exp.Expr, joins: Sequence[exp.Expr]) -> list[Shown]:
        return self._add_joins(self._of(start), joins)

    def _add_joins(self, found: list[Shown], joins: Sequence[exp.Expr]) -> list[Shown]:
        for join in joins:
            right = self._of(join.this)
            self.order.append(join)
            shared = self._shared(join, found, right)
            word = str(join.args.get("side") or join.args.get("kind") or "").upper()
            if shared:
                pairs = [
                    (_only(found, name, "left"), _only(right, name, "right")) for name in shared
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
                found = [
                    merged.get(one.name.lower(), one) if _is_one(one, pairs) else one
                    for one in found
                ]
                right = [one for one in right if one.name.lower() not in merged]
            found = [*found, *right]
        return found

    def _of(self, source: exp.Expr) -> list[Shown]:
        """Return the columns of a source, including joins inside of its parentheses."""
        inner = parenthesized(source)
        if inner is not None:
            return self._list_columns(inner, [])
        return self._add_joins(self._own(source), source.args.get("joins") or [])

    def _own(self, source: exp.Expr) -> list[Shown]:
        qualifier = source.alias_or_name
        return [
            Shown(name, named(name, qualifier), qualifier)
            for name in self.columns(self._probe(source))
        ]

    def _probe(self, source: exp.Expr) -> exp.Expr:
        """Return a query for the columns of a source, after the sources that it may refer to."""
        if isinstance(source, exp.Table) or not source.find(exp.Column):
            bare = source.copy()
            bare.set("joins", None)
            return select_all(bare, self.select)
        before: list[exp.Expr] = []
        for one in sources(self.select):
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

    def _shared(self, join: exp.Expr, left: list[Shown], right: list[Shown]) -> list[str]:
        if str(join.args.get("method") or "").upper() != "NATURAL":
            return [one.name for one in join.args.get("using") or []]
        known = {one.name.lower() for one in left}
        shared = [one.name for one in right if one.name.lower() in known]
        if not shared:
            raise InvalidInput(
                "A NATURAL JOIN has no columns in common.",
                remedy="Use CROSS JOIN to combine all rows.",
            )
        return shared


def _only(shown: Sequence[Shown], name: str, side: str) -> Shown:
    found = [one for one in shown if one.name.lower() == name.lower()]
    if len(found) > 1 and any(one.is_merged for one in found):
        found = [one for one in found if one.is_merged]
    if not found:
        raise NotFound(
            f"The column '{name}' of USING does not exist on the {side} side of the join.",
            remedy="The columns are: " + ", ".join(one.name for one in shown) + ".",
        )
    if len(found) > 1:
        raise InvalidInput(
            f"The column '{name}' of USING exists more than once on the {side} side of the join.",
            remedy="Join with ON, and qualify the column.",
        )
    return found[0]


def _is_one(column: Shown, pairs: Sequence[tuple[Shown, Shown]]) -> bool:
    return any(column is one for one, _ in pairs)


def _merge_columns(left: Shown, right: Shown, word: str) -> Shown:
    match word:
        case "RIGHT":
            value = right.value
        case "FULL":
            value = exp.Anonymous(
                this="coalesce", expressions=[left.value.copy(), right.value.copy()]
            )
        case _:
            value = left.value
    return Shown(left.name, value, left.source, is_merged=True)


# Merged columns


def resolve_joins(select: exp.Select, columns: ColumnsOf) -> list[Shown] | None:
    """Replace USING and NATURAL by ON conditions, and return the columns of `*`.

    Returns None for a SELECT without such joins, which is not changed.
    """
    if not any(is_by_name(join) for join in _joins(select)):
        return None
    found = JoinColumns(select, columns)
    shown = found.shown()
    for column in list(_unqualified(select, found.merged)):
        if (value := found.value(column)) is not None:
            _replace(column, value, select, columns)
    return shown


def _joins(select: exp.Select) -> Iterator[exp.Expr]:
    yield from select.args.get("joins") or []
    origin = select.args.get("from_")
    for one in [origin, *sources(select)] if origin is not None else []:
        yield from one.args.get("joins") or []


def is_by_name(join: exp.Expr) -> bool:
    """Return whether a join has USING or is NATURAL."""
    return bool(join.args.get("using")) or str(join.args.get("method") or "").upper() == "NATURAL"


def _unqualified(select: exp.Select, names: Collection[str]) -> Iterator[exp.Column]:
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


def _replace(column: exp.Column, shown: Shown, select: exp.Select, columns: ColumnsOf) -> None:
    inner = column.find_ancestor(exp.Select)
    while inner is not None and inner is not select:
        if _provides(inner, column.name, columns):
            return
        inner = inner.find_ancestor(exp.Select)
    above = column.parent
    is_output = above is select and column.arg_key == "expressions"
    is_ordered = isinstance(above, exp.Ordered) and above.parent is select.args.get("order")
    if is_ordered and not _has_distinct_on(select):
        outputs = {one.alias_or_name.lower() for one in select.expressions}
        if column.name.lower() in outputs:
            return
    column.replace(aliased(shown.value.copy(), shown.name) if is_output else shown.value.copy())


def _has_distinct_on(select: exp.Expr) -> bool:
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def _provides(select: exp.Expr, name: str, columns: ColumnsOf) -> bool:
    """Return whether a name inside of a query is an alias or a source column of that query."""
    aliases = [one.alias.lower() for one in select.expressions if isinstance(one, exp.Alias)]
    if name.lower() in aliases:
        return True
    if select.args.get("from_") is None:
        return False
    probe = exp.Select(expressions=[exp.Star()], from_=select.args["from_"].copy())
    probe.set("joins", [one.copy() for one in select.args.get("joins") or []])
    probe.parent = select
    return name.lower() in {one.lower() for one in columns(probe)}
