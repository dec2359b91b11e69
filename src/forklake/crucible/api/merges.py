"""Routes that compare catalogs and merge forks."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from forklake import merging
from forklake.crucible.callers import Context, RequestContext
from forklake.crucible.shapes.base import Limit, Name
from forklake.crucible.shapes.merges import Differences, MergeResult, NewMerge

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["merging"])
# The parameters are part of the URL, and servers reject request lines over 64 KiB.
_TableName = Annotated[str, Field(max_length=255)]
Tables = Annotated[
    list[_TableName] | None, Query(max_length=16, description="Compare only these tables.")
]


@router.get("/diff/{other}", summary="Compare two catalogs", response_model=Differences)
async def compare_catalogs(
    context: Context,
    catalog: Name,
    other: Name,
    table: Tables = None,
    rows: Annotated[bool, Query(description="Include the rows that differ.")] = False,
    limit: Limit = 20,
) -> Response:
    """Return the differences of catalog `other` from catalog `catalog`.

    Lists tables, columns and other definitions that differ, and counts added, removed and changed
    rows.
    """

    def compare() -> merging.Diff:
        names = [context.catalog(name, "catalog.diff").name for name in (catalog, other)]
        with context.service.sessions.open_internal() as session:
            return merging.diff(
                session, context.access.metastore, *names, tables=table, rows=rows, limit=limit
            )

    found = await to_thread.run_sync(compare, limiter=context.service.jobs)
    return Differences.of(found).to_response()


@router.post("/merge", summary="Merge a fork into a catalog", response_model=MergeResult)
async def merge_catalogs(context: Context, catalog: Name, body: NewMerge) -> Response:
    """Merge the changes made in `source` since the last merge into this catalog, as one snapshot.

    `source` can be a fork of this catalog, or its parent. Rows changed in both catalogs are
    returned as conflicts. With `dry_run`, nothing is changed.
    """
    merged = await to_thread.run_sync(
        _run_merge, context, catalog, body, limiter=context.service.jobs
    )
    return MergeResult.of(merged).to_response()


def _run_merge(context: RequestContext, catalog: str, body: NewMerge) -> merging.Merged:
    target = context.catalog(catalog, "catalog.diff" if body.dry_run else "catalog.merge")
    source = context.catalog(body.source, "catalog.diff")
    what = f"{source.name} into {target.name}"
    with (
        context.access.audit.recording(context.caller, "catalog.merge", what, catalog=target),
        context.service.sessions.open_internal() as session,
    ):
        request = body.request(source.name, target.name)
        return merging.merge_fork(
            session, context.access.metastore, request, author=context.caller.name
        )
