"""Routes for forks: create one or many, list them, return the fork tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.crucible.callers import Context
from forklake.crucible.shapes.base import Limit, Name
from forklake.crucible.shapes.catalogs import (
    Catalog,
    CatalogPage,
    CreatedCatalogs,
    NewForks,
    Tree,
    TreeNode,
)
from forklake.store.catalogs import CatalogRow
from forklake.store.provisioning import Provided

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["forks"])


@router.post("/forks", summary="Fork a catalog", status_code=201, response_model=CreatedCatalogs)
async def create_forks(context: Context, catalog: Name, body: NewForks) -> Response:
    """Create one or many forks of the current state or of a retained snapshot.

    Nothing is copied unless `mode` is `copy`. Forks requested concurrently may share a snapshot.
    """
    request = body.request(catalog)
    if body.if_not_exists:
        provided = await to_thread.run_sync(context.access.catalogs.fork, context.caller, request)
    else:
        rows = await context.service.fork_batcher.fork(context.access, context.caller, request)
        provided = Provided(rows, len(rows))
    context.service.metrics.forks.inc(provided.created)
    return CreatedCatalogs.of(provided).to_response(201)


@router.get("/forks", summary="List the forks of a catalog", response_model=CatalogPage)
def list_forks(
    context: Context,
    catalog: Name,
    after: Annotated[
        str, Query(max_length=255, description="Return the forks that follow this name.")
    ] = "",
    limit: Limit = 100,
) -> Response:
    """List the direct forks of a catalog that the caller can read, ordered by name."""
    parent = context.catalog(catalog, "catalog.forks").row
    rows = list(islice(context.access.visible.forks(context.caller, parent, after=after), limit))
    return CatalogPage.of(rows, limit).to_response()


@router.get("/tree", summary="Get the fork tree of a catalog", response_model=Tree)
def get_fork_tree(
    context: Context,
    catalog: Name,
    depth: Annotated[int, Query(ge=1, le=64, description="Maximum number of levels.")] = 3,
    limit: Limit = 100,
) -> Response:
    """Return the forks below a catalog, each followed by its own forks.

    Levels are read from the top until `limit` catalogs are found.
    """
    root = context.catalog(catalog, "catalog.tree").row
    children: dict[int, list[CatalogRow]] = {}
    waiting, count, is_cut = deque([(0, root)]), 1, False
    while waiting:
        level, parent = waiting.popleft()
        for row in context.access.visible.forks(context.caller, parent) if level < depth else ():
            is_cut = count >= limit
            if is_cut:
                break
            children.setdefault(parent.catalog_id, []).append(row)
            waiting.append((level + 1, row))
            count += 1
        if is_cut:
            break
    return Tree(nodes=list(_walk_tree(root, children)), is_cut=is_cut).to_response()


def _walk_tree(root: CatalogRow, children: dict[int, list[CatalogRow]]) -> Iterator[TreeNode]:
    waiting = [(0, root)]
    while waiting:
        depth, row = waiting.pop()
        yield TreeNode(depth=depth, catalog=Catalog.of(row))
        waiting += [(depth + 1, one) for one in reversed(children.get(row.catalog_id, []))]
