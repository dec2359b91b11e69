"""Page with the tables and views of a catalog, at the current or a given snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.crucible.pages.frames import open_frame, read_state
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import TableStatistics, View
from forklake.model.ids import TableId
from forklake.model.kinds import DELTA_TABLE, TABLE_STATISTICS

routes = create_router()


@dataclass(frozen=True, slots=True)
class TableEntry:
    """Table in a list."""

    name: str
    columns: int
    rows: int
    bytes: int
    delta: str  # mode of the Delta table; empty if the table is not published as one
    comment: str


@dataclass(frozen=True, slots=True)
class SchemaContents:
    """Schema with its tables and views."""

    name: str
    tables: list[TableEntry]
    views: list[View]


@routes.get("/catalogs/{catalog}")
def show_contents(
    request: Request, visitor: CurrentVisitor, catalog: str, snapshot: int | None = None
) -> Response:
    """Return the page with the tables of a catalog by schema."""
    frame = open_frame(visitor, catalog, "")
    seen = read_state(frame, snapshot)
    groups = list_contents(seen)
    tables = [table for group in groups for table in group.tables]
    return render(
        request,
        "catalog.html",
        frame=frame,
        snapshot=snapshot,
        seen=seen,
        groups=groups,
        tables=tables,
        views=sum(len(group.views) for group in groups),
        largest=max((table.bytes for table in tables), default=0),
    )


def list_contents(seen: SnapshotReads) -> list[SchemaContents]:
    """Return the tables and views of all schemas."""
    state = seen.state
    statistics = _read_statistics(seen)
    faces = {face.table_id: FaceMode(face.mode) for face in state.rows(DELTA_TABLE)}
    found = []
    for schema in state.schemas():
        tables = []
        for table in state.tables(schema.schema_name):
            known = statistics.get(table.table_id) or TableStatistics(table_id=table.table_id)
            tables.append(
                TableEntry(
                    table.table_name,
                    len(state.columns(table)),
                    known.record_count,
                    known.file_size_bytes,
                    faces[table.table_id].value if table.table_id in faces else "",
                    state.tags(table.table_id).get("comment", ""),
                )
            )
        found.append(SchemaContents(schema.schema_name, tables, state.views(schema.schema_name)))
    return found


def _read_statistics(seen: SnapshotReads) -> dict[TableId, TableStatistics]:
    """Return the statistics of all tables, with one query."""
    with seen.reading() as reader:
        rows: list[TableStatistics] = reader.rows(TABLE_STATISTICS)
    return {row.table_id: row for row in rows}
