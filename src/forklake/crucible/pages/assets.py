"""Static files of the pages: style sheet, script, icon, and htmx from its package."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from forklake.errors import NotFound

routes = APIRouter(include_in_schema=False)
_HERE = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# URLs contain a hash of the contents, so browsers can cache the files forever.
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def _find_htmx() -> Path:
    """Return the path of htmx, which is in a Django package. Django itself is not loaded."""
    spec = find_spec("django_htmx")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], "static", "django_htmx", "htmx-2.min.js")


@cache
def _load_assets() -> dict[str, tuple[bytes, str]]:
    """Return the contents and media type of each file by its name."""
    paths = {path.name: path for path in _HERE.iterdir()} | {"htmx.js": _find_htmx()}
    return {name: (path.read_bytes(), _TYPES[path.suffix]) for name, path in paths.items()}


@cache
def asset_url(name: str) -> str:
    """Return the URL of a file."""
    return f"/static/{name}?{hashlib.sha256(_load_assets()[name][0]).hexdigest()[:12]}"


@routes.get("/static/{name}")
async def send_asset(name: str) -> Response:
    """Return a file."""
    if name not in _load_assets():
        raise NotFound(f"File '{name}' does not exist.", remedy="Reload the page.")
    content, kind = _load_assets()[name]
    return Response(content, media_type=kind, headers=_FOR_EVER)
