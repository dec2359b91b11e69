"""A Delta table becomes a table of a catalog: its files stay, its history comes along.

First the whole log is read and checked, then its versions are committed one after the other: a log
that is not right changes nothing. A table that is there already goes on from its newest version,
so that an import which was cut short is simply run again, and following a log is the same thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from posixpath import basename

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading, find_face
from forklake.delta.loading import Loader
from forklake.delta.log.reading import DeltaLog
from forklake.delta.log.replay import State, replay
from forklake.delta.schema import DeltaColumnMapping, parse_schema
from forklake.errors import AlreadyExists, Corruption
from forklake.files.systems import file_system, is_local
from forklake.model.entities import Table
from forklake.model.faces import FaceMode

Progress = Callable[[int, int], None]  # versions done, versions in all


@dataclass(frozen=True, slots=True)
class Imported:
    """A table that was imported: how many versions came, and the files it has now."""

    schema: str
    table: str
    first_version: int
    version: int
    loaded: int
    files: int


def import_delta(
    catalog: Catalog,
    location: str,
    name: str | None = None,
    *,
    schema: str = "main",
    mode: FaceMode = FaceMode.FOLLOW,
    progress: Progress = lambda done, total: None,
) -> Imported:
    """Make a table of the Delta table at a location, or bring one that was made up to date."""
    root = canonical_location(location)
    table_name = name or basename(root)
    log = DeltaLog(root).open()
    state = replay(log)
    _require_loadable(state)
    loader = Loader(catalog, (schema, table_name), root, mode)
    after = _resumed(catalog, loader, (schema, table_name), root)
    total, loaded, first = state.version - after, 0, after + 1
    for version in log.versions(after):
        first = version.number if not loaded else first
        loader.load(version)
        loaded += 1
        progress(loaded, total)
    _verify(loader, state, root)
    return Imported(schema, table_name, first, state.version, loaded, len(loader.live))


def canonical_location(location: str) -> str:
    """The one form of a table's location, without a slash at its end."""
    return (file_system(location)[1] if is_local(location) else location).rstrip("/")


def _require_loadable(state: State) -> None:
    """Unsupported if a column has a type that the lake has not."""
    assert state.metadata is not None  # or it could not have been replayed
    parse_schema(state.metadata.schema_string, DeltaColumnMapping.of(state.metadata.configuration))


def _resumed(catalog: Catalog, loader: Loader, name: tuple[str, str], location: str) -> int:
    """The version that the table has; -1 if there is no table yet."""
    seen = catalog.now()
    schema, table_name = name
    table = seen.state.find_relation(table_name, schema) if seen.state.find_schema(schema) else None
    if table is None:
        return -1
    face = find_face(seen.state, table) if isinstance(table, Table) else None
    if face is None or not isinstance(table, Table) or face.location != location:
        raise AlreadyExists(
            f"Table or view '{schema}.{table_name}' already exists, and is not the Delta table at"
            f" {location!r}.",
            remedy="Import it under another name.",
        )
    loader.resume(table)
    return FaceReading(seen, table).latest().version


def _verify(loader: Loader, state: State, location: str) -> None:
    """Corruption if the table does not have the files that the log adds up to."""
    if len(loader.live) != len(state.adds):
        raise Corruption(
            f"The Delta table at {location!r} has {len(state.adds)} files, and the table that was"
            f" made of it {len(loader.live)}.",
            remedy="The log contradicts itself; drop the table.",
        )
