"""Pages of a table (columns, growth, files, partitions, history) and of a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.crucible.pages import file_views
from forklake.crucible.pages.charts import Bars, Curve, draw_bars, draw_curve
from forklake.crucible.pages.file_views import SizeClass
from forklake.crucible.pages.frames import open_frame, read_state
from forklake.crucible.pages.growth import GrowthPoint, read_growth
from forklake.crucible.pages.history import SnapshotEntry, describe_snapshot
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor
from forklake.model.entities import Column, ColumnStatistics, Table
from forklake.model.fields import Field
from forklake.model.figures import size
from forklake.model.snapshots import Snapshot
from forklake.model.state import CatalogState
from forklake.model.types import ColumnType

routes = create_router()
_PAGE = 20  # files and partitions
_HISTORY = 8  # snapshots


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """Column in the list of a table's columns."""

    name: str
    type: str
    nulls_allowed: bool
    default: str | None
    comment: str
    low: str | None
    high: str | None


@routes.get("/catalogs/{catalog}/table")
def show_table(
    request: Request,
    visitor: CurrentVisitor,
    catalog: str,
    name: str,
    schema: str = "main",
    snapshot: int | None = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> Response:
    """Return the page of a table."""
    frame = open_frame(visitor, catalog, "", "table.get")
    seen = read_state(frame, snapshot)
    found = seen.state.table(name, schema)
    place = (frame.catalog, seen, found)
    count, files = file_views.list_files(*place, offset, _PAGE)
    return render(
        request,
        "table.html",
        frame=frame,
        snapshot=snapshot,
        seen=seen,
        schema=seen.state.schema_of(found).schema_name,
        table=found,
        comment=seen.state.tags(found.table_id).get("comment", ""),
        columns=_list_columns(seen, found),
        partitioned=file_views.format_keys(seen, found),
        statistics=seen.statistics(found),
        charts=_draw_charts(read_growth(*place)),
        sizes=_draw_sizes(file_views.count_size_classes(*place)),
        parts=file_views.list_partitions(*place, _PAGE),
        files=files,
        count=count,
        offset=offset,
        page=_PAGE,
        history=_list_history(frame.catalog.snapshots(limit=1000), found, seen),
    )


def _list_columns(seen: SnapshotReads, table: Table) -> list[ColumnEntry]:
    known = {row.column_id: row for row in seen.column_statistics(table)}
    rows = {row.column_id: row for row in seen.state.columns(table)}
    return [
        _column_entry(seen.state, field, rows[field.column_id], known.get(field.column_id))
        for field in seen.state.fields(table)
    ]


def _column_entry(
    state: CatalogState, field: Field, column: Column, known: ColumnStatistics | None
) -> ColumnEntry:
    return ColumnEntry(
        field.name,
        str(_column_type(field)),
        field.nulls_allowed,
        field.default_value,
        state.column_tags(column).get("comment", ""),
        known.min_value if known else None,
        known.max_value if known else None,
    )


def _column_type(field: Field) -> ColumnType:
    return ColumnType(field.type, tuple((part.name, _column_type(part)) for part in field.fields))


def _draw_charts(points: list[GrowthPoint]) -> list[tuple[str, str, Curve, float]]:
    """Return label, filter, curve and newest value of the charts for rows, bytes and files."""
    if not points:
        return []
    ends = {"first": f"#{points[0].snapshot_id}", "last": f"#{points[-1].snapshot_id}"}
    found = []
    for label, filter, column in (
        ("Rows", "short", "rows"),
        ("Size", "size", "bytes"),
        ("Files", "short", "files"),
    ):
        values = [(float(place), float(getattr(one, column))) for place, one in enumerate(points)]
        found.append((label, filter, draw_curve(values, **ends), values[-1][1]))
    return found


def _draw_sizes(classes: list[SizeClass]) -> Bars | None:
    """Return the histogram of file sizes."""
    return draw_bars([(f"< {size(one.below)}", one.count) for one in classes]) if classes else None


def _list_history(
    snapshots: list[Snapshot], table: Table, seen: SnapshotReads
) -> list[SnapshotEntry]:
    """Return the newest snapshots that changed the table."""
    name = (seen.state.schema_of(table).schema_name, table.table_name)
    found = [
        one
        for one in reversed(snapshots)
        if one.snapshot_id <= seen.snapshot_id
        and any(change.object_id == table.table_id or change.name == name for change in one.changes)
    ]
    return [describe_snapshot(one, seen.state) for one in found[:_HISTORY]]


@routes.get("/catalogs/{catalog}/view")
def show_view(
    request: Request,
    visitor: CurrentVisitor,
    catalog: str,
    name: str,
    schema: str = "main",
    snapshot: int | None = None,
) -> Response:
    """Return the page of a view with its query."""
    frame = open_frame(visitor, catalog, "", "view.get")
    seen = read_state(frame, snapshot)
    found = seen.state.view(name, schema)
    return render(
        request,
        "view.html",
        frame=frame,
        snapshot=snapshot,
        view=found,
        schema=seen.state.schema_of(found).schema_name,
        comment=seen.state.tags(found.view_id).get("comment", ""),
    )
