"""The routes of the service, a module for each kind of thing."""

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
    merging,
    options,
    principals,
    schemas,
    sessions,
    tables,
    views,
)

# Routes are tried in this order: what is asked for most comes first.
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
    merging.router,
    access.router,
    principals.router,
    accounts.router,
    sessions.router,
    iceberg.router,
)
