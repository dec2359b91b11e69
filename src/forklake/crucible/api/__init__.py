"""Routes of the service, one module per resource."""

from __future__ import annotations

from fastapi import APIRouter

from forklake.crucible.api import (
    access,
    accounts,
    batches,
    catalogs,
    columns,
    forks,
    history,
    iceberg,
    maintenance,
    merges,
    options,
    principals,
    schemas,
    sessions,
    tables,
    views,
)

# Routes are matched in this order: the most frequently requested ones come first.
ROUTERS: tuple[APIRouter, ...] = (
    forks.router,
    catalogs.router,
    batches.router,
    schemas.router,
    tables.router,
    columns.router,
    views.router,
    history.router,
    options.router,
    maintenance.router,
    merges.router,
    access.router,
    principals.router,
    accounts.router,
    sessions.router,
    iceberg.router,
)
