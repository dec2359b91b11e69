"""Relations in FROM and WITH: their names, and unique names for their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from forklake.errors import InvalidInput

ColumnsOf = Callable[[exp.Expr], list[str]]


def make_names_unique(names: Sequence[str]) -> list[str]:
    """Make names unique as DuckDB does: `a`, `a_1`, `a_2`."""
    taken: set[str] = set()
    result = []
    for name in names:
        number, unique = 0, name
        while unique.lower() in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique.lower())
        result.append(unique)
    return result


def list_sources(select: exp.Expr) -> list[exp.Expr]:
    """Return the relations in FROM in order, including those inside of parentheses."""
    origin = select.args.get("from_")
    return [] if origin is None else list(_list_leaves(origin.this, select.args.get("joins")))


def _list_leaves(start: exp.Expr, joins: Sequence[exp.Expr] | None) -> Iterator[exp.Expr]:
    for one in [start, *(join.this for join in joins or [])]:
        inner = find_parenthesized(one)
        if inner is not None:
            yield from _list_leaves(inner, None)
            continue
        yield one
        for join in one.args.get("joins") or []:
            yield from _list_leaves(join.this, None)


def find_parenthesized(source: exp.Expr) -> exp.Expr | None:
    """Return the first source of a join in parentheses without an alias, else None."""
    is_join = isinstance(source, exp.Subquery | exp.Paren) and not source.args.get("alias")
    inner = source.this if is_join else None
    return inner if isinstance(inner, exp.Table | exp.Subquery | exp.Paren) else None


def name_sources(select: exp.Expr) -> None:
    """Give an alias to every source without a name."""
    taken = {one.alias_or_name.lower() for one in list_sources(select)}
    for one in list_sources(select):
        if one.alias_or_name:
            continue
        base = "unnest" if isinstance(one, exp.Unnest) else "unnamed_subquery"
        name = make_names_unique([*sorted(taken), base])[-1]
        taken.add(name.lower())
        alias = one.args.get("alias") or exp.TableAlias()
        alias.set("this", exp.to_identifier(name, quoted=True))
        one.set("alias", alias)


def make_columns_unique(tree: exp.Expr, columns_of: ColumnsOf) -> None:
    """Give unique names to the columns of queries in FROM and WITH, and to listed columns."""
    for one in reversed(list(tree.find_all(exp.Subquery, exp.CTE, exp.Table))):
        alias = one.args.get("alias")
        given = alias.args.get("columns") if alias is not None else None
        if isinstance(one, exp.Table) and (not given or isinstance(one.this, exp.Func)):
            continue
        if isinstance(one, exp.Subquery) and not isinstance(one.parent, _FROM):
            continue
        query = one if isinstance(one, exp.Table) else one.this
        if isinstance(query, exp.Values) or not (given or _may_have_duplicates(query)):
            continue
        if isinstance(one, exp.CTE) and _is_recursive(one):
            continue
        if isinstance(one.parent, exp.Lateral):
            continue
        _name_all_columns(one, query, columns_of)


_FROM = (exp.From, exp.Join, exp.Lateral)


def _is_recursive(table: exp.Expr) -> bool:
    parent = table.parent
    return parent is not None and bool(parent.args.get("recursive"))


def _may_have_duplicates(query: exp.Expr) -> bool:
    """Return whether two columns of a query could have the same name."""
    first = query.unnest()
    while isinstance(first, exp.SetOperation):
        first = first.this.unnest()
    if not isinstance(first, exp.Select):
        return False
    has_star = any(one.is_star or _has_columns_call(one) for one in first.expressions)
    if has_star and (len(first.expressions) > 1 or len(list_sources(first)) > 1):
        return True
    names = [one.alias_or_name.lower() for one in first.expressions if one.alias_or_name]
    return len(set(names)) < len(names)


def _has_columns_call(node: exp.Expr) -> bool:
    return any(one.name.lower() == "columns" for one in node.find_all(exp.Anonymous))


def _name_all_columns(source: exp.Expr, query: exp.Expr, columns_of: ColumnsOf) -> None:
    """List the names of all columns in the alias of a source, unless it has them already."""
    alias = source.args.get("alias")
    given = [one.name for one in (alias.args.get("columns") or [])] if alias is not None else []
    if isinstance(query, exp.Table):
        bare = query.copy()
        bare.set("alias", None)
        query = select_all(bare, source)
    own = columns_of(query)
    if len(given) > len(own):
        raise InvalidInput(
            f"The alias '{source.alias_or_name}' names {len(given)} columns, but the source has"
            f" {len(own)}.",
            remedy="Name at most as many columns as the source has.",
        )
    names = make_names_unique([*given, *own[len(given) :]])
    if names == (given or own):
        return
    if alias is None:
        alias = exp.TableAlias(this=exp.to_identifier("unnamed_subquery", quoted=True))
        source.set("alias", alias)
    alias.set("columns", [exp.to_identifier(name, quoted=True) for name in names])


def select_all(source: exp.Expr, place: exp.Expr) -> exp.Select:
    """Return a query for all columns of a source, at the position of a part of another query."""
    query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=source))
    query.parent = place
    return query
