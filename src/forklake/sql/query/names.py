"""The names of tables and columns in a query: which there are, and how they are replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from forklake.model.names import folded
from forklake.spark.reading.scan import VIRTUAL

_WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class Written:
    """A table as the query names it: its parts, and the name by which columns are qualified."""

    parts: tuple[str, ...]
    alias: str

    @classmethod
    def of(cls, table: exp.Table) -> Written:
        """What a query says."""
        parts = tuple(part.name for part in table.parts)
        return cls(parts, table.alias or parts[-1])


# Tables


def tables(node: exp.Expr) -> list[exp.Table]:
    """The tables and table functions of a query, without names that WITH defines."""
    return [table for table in node.find_all(exp.Table) if not _is_defined(table)]


def _is_defined(table: exp.Table) -> bool:
    """Whether WITH, here or around the place, defines this name."""
    if table.db or isinstance(table.this, exp.Func):
        return False
    inside: exp.Expr = table
    while (outside := inside.parent) is not None:
        if isinstance(outside, exp.With):
            seen = _before(outside, inside)
        else:
            # The body sees all names, and a definition is no body.
            defined = outside.args.get("with_")
            seen = defined.expressions if defined is not None and defined is not inside else []
        if any(folded(one.alias) == folded(table.name) for one in seen):
            return True
        inside = outside
    return False


def _before(defined: exp.With, place: exp.Expr) -> list[exp.Expr]:
    """The definitions that one of them may use."""
    listed: list[exp.Expr] = defined.expressions
    at = next(number for number, one in enumerate(listed) if one is place)
    return listed[: at + 1] if defined.recursive else listed[:at]


def rename(table: exp.Table, name: str, written: Written) -> None:
    """Put a name in the place of a table; columns stay qualified by the one that was written."""
    columns = table.args["alias"].args.get("columns") if table.args.get("alias") else None
    table.set("this", exp.to_identifier(name))
    table.set("db", None)
    table.set("catalog", None)
    identifier = exp.to_identifier(written.alias, quoted=True)
    table.set("alias", exp.TableAlias(this=identifier, columns=columns))
    table.meta[_WRITTEN] = tuple(folded(part) for part in written.parts)


def shorten_columns(node: exp.Expr, target: Written | None = None) -> None:
    """Columns by the whole name of their table, `lake.main.t.x`, become `t.x`."""
    known = {table.meta[_WRITTEN] for table in node.find_all(exp.Table) if _WRITTEN in table.meta}
    if target is not None:
        known.add(tuple(folded(part) for part in target.parts))
    endings = {parts[at:] for parts in known for at in range(len(parts))}
    for column in node.find_all(exp.Column):
        qualifier = tuple(folded(part.name) for part in column.parts[:-1])
        if len(qualifier) > 1 and qualifier in endings:
            column.set("db", None)
            column.set("catalog", None)


# Virtual columns


@dataclass(frozen=True, slots=True)
class VirtualColumns:
    """The virtual columns that a query may mean, with what they are qualified by."""

    found: frozenset[tuple[str, str]]

    def of(self, written: Written) -> tuple[str, ...]:
        """Those that a table may be asked for."""
        own = {"", folded(written.alias)}
        return tuple(sorted({name for qualifier, name in self.found if qualifier in own}))


def virtual_columns(node: exp.Expr) -> VirtualColumns:
    """What a query says of virtual columns."""
    return VirtualColumns(
        frozenset(
            (folded(column.table), folded(column.name))
            for column in node.find_all(exp.Column)
            if folded(column.name) in VIRTUAL
        )
    )


def hide(node: exp.Expr, virtual: Mapping[str, Sequence[str]]) -> None:
    """Leave the virtual columns of tables, by their name, out of every `*`."""
    for star in node.find_all(exp.Star):
        select = star.find_ancestor(exp.Select)
        if select is None or not isinstance(star.parent, exp.Select | exp.Column):
            continue
        asked = {name for source in _sources(select) for name in virtual.get(source.name, ())}
        if asked:
            kept = star.args.get("except_") or []
            star.set("except_", [*kept, *(exp.to_identifier(name) for name in sorted(asked))])


def _sources(select: exp.Select) -> Iterator[exp.Table]:
    froms = [select.args.get("from_"), *(select.args.get("joins") or [])]
    for one in froms:
        if one is not None and isinstance(one.this, exp.Table):
            yield one.this
            for join in one.this.args.get("joins") or []:
                if isinstance(join.this, exp.Table):
                    yield join.this
