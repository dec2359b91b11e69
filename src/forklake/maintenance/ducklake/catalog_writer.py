"""Write an imported catalog: all rows and snapshots in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forklake.errors import Corruption
from forklake.maintenance.ducklake.id_map import IdMap
from forklake.maintenance.ducklake.imported_rows import FinalIds, ImportedRows, InlinedValues
from forklake.maintenance.ducklake.source import Row
from forklake.model.changes import format_changes, parse_changes
from forklake.model.entities import InlinedTable
from forklake.model.ids import FOREVER, CatalogId, SnapshotId
from forklake.model.kinds import INLINED_TABLE
from forklake.model.snapshots import Head
from forklake.store import inlined
from forklake.store.catalogs import CatalogRow, find_catalog, taken
from forklake.store.data_paths import claim_data_path
from forklake.store.database import Connection, Database, Lock
from forklake.store.heads import heads_insert
from forklake.store.operations import Allocate, Allocation, Insert, Operation
from forklake.store.phases import reached
from forklake.store.provisioning import LINEAGE_COLUMNS, catalog_insert
from forklake.store.schema.catalog_tables import SNAPSHOT
from forklake.store.schema.definition_tables import SCHEMA_VERSIONS

_SNAPSHOT_COLUMNS = SNAPSHOT.column_names
_CHANGES_COLUMNS = (
    "catalog_id",
    "snapshot_id",
    "changes_made",
    "author",
    "commit_message",
    "commit_extra_info",
)
_VERSION_COLUMNS = SCHEMA_VERSIONS.column_names


@dataclass(frozen=True, slots=True)
class PastSnapshot:
    """Time, changes and commit information of a snapshot of the DuckLake."""

    time: datetime
    changes: str | None
    author: str | None
    message: str | None
    extra_info: str | None


def past_snapshots(snapshots: Sequence[Row], changes: Sequence[Row]) -> list[PastSnapshot]:
    """Return the retained snapshots of a DuckLake, oldest first."""
    changes_by_id = {row["snapshot_id"]: row for row in changes}
    found = []
    for snapshot in snapshots:
        row = changes_by_id.get(snapshot["snapshot_id"], {})
        details = [row.get(name) for name in _CHANGES_COLUMNS[2:]]
        found.append(PastSnapshot(snapshot["snapshot_time"], *details))
    return found


def has_folder(connection: Connection, folder: str) -> bool:
    """Return whether a catalog, dropped ones included, uses a folder."""
    text = "SELECT catalog_id FROM ducklake_catalog WHERE path = :path"
    return bool(connection.fetch(text, path=folder))


def write_catalog(
    database: Database,
    row: CatalogRow,
    past: Sequence[PastSnapshot],
    id_map: IdMap,
    imported: ImportedRows,
) -> CatalogRow:
    """Create the catalog with its whole history, and return `row` with its final ids."""
    with database.writing() as connection:
        if find_catalog(connection, row.catalog_name) or has_folder(connection, row.path):
            # The folder is derived from the name: a concurrent import took it.
            raise taken([row.catalog_name])
        if row.data_path is not None:
            claim_data_path(connection, row.data_path)
        connection.run(connection.lock(Lock.FENCE, shared=True))
        first = Allocate(entities=1 + id_map.entities.count, files=id_map.files.count)
        wanted = [first, *(Allocate() for _ in past[1:])]
        allocations: list[Allocation] = [connection.run([one])[0][0] for one in wanted]
        catalog_id, *entities = allocations[0].entity_ids
        ids: list[int] = [one.snapshot_id for one in allocations]
        final = FinalIds(CatalogId(catalog_id), ids, entities, list(allocations[0].file_ids))
        created = replace(
            row, catalog_id=final.catalog_id, begin_snapshot=allocations[0].snapshot_id
        )
        reached("import.allocated")
        connection.commit(
            [
                *_snapshot_operations(past, id_map, imported, final, allocations),
                catalog_insert(created),
                Insert(
                    "ducklake_catalog_lineage",
                    LINEAGE_COLUMNS,
                    [(catalog_id, 0, catalog_id, FOREVER)],
                ),
                *imported.inserts(final),
                *_inlined_operations(connection, imported.inlined, final),
            ]
        )
        reached("import.committed")
    return created


def _snapshot_operations(
    past: Sequence[PastSnapshot],
    id_map: IdMap,
    imported: ImportedRows,
    final: FinalIds,
    allocations: Sequence[Allocation],
) -> Iterator[Operation]:
    version = 0
    snapshots, changes, versions = [], [], []
    for position, (one, taken_ids) in enumerate(zip(past, allocations, strict=True)):
        number = final.snapshots[position]
        is_changed = position in imported.defined
        version += is_changed and position > 0
        if is_changed or position == 0:
            versions.append((final.catalog_id, number, version))
        nexts = taken_ids.next_entity_id, taken_ids.next_file_id
        snapshots.append((number, one.time, version, *nexts))
        text = _translate_changes(one.changes, id_map, final)
        details = one.author, one.message, one.extra_info
        changes.append((final.catalog_id, number, text, *details))
    yield Insert("ducklake_snapshot", _SNAPSHOT_COLUMNS, snapshots)
    yield Insert("ducklake_snapshot_changes", _CHANGES_COLUMNS, changes)
    yield Insert("ducklake_schema_versions", _VERSION_COLUMNS, versions)
    head = Head(SnapshotId(final.snapshots[-1]), version, past[-1].time)
    yield heads_insert([final.catalog_id], head)


def _translate_changes(text: str | None, id_map: IdMap, final: FinalIds) -> str:
    """Return the changes of a snapshot as text, with the new object ids."""
    try:
        found = parse_changes(text)
    except Corruption:  # a kind of change that Forklake does not have
        return ""
    kept = (
        one
        if one.object_id is None
        else replace(one, object_id=_translate_object_id(one.object_id, id_map, final))
        for one in found
        if one.object_id is None or id_map.has_entity(one.object_id)
    )
    return format_changes(kept)


def _translate_object_id(old: int, id_map: IdMap, final: FinalIds) -> int:
    return int(final.entity(id_map.entity(old)))


def _inlined_operations(
    connection: Connection, tables: Sequence[InlinedValues], final: FinalIds
) -> Iterator[Operation]:
    """Yield the creation of tables for inlined rows, and the inserts of the rows."""
    created = set()
    for one in tables:
        table_id = final.entity(one.table_id)
        shape = inlined.shape_of(one.columns)
        name = inlined.table_name(table_id, shape)
        if name not in created:
            created.add(name)
            yield inlined.create_statement(connection, name, one.columns)
            begin, end = (final.snapshot(at) for at in one.seen)
            row = InlinedTable(table_id=table_id, table_name=name, schema_version=shape)
            values = (final.catalog_id, begin, *_own_values(row), end)
            yield Insert(INLINED_TABLE.name, (*INLINED_TABLE.columns, "end_snapshot"), [values])
        columns = inlined.stored_columns(one.columns)
        rows = [
            (
                final.catalog_id,
                table_id,
                row_id,
                final.snapshot(begin),
                *stored,
                final.snapshot(end),
            )
            for row_id, begin, end, *stored in one.rows
        ]
        yield Insert(name, (*columns, "end_snapshot"), rows)


def _own_values(row: InlinedTable) -> tuple[object, ...]:
    return tuple(getattr(row, column) for column in INLINED_TABLE.columns[2:])
