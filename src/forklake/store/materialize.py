"""Materializing: a fork gets its own copies of all inherited rows, and its lineage is cut.

The copies keep their ids, begins and the ends that the fork saw. So nothing changes for readers of
the fork or of its forks, at any snapshot, but `WHERE catalog_id = …` alone becomes exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forklake.model.changes import Change, ChangeKind
from forklake.model.ids import FOREVER, CatalogId, SnapshotId
from forklake.model.kinds import DELTA_TABLE, INLINED_ROW, INLINED_TABLE, KINDS, Kind
from forklake.store.catalogs import find_catalog, has_ancestors, missing
from forklake.store.database import Connection, Database, Lock
from forklake.store.heads import (
    as_head,
    changes_insert,
    following,
    move_head,
    queue_for_head,
    snapshot_insert,
    versions_insert,
)
from forklake.store.inlined import row_columns
from forklake.store.operations import Allocate, Operation, Statement
from forklake.store.phases import reached
from forklake.store.visibility import inherited_history, lineage_cte


def materialize(database: Database, name: str) -> SnapshotId | None:
    """Materialize a fork. Return the new snapshot, or None if it had no ancestors."""
    with database.writing() as connection:
        row = find_catalog(connection, name)
        if row is None:
            raise missing(name)
        (heads,) = connection.run([queue_for_head(connection, row.catalog_id)])
        head = as_head(heads)
        if head is None:
            raise missing(name)
        _lock_lineages(connection, row.catalog_id)
        reached("materialize.locked")
        if not has_ancestors(connection, row.catalog_id):
            return None
        ((allocation,),) = connection.run([Allocate()])
        connection.run(copy_operations(connection, row.catalog_id, row.data_path))
        reached("materialize.copied")
        change = Change(ChangeKind.MATERIALIZED, row.catalog_id)
        # Clients that cache the rows must see their new owner: the schema version is raised.
        moved = following(head, allocation, changed=True)
        connection.commit(
            [
                snapshot_insert(allocation, moved),
                changes_insert([row.catalog_id], moved, [change]),
                versions_insert([row.catalog_id], moved),
                move_head(row.catalog_id, moved),
            ]
        )
        reached("materialize.committed")
        return SnapshotId(allocation.snapshot_id)


def _lock_lineages(connection: Connection, catalog_id: CatalogId) -> None:
    """Block new forks of the catalog and of its descendants while their lineages are rewritten.

    A fork in progress locks its parent's head. Once all heads are locked and the query finds no
    further descendant, no fork can have been missed.
    """
    locked: set[int] = set()
    while True:
        rows = connection.fetch(
            "SELECT l.catalog_id FROM ducklake_catalog_lineage l"
            " WHERE l.ancestor_id = :catalog AND l.depth > 0",
            catalog=catalog_id,
        )
        fresh = sorted({catalog_id, *(number for (number,) in rows)} - locked)
        if not fresh:
            return
        dialect = connection.dialect
        connection.fetch(
            "SELECT catalog_id FROM ducklake_catalog_head WHERE "
            f"{dialect.any_of('catalog_id', 'ids')} ORDER BY catalog_id{dialect.for_removal}",
            ids=dialect.array(fresh),
        )
        locked.update(fresh)


def copy_operations(
    connection: Connection, catalog_id: CatalogId, data_path: str | None
) -> list[Operation]:
    """Return the operations that copy inherited rows to a catalog and cut its lineage."""
    parameters = {"catalog": catalog_id, "snapshot": FOREVER}
    # Block the sweep: otherwise a file could be scheduled for deletion while its row is copied.
    operations: list[Operation] = [*connection.lock(Lock.SWEEP, shared=True)]
    bases = _other_bases(connection, catalog_id, data_path)
    for kind in KINDS:
        columns = kind.columns
        text = _copy(connection, kind, kind.name, columns, bases)
        operations.append(Statement(text, parameters | _base_parameters(bases)))
    for name in _inlined_tables(connection, parameters):
        columns = row_columns(connection, name)
        operations.append(Statement(_copy(connection, INLINED_ROW, name, columns, {}), parameters))
    operations += [Statement(text, parameters) for text in _history_copies(connection)]
    operations += [Statement(text, {"catalog": catalog_id}) for text in _CUTS]
    return operations


# Forks of the catalog lose its ancestors from their lineages too. Their own tombstones stay valid,
# because the copied rows have the ids and begins of the rows that the tombstones refer to.
_CUTS = (
    # The last reader of dropped ancestors may be gone now: mark them to be checked again.
    f"UPDATE ducklake_catalog_lineage SET upto_snapshot = {FOREVER} WHERE depth = 0"
    " AND catalog_id IN (SELECT a.ancestor_id FROM (SELECT DISTINCT ancestor_id"
    " FROM ducklake_catalog_lineage WHERE catalog_id = :catalog AND depth > 0) a)",
    "DELETE FROM ducklake_catalog_lineage WHERE catalog_id = :catalog AND depth > 0",
    "DELETE FROM ducklake_catalog_lineage WHERE (catalog_id, depth) IN ("
    "SELECT d.catalog_id, d.depth FROM (SELECT DISTINCT g.catalog_id, g.depth"
    " FROM ducklake_catalog_lineage f JOIN ducklake_catalog_lineage g"
    " ON g.catalog_id = f.catalog_id AND g.depth > f.depth"
    " WHERE f.ancestor_id = :catalog AND f.depth > 0) d)",
    "DELETE FROM ducklake_tombstone WHERE catalog_id = :catalog",
)


def _copy(
    connection: Connection,
    kind: Kind,
    table: str,
    columns: Sequence[str],
    bases: dict[CatalogId, str],
) -> str:
    chosen = [_expression(column, bases) for column in columns]
    if kind is DELTA_TABLE:  # the location belongs to the ancestor, which mirrors its log there
        chosen[columns.index("location")] = "CAST(NULL AS VARCHAR)"
    text = inherited_history(kind, connection.dialect, chosen, table=table)
    return f"INSERT INTO {table} ({', '.join(columns)}, end_snapshot) {text}"


def _expression(column: str, bases: dict[CatalogId, str]) -> str:
    """Return the expression for a column of the copy. Paths below another base become absolute."""
    if column == "catalog_id":
        return ":catalog"
    if column == "path" and bases:
        cases = " ".join(
            f"WHEN r.path_is_relative AND r.catalog_id = {owner}"
            f" THEN :{_base_name(number)} || r.path"
            for number, owner in enumerate(bases)
        )
        return f"CASE {cases} ELSE r.path END"
    if column == "path_is_relative" and bases:
        owners = ", ".join(map(str, bases))
        return f"(r.path_is_relative AND r.catalog_id NOT IN ({owners}))"
    return f"r.{column}"


def _base_parameters(bases: dict[CatalogId, str]) -> dict[str, Any]:
    return {_base_name(number): base for number, base in enumerate(bases.values())}


def _base_name(number: int) -> str:
    return "base_" + "_".join(chr(97 + int(digit)) for digit in str(number))


def _other_bases(
    connection: Connection, catalog_id: CatalogId, data_path: str | None
) -> dict[CatalogId, str]:
    rows = connection.fetch(
        "SELECT DISTINCT c.catalog_id, c.data_path FROM ducklake_catalog_lineage l"
        " JOIN ducklake_catalog c ON c.catalog_id = l.ancestor_id"
        " WHERE l.catalog_id = :catalog AND l.depth > 0",
        catalog=catalog_id,
    )
    return {owner: base for owner, base in rows if base is not None and base != data_path}


def _inlined_tables(connection: Connection, parameters: dict[str, Any]) -> list[str]:
    text = inherited_history(INLINED_TABLE, connection.dialect, ["r.table_name"])
    return sorted({name for name, _ in connection.fetch(text, **parameters)})


def _history_copies(connection: Connection) -> list[str]:
    lineage = lineage_cte(connection.dialect)
    # Without idempotency keys: commits of the parent were applied to the parent, not to the fork.
    changes = "snapshot_id, changes_made, author, commit_message, commit_extra_info"
    chosen = ", ".join(f"h.{column}" for column in changes.split(", "))
    return [
        f"INSERT INTO ducklake_snapshot_changes (catalog_id, {changes}) WITH {lineage}"
        f" SELECT :catalog, {chosen} FROM lineage l JOIN ducklake_snapshot_changes h"
        " ON h.catalog_id = l.ancestor_id AND h.snapshot_id <= l.cap WHERE l.depth > 0",
        f"INSERT INTO ducklake_schema_versions (catalog_id, begin_snapshot, schema_version)"
        f" WITH {lineage} SELECT :catalog, v.begin_snapshot, v.schema_version FROM lineage l"
        " JOIN ducklake_schema_versions v ON v.catalog_id = l.ancestor_id"
        " AND v.begin_snapshot <= l.cap WHERE l.depth > 0",
        "INSERT INTO ducklake_expired_snapshots (catalog_id, begin_snapshot, end_snapshot,"
        f" begin_time) WITH {lineage} SELECT :catalog, g.begin_snapshot,"
        f" {connection.dialect.least}(g.end_snapshot, (SELECT min(c.begin_snapshot)"
        " FROM ducklake_catalog c WHERE c.catalog_id = n.ancestor_id)), g.begin_time"
        " FROM lineage l JOIN lineage n ON n.depth = l.depth - 1 JOIN ducklake_expired_snapshots g"
        " ON g.catalog_id = l.ancestor_id AND g.begin_snapshot <= l.cap",
    ]
