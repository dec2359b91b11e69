"""Comparing catalogs, and merging forks."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from forklake import merging
from forklake.crucible.callers import Asking, Visit
from forklake.crucible.shapes.base import Limit, Name
from forklake.crucible.shapes.merging import Differences, Merge, Merged

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["merging"])
# All that is asked for stands in the address, and those beyond 64 KiB are nothing that HTTP reads.
_TableName = Annotated[str, Field(max_length=255)]
Tables = Annotated[list[_TableName] | None, Query(max_length=16, description="Only these.")]


@router.get("/diff/{other}", summary="Compare two catalogs", response_model=Differences)
async def diff(
    visit: Asking,
    catalog: Name,
    other: Name,
    table: Tables = None,
    rows: Annotated[bool, Query(description="Also show rows.")] = False,
    limit: Limit = 20,
) -> Response:
    """What the other one has otherwise: tables, their columns, and how many rows."""

    def compare() -> merging.Diff:
        names = [visit.catalog(name, "catalog.diff").name for name in (catalog, other)]
        with visit.service.sessions.own() as session:
            return merging.diff(
                session, visit.access.metastore, *names, tables=table, rows=rows, limit=limit
            )

    found = await to_thread.run_sync(compare, limiter=visit.service.jobs)
    return Differences.of(found).response()


@router.post("/merge", summary="Merge a fork into a catalog", response_model=Merged)
async def merge(visit: Asking, catalog: Name, body: Merge) -> Response:
    """Take over what a fork has done since the last time, as one snapshot, or only look.

    The same merges a catalog into a fork of it. Rows that both changed are listed.
    """
    merged = await to_thread.run_sync(_merged, visit, catalog, body, limiter=visit.service.jobs)
    return Merged.of(merged).response()


def _merged(visit: Visit, catalog: str, body: Merge) -> merging.Merged:
    target = visit.catalog(catalog, "catalog.diff" if body.dry_run else "catalog.merge")
    source = visit.catalog(body.source, "catalog.diff")
    what = f"{source.name} into {target.name}"
    with (
        visit.access.audited(visit.caller, "catalog.merge", what, catalog=target),
        visit.service.sessions.own() as session,
    ):
        return merging.publish(
            session,
            visit.access.metastore,
            source.name,
            into=target.name,
            tables=body.tables,
            on_conflict=body.on_conflict,
            dry_run=body.dry_run,
            message=body.message,
            author=visit.caller.name,
            extra_info=body.extra_info,
            idempotency_key=body.idempotency_key,
        )
