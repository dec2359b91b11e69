"""Views through which a tenant sees its catalog: one for each table of the metastore.

They show what the catalog sees at any snapshot, with the ends that it sees: what an ancestor did
after the fork is not visible, and what the catalog ended itself is ended. So plain SQL over the
views is exact. The tables of access rules have no view: they belong to the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from forklake.model.children import CHILDREN, Child
from forklake.model.ids import FOREVER
from forklake.model.kinds import INLINED_ROW, KINDS, OPTION, Kind
from forklake.store.database import Dialect
from forklake.store.operations import PARAMETER
from forklake.store.visibility import line_history, lineage_cte

# Tables without a view: listings only repeat the content of other tables.
HIDDEN = frozenset({"ducklake_file_listing"})
_OWN = "l.depth = 0"
_BEGUN = "r.begin_snapshot <= l.cap"
_SEEN_END = "CASE WHEN r.end_snapshot <= l.cap THEN r.end_snapshot END"
# Row filters for a member `l` of the lineage, and columns that are replaced by expressions.
_ON_LINE: dict[str, tuple[str, dict[str, str]]] = {
    "ducklake_catalog": (_BEGUN, {"end_snapshot": _SEEN_END}),
    "ducklake_catalog_head": (_OWN, {}),
    "ducklake_catalog_lease": (_OWN, {}),
    "ducklake_catalog_lineage": (_OWN, {}),
    "ducklake_catalog_merge": (_OWN, {}),
    "ducklake_catalog_hold": (_OWN, {}),
    "ducklake_tombstone": ("r.end_snapshot <= l.cap", {}),
    "ducklake_snapshot_changes": ("r.snapshot_id <= l.cap", {}),
    "ducklake_expired_snapshots": (_BEGUN, {"end_snapshot": "least(r.end_snapshot, l.cap)"}),
    "ducklake_idempotency_key": (_OWN, {}),
    "ducklake_schema_versions": (_BEGUN, {}),
    "ducklake_files_scheduled_for_deletion": (_OWN, {}),
    "dl_mirror_status": (_OWN, {}),
}
# Columns hidden from tenants. The key of a file would outlive the grant of its reader.
_SECRET = {"encryption_key": "NULL::varchar"}
# Tables of the parents of immutable rows, by the column that refers to the parent.
_PARENTS = {
    "data_file_id": "ducklake_data_file",
    "mapping_id": "ducklake_data_file",
    "partition_id": "ducklake_partition_info",
    "macro_id": "ducklake_macro",
}

View = Callable[[Dialect, Sequence[str]], str]


def view_text(table: str, columns: Sequence[str], dialect: Dialect, catalog: str) -> str:
    """Return the SELECT of a table's view; `catalog` is an expression for the tenant's catalog."""
    return bound(VIEWS[table](dialect, columns), catalog)


def inlined_rows_text(dialect: Dialect, catalog: str) -> str:
    """Return the SELECT of the rows of the lake table $1 in one table of inlined rows, %1$I.

    The values are a JSON object by column.
    """
    keys = ("catalog_id", "table_id", "row_id", "begin_snapshot", "end_snapshot")
    values = "to_jsonb(r)" + "".join(f" - '{key}'" for key in keys)
    shown = [*(f"r.{key}" for key in keys[:-1]), values]
    text = line_history(INLINED_ROW, dialect, shown, table="%1$I", where="r.table_id = $1")
    return bound(text, catalog)


def bound(text: str, catalog: str) -> str:
    """Return a statement with `catalog` as its catalog and the newest snapshot as parameters."""
    given = {"catalog": catalog, "snapshot": str(FOREVER)}
    return PARAMETER.sub(lambda match: given[match[1]], text)


def _history(kind: Kind) -> View:
    def view(dialect: Dialect, columns: Sequence[str]) -> str:
        others = [
            f"r.{column}"
            for column in columns
            if column != "end_snapshot" and column not in _SECRET
        ]
        text = line_history(kind, dialect, others)
        seen = {"end_snapshot": "h.seen_until", **_SECRET}
        shown = (f"{seen.get(column, f'h.{column}')} AS {column}" for column in columns)
        return f"SELECT {', '.join(shown)} FROM ({text}) h"

    return view


def _options(dialect: Dialect, columns: Sequence[str]) -> str:
    """Return the SELECT of options of the catalog, and of those of the whole metastore."""
    return (
        f"{_history(OPTION)(dialect, columns)} UNION ALL SELECT {', '.join(columns)}"
        " FROM ducklake_metadata WHERE catalog_id IS NULL AND coalesce(scope, 'global') = 'global'"
        " AND scope_id IS NULL"
    )


def _snapshots(dialect: Dialect, columns: Sequence[str]) -> str:
    shown = ", ".join(f"r.{column}" for column in columns)
    return (
        f"WITH {lineage_cte(dialect)} SELECT {shown} FROM ducklake_snapshot r"
        " WHERE r.snapshot_id IN (SELECT h.snapshot_id FROM lineage l"
        " JOIN ducklake_snapshot_changes h"
        " ON h.catalog_id = l.ancestor_id AND h.snapshot_id <= l.cap)"
    )


def _on_line(table: str, condition: str, changed: Mapping[str, str]) -> View:
    def view(dialect: Dialect, columns: Sequence[str]) -> str:
        shown = (f"{changed.get(column, f'r.{column}')} AS {column}" for column in columns)
        return (
            f"WITH {lineage_cte(dialect)} SELECT {', '.join(shown)} FROM lineage l"
            f" JOIN {table} r ON r.catalog_id = l.ancestor_id WHERE {condition}"
        )

    return view


def _child(child: type[Child]) -> View:
    def view(dialect: Dialect, columns: Sequence[str]) -> str:
        same = [child.PARENT, *({"table_id"} & set(columns))]
        agree = " AND ".join(f"p.{column} = r.{column}" for column in same)
        return (
            f"WITH {lineage_cte(dialect)} SELECT {', '.join(f'r.{c}' for c in columns)}"
            f" FROM {child.NAME} r WHERE EXISTS (SELECT 1 FROM lineage l"
            f" JOIN {_PARENTS[child.PARENT]} p ON p.catalog_id = l.ancestor_id"
            f" AND p.begin_snapshot <= l.cap WHERE {agree})"
        )

    return view


VIEWS: dict[str, View] = {
    **{kind.name: _history(kind) for kind in KINDS},
    **{child.NAME: _child(child) for child in CHILDREN},
    **{table: _on_line(table, *rule) for table, rule in _ON_LINE.items()},
    "ducklake_metadata": _options,
    "ducklake_snapshot": _snapshots,
}
