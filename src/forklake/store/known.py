"""Files that the metastore knows: by number, or by path, in whichever catalog."""

from __future__ import annotations

from collections.abc import Sequence

from forklake.model.children import ColumnMapping
from forklake.model.ids import CatalogId
from forklake.model.kinds import DATA_FILE, DELETE_FILE, Kind
from forklake.store.database import Connection, Dialect
from forklake.store.operations import Statement

_SCHEDULED = "ducklake_files_scheduled_for_deletion"


def is_ours(kind: Kind) -> str:
    """A condition on rows `r` of files: whether we may remove the file when nobody needs it.

    What lies below a data path is ours. Everything else is somebody's who wrote it, unless it was
    handed over.
    """
    if kind is not DATA_FILE:
        return "r.path_is_relative"
    return (
        f"(r.path_is_relative OR EXISTS (SELECT 1 FROM {ColumnMapping.NAME} m"
        " WHERE m.mapping_id = r.mapping_id AND m.is_owned))"
    )


def known_numbers(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """Which of some files have a row in any catalog."""
    dialect = connection.dialect
    given = {"files": dialect.array(numbers)}
    rows = connection.run(
        [
            Statement(
                f"SELECT DISTINCT {kind.entity} FROM {kind.name}"
                f" WHERE {dialect.any_of(str(kind.entity), 'files')}",
                given,
            )
            for kind in (DATA_FILE, DELETE_FILE)
        ]
    )
    return {number for found in rows for (number,) in found}


def known_foreign_paths(connection: Connection, paths: Sequence[str]) -> set[str]:
    """Which of some paths are of files that others wrote and that are part of any table."""
    dialect = connection.dialect
    foreign = f"SELECT path FROM {DATA_FILE.name} WHERE mapping_id IS NOT NULL"
    if not connection.fetch(f"{foreign} LIMIT 1"):
        return set()
    rows = connection.fetch(
        f"{foreign} AND {dialect.any_of('path', 'paths')}", paths=dialect.array(paths)
    )
    return {path for (path,) in rows}


def known_paths(
    connection: Connection, paths: Sequence[str], owner: CatalogId | None = None
) -> set[str]:
    """Which of some stored paths a catalog knows, or any; files that wait to be removed as well."""
    dialect = connection.dialect
    given = {"paths": dialect.array(paths)} | ({} if owner is None else {"catalog": owner})
    mine = "" if owner is None else "catalog_id = :catalog AND "
    rows = connection.run(
        [
            Statement(f"SELECT path FROM {name} WHERE {mine}{_one_of(dialect)}", given)
            for name in (DATA_FILE.name, DELETE_FILE.name, _SCHEDULED)
        ]
    )
    return {path for found in rows for (path,) in found}


def _one_of(dialect: Dialect) -> str:
    """A condition on paths. There is no index on them: they are hashed, and the table is read
    once, where comparing each row with all of them would take for ever."""
    if dialect.name == "postgresql":
        return "path IN (SELECT unnest(CAST(:paths AS text[])))"
    return dialect.any_of("path", "paths")
