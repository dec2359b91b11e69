"""ASGI application of the service: routes, error handlers, pages and middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from forklake.crucible import health, problems
from forklake.crucible.api import ROUTERS
from forklake.crucible.middleware import RequestMiddleware
from forklake.crucible.pages.installation import install as install_pages
from forklake.crucible.service import Service
from forklake.crucible.settings import Settings

_DESCRIPTION = (
    "A lakehouse whose catalogs can be forked in a millisecond. Every response has the header"
    " X-Request-Id. Every error response has the schema ProblemAnswer. Names in paths are"
    " percent-encoded, including slashes."
)


def create_app(settings: Settings) -> FastAPI:
    """Return the application for the given settings. `app.state.service` is its Service."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = settings.threads
        service.start()
        try:
            yield
        finally:
            await to_thread.run_sync(service.close)

    app = FastAPI(
        title="Forklake",
        version=version("forklake"),
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        responses=problems.DOCUMENTED,
    )
    app.state.service = service
    problems.install(app)
    app.include_router(health.router)
    for router in ROUTERS:
        app.include_router(router)
    install_pages(app)
    app.add_middleware(RequestMiddleware, service=service)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the cached OpenAPI document. All /v1 routes require the bearer credential."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["bearer"] = {"type": "http", "scheme": "bearer", "description": "API key or token"}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                if path.startswith("/v1/"):
                    operation["security"] = [{"bearer": []}]
        app.openapi_schema = document
    return app.openapi_schema
