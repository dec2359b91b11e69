"""Names of tables and columns in a query, and their replacement by registered names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from forklake.engines.virtual_columns import VIRTUAL
from forklake.model.names import folded

_NAME_PARTS = "name_parts"


@dataclass(frozen=True, slots=True)
class TableReference:
    """Table as a query names it: its name parts, and the name that qualifies its columns."""

    parts: tuple[str, ...]
    alias: str

    @classmethod
    def from_table(cls, table: exp.Table) -> TableReference:
        """Return the names of a table in a query."""
        parts = tuple(part.name for part in table.parts)
        return cls(parts, table.alias or parts[-1])


# Tables


def find_tables_and_functions(node: exp.Expr) -> list[exp.Table]:
    """Return the tables and table functions of a query, without names that WITH defines."""
    return [table for table in node.find_all(exp.Table) if not _is_with_name(table)]


def _is_with_name(table: exp.Table) -> bool:
    """Return whether a WITH of this query or of one around it defines the name of a table."""
    if table.db or isinstance(table.this, exp.Func):
        return False
    inside: exp.Expr = table
    while (outside := inside.parent) is not None:
        if isinstance(outside, exp.With):
            definitions = _visible_definitions(outside, inside)
        else:
            # A body can use all names of its WITH; a definition only earlier ones (see above).
            with_clause = outside.args.get("with_")
            definitions = (
                with_clause.expressions
                if with_clause is not None and with_clause is not inside
                else []
            )
        if any(folded(one.alias) == folded(table.name) for one in definitions):
            return True
        inside = outside
    return False


def _visible_definitions(with_clause: exp.With, definition: exp.Expr) -> list[exp.Expr]:
    """Return the definitions of a WITH that the definition `place` can refer to."""
    definitions: list[exp.Expr] = with_clause.expressions
    at = next(number for number, one in enumerate(definitions) if one is definition)
    return definitions[: at + 1] if with_clause.recursive else definitions[:at]


def replace_table(table: exp.Table, name: str, reference: TableReference) -> None:
    """Replace a table by a registered name; its columns keep the qualifier that was written."""
    columns = table.args["alias"].args.get("columns") if table.args.get("alias") else None
    table.set("this", exp.to_identifier(name))
    table.set("db", None)
    table.set("catalog", None)
    identifier = exp.to_identifier(reference.alias, quoted=True)
    table.set("alias", exp.TableAlias(this=identifier, columns=columns))
    table.meta[_NAME_PARTS] = tuple(folded(part) for part in reference.parts)


def shorten_columns(node: exp.Expr, target: TableReference | None = None) -> None:
    """Shorten qualified columns: `lake.main.t.x` becomes `t.x`."""
    references = {
        table.meta[_NAME_PARTS] for table in node.find_all(exp.Table) if _NAME_PARTS in table.meta
    }
    if target is not None:
        references.add(tuple(folded(part) for part in target.parts))
    endings = {parts[at:] for parts in references for at in range(len(parts))}
    for column in node.find_all(exp.Column):
        qualifier = tuple(folded(part.name) for part in column.parts[:-1])
        if len(qualifier) > 1 and qualifier in endings:
            column.set("db", None)
            column.set("catalog", None)


# Virtual columns


@dataclass(frozen=True, slots=True)
class VirtualColumns:
    """Names of virtual columns in a query, with their qualifiers."""

    names: frozenset[tuple[str, str]]

    def of_table(self, reference: TableReference) -> tuple[str, ...]:
        """Return the virtual columns that may refer to a table."""
        qualifiers = {"", folded(reference.alias)}
        return tuple(sorted({name for qualifier, name in self.names if qualifier in qualifiers}))


def find_virtual_columns(node: exp.Expr) -> VirtualColumns:
    """Return the columns of a query whose names are those of virtual columns."""
    return VirtualColumns(
        frozenset(
            (folded(column.table), folded(column.name))
            for column in node.find_all(exp.Column)
            if folded(column.name) in VIRTUAL
        )
    )


def hide_virtual_columns(node: exp.Expr, virtual: Mapping[str, Sequence[str]]) -> None:
    """Exclude virtual columns from every `*`. `virtual` lists them by registered table name."""
    for star in node.find_all(exp.Star):
        select = star.find_ancestor(exp.Select)
        if select is None or not isinstance(star.parent, exp.Select | exp.Column):
            continue
        hidden = {name for source in _find_sources(select) for name in virtual.get(source.name, ())}
        if hidden:
            excluded = star.args.get("except_") or []
            star.set("except_", [*excluded, *(exp.to_identifier(name) for name in sorted(hidden))])


def _find_sources(select: exp.Select) -> Iterator[exp.Table]:
    froms = [select.args.get("from_"), *(select.args.get("joins") or [])]
    for one in froms:
        if one is not None and isinstance(one.this, exp.Table):
            yield one.this
            for join in one.this.args.get("joins") or []:
                if isinstance(join.this, exp.Table):
                    yield join.this
