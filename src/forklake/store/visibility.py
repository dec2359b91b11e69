"""Visibility: the only module that defines which rows a catalog sees at a snapshot.

A row is visible to catalog C at snapshot N when it belongs to C or to an ancestor A of C, with
cap = min(N, the snapshot at which C's lineage was forked off from A):

    begin_snapshot <= cap AND (end_snapshot IS NULL OR end_snapshot > cap)

and no tombstone of a catalog in the lineage, itself within that catalog's cap, ends it. A tombstone
ends one row, or all inherited rows of a table; the latter only ends rows of catalogs further up the
lineage than the catalog that wrote it.

The statements take the parameters :catalog and :snapshot, and :scope when restricted to one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from forklake.model.ids import FOREVER
from forklake.model.kinds import ALL_CONTENT, ALL_FILES, DATA_FILE, DELETE_FILE, Kind
from forklake.store.database import Dialect

# A condition for `table_history`: rows that began or ended from :start to :snapshot.
CHANGED = "h.begin_snapshot >= :start OR h.seen_until >= :start"
# Kinds whose ids are never reused, so that tombstones need not compare the begin: the hot reads.
_SINGLE_VERSION = frozenset({DATA_FILE.code, DELETE_FILE.code})


def lineage_cte(dialect: Dialect) -> str:
    """Return the CTE of the catalogs in the lineage, each with the newest snapshot to read."""
    return (
        "lineage AS MATERIALIZED ("
        f"SELECT depth, ancestor_id, {dialect.least}(upto_snapshot, :snapshot) AS cap"
        " FROM ducklake_catalog_lineage WHERE catalog_id = :catalog)"
    )


def visible_rows(
    kind: Kind,
    dialect: Dialect,
    *,
    columns: Sequence[str] | None = None,
    scoped: bool = False,
    where: str = "",
    inherits: bool = True,
    table: str | None = None,
) -> str:
    """Return the SELECT of the visible rows of a kind, as `r`.

    Args:
        columns: which columns; all of the kind's by default.
        scoped: only rows of the table (or object) :scope.
        where: a further condition on `r`.
        inherits: False for a catalog known to have no ancestors: the lineage is not read.
        table: another table to read, with the columns of the kind's keys.
    """
    chosen = tuple(columns if columns is not None else kind.columns)
    return _text(kind, dialect, (chosen, scoped, where, inherits, table or kind.name))


@lru_cache(maxsize=1024)
def _text(kind: Kind, dialect: Dialect, shape: tuple[tuple[str, ...], bool, str, bool, str]) -> str:
    columns, scoped, where, inherits, table = shape
    conditions = [f"r.{kind.scope} = :scope"] if scoped else []
    conditions += [f"({where})"] if where else []
    chosen = ", ".join(f"r.{column}" for column in columns)
    if not inherits:
        own = " AND ".join(["r.catalog_id = :catalog", _within("r", ":snapshot"), *conditions])
        return f"SELECT {chosen} FROM {table} r WHERE {own}"
    conditions.append(_not_dead(kind))
    if kind.scope:
        conditions.append(_not_cut(kind, scoped))
    cuts = "" if scoped or not kind.scope else f", {_cuts_cte(kind)}"
    joined = (
        "" if scoped or not kind.scope else f" LEFT JOIN cuts ON cuts.table_id = r.{kind.scope}"
    )
    return (
        f"WITH {lineage_cte(dialect)}, {_dead_cte(kind, scoped)}{cuts}"
        f" SELECT {chosen} FROM lineage l"
        f" JOIN {table} r ON r.catalog_id = l.ancestor_id AND {_within('r', 'l.cap')}{joined}"
        f" WHERE {' AND '.join(conditions)}"
    )


def _within(row: str, cap: str) -> str:
    ended = f"{row}.end_snapshot"
    return f"{row}.begin_snapshot <= {cap} AND ({ended} IS NULL OR {ended} > {cap})"


def overlaps(row: str, since: str, until: str) -> str:
    """Return the condition that a row is valid at a snapshot of [since, until); NULL means open."""
    return (
        f"({row}.end_snapshot IS NULL OR {row}.end_snapshot > {since})"
        f" AND ({until} IS NULL OR {row}.begin_snapshot < {until})"
    )


def _key_columns(kind: Kind) -> list[tuple[str, str]]:
    """Return pairs of a tombstone's column and the row's column that must be equal."""
    pairs = [("entity_id", kind.entity), ("entity_key", kind.text)]
    found = [(tombstone, column) for tombstone, column in pairs if column]
    if kind.code in _SINGLE_VERSION:
        return found
    scope = [("table_id", kind.scope)] if kind.scope else []
    return [*scope, *found, ("begin_snapshot", "begin_snapshot")]


def _dead_cte(kind: Kind, scoped: bool) -> str:
    keys = ", ".join(f"t.{tombstone}" for tombstone, _ in _key_columns(kind))
    scope = " AND t.table_id = :scope" if scoped else ""
    return (
        f"dead AS MATERIALIZED (SELECT {keys} FROM lineage l JOIN ducklake_tombstone t"
        f" ON t.catalog_id = l.ancestor_id AND t.kind = {kind.code}"
        f" AND t.end_snapshot <= l.cap{scope})"
    )


def _not_dead(kind: Kind) -> str:
    # A hashed NOT IN: NOT EXISTS over the CTE was measured at up to 2.7 times the cost.
    keys = _key_columns(kind)
    row = ", ".join(f"r.{column}" for _, column in keys)
    names = ", ".join(tombstone for tombstone, _ in keys)
    return f"({row}) NOT IN (SELECT {names} FROM dead)"


def _cut_kinds(kind: Kind) -> str:
    return f"({ALL_CONTENT}, {ALL_FILES})" if kind.is_content else f"({ALL_CONTENT})"


def _cuts_cte(kind: Kind) -> str:
    return (
        "cuts AS MATERIALIZED (SELECT t.table_id, min(l.depth) AS depth FROM lineage l"
        " JOIN ducklake_tombstone t ON t.catalog_id = l.ancestor_id"
        f" AND t.kind IN {_cut_kinds(kind)} AND t.end_snapshot <= l.cap GROUP BY t.table_id)"
    )


def _not_cut(kind: Kind, scoped: bool) -> str:
    if not scoped:
        return "(cuts.depth IS NULL OR l.depth <= cuts.depth)"
    return (
        "l.depth <= coalesce((SELECT min(c.depth) FROM lineage c JOIN ducklake_tombstone t"
        f" ON t.catalog_id = c.ancestor_id AND t.kind IN {_cut_kinds(kind)}"
        " AND t.table_id = :scope AND t.end_snapshot <= c.cap), 2147483647)"
    )


def newest_rows(kind: Kind, dialect: Dialect, keys: Sequence[int] | None, *, inherits: bool) -> str:
    """Return the SELECT of visible rows of a kind whose versions follow each other without a gap.

    Statistics have as many versions as a table has commits: this reads the newest one of each by
    its key instead of filtering all. Takes :scope, and the kind's entities as `keys`.
    """
    listed = ", ".join(f"({int(key)})" for key in keys) if keys is not None else "(0)"
    entity = f" AND x.{kind.entity} = k.entity" if kind.entity else ""
    same = f" AND r.{kind.entity} = n.entity" if kind.entity else ""
    line = lineage_cte(dialect) if inherits else _OWN_LINE
    dead = f", {_dead_cte(kind, True)}" if inherits else ""
    conditions = [_within("r", "n.cap")]
    if inherits:
        conditions += [_not_dead(kind), _not_cut(kind, True).replace("l.depth", "n.depth")]
    return (
        f"WITH {line}, wanted(entity) AS (VALUES {listed}){dead}, newest AS ("
        "SELECT l.depth, l.ancestor_id, l.cap, k.entity,"
        f" (SELECT max(x.begin_snapshot) FROM {kind.name} x WHERE x.catalog_id = l.ancestor_id"
        f" AND x.{kind.scope} = :scope{entity} AND x.begin_snapshot <= l.cap) AS began"
        " FROM lineage l CROSS JOIN wanted k)"
        f" SELECT {', '.join(f'r.{column}' for column in kind.columns)} FROM newest n"
        f" JOIN {kind.name} r ON r.catalog_id = n.ancestor_id AND r.{kind.scope} = :scope{same}"
        f" AND r.begin_snapshot = n.began WHERE {' AND '.join(conditions)}"
    )


_OWN_LINE = "lineage AS (SELECT 0 AS depth, :catalog AS ancestor_id, :snapshot AS cap)"


def inherited_history(
    kind: Kind, dialect: Dialect, columns: Sequence[str], *, table: str | None = None
) -> str:
    """Return the SELECT of every inherited row that the catalog sees at any snapshot, and its end.

    The parameters are those of `visible_rows`, with :snapshot as the newest snapshot to read.
    Selects the expressions `columns` over the row `r`, then the end that the catalog sees. This is
    what materializing copies.
    """
    return _history(kind, dialect, columns, table or kind.name, "l.depth > 0")


def table_history(
    kind: Kind, dialect: Dialect, columns: Sequence[str], *, where: str, table: str | None = None
) -> str:
    """Return the SELECT of every row of the table :scope that the catalog ever sees, and its end.

    Rows of the catalog itself are included, snapshots after :snapshot are not. `where` is a
    condition on `h`, the row with its end `seen_until`.
    """
    chosen = [f"r.{column}" for column in columns]
    text = _history(kind, dialect, chosen, table or kind.name, f"r.{kind.scope} = :scope")
    return f"SELECT * FROM ({text}) h WHERE {where}"


def line_history(
    kind: Kind,
    dialect: Dialect,
    columns: Sequence[str],
    *,
    table: str | None = None,
    where: str = "TRUE",
) -> str:
    """Return the SELECT of every row in the lineage that the catalog ever sees, and its end.

    Rows of the catalog itself are included, snapshots after :snapshot are not. `columns` and
    `where` are expressions over the row `r`.
    """
    return _history(kind, dialect, columns, table or kind.name, where)


def _history(
    kind: Kind, dialect: Dialect, columns: Sequence[str], table: str, condition: str
) -> str:
    keys = [tombstone for tombstone, _ in _key_columns(kind)]
    ends = [
        "CASE WHEN r.end_snapshot <= l.cap THEN r.end_snapshot END",
        _earliest("dead", [f"x.{t} = r.{column}" for t, column in _key_columns(kind)]),
    ]
    ctes = [lineage_cte(dialect), _ends_cte("dead", f"t.kind = {kind.code}", keys)]
    if kind.scope:
        ctes.append(_ends_cte("cuts", f"t.kind IN {_cut_kinds(kind)}", ["table_id"]))
        nearer = [f"x.table_id = r.{kind.scope}", "x.depth < l.depth"]
        ends.append(_earliest("cuts", nearer))
    known = ", ".join(f"coalesce({end}, {FOREVER})" for end in ends)
    return (
        f"WITH {', '.join(ctes)}"
        f" SELECT {', '.join(columns)}, nullif({dialect.least}({known}), {FOREVER}) AS seen_until"
        f" FROM lineage l JOIN {table} r"
        f" ON r.catalog_id = l.ancestor_id AND r.begin_snapshot <= l.cap WHERE {condition}"
    )


def _ends_cte(name: str, condition: str, keys: Sequence[str]) -> str:
    chosen = ", ".join(f"t.{key}" for key in keys)
    return (
        f"{name} AS MATERIALIZED (SELECT {chosen}, l.depth, t.end_snapshot AS ended FROM lineage l"
        " JOIN ducklake_tombstone t ON t.catalog_id = l.ancestor_id"
        f" AND {condition} AND t.end_snapshot <= l.cap)"
    )


def _earliest(name: str, conditions: Sequence[str]) -> str:
    return f"(SELECT min(x.ended) FROM {name} x WHERE {' AND '.join(conditions)})"
