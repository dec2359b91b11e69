"""Check of data paths: none may lie within that of another catalog.

A catalog writes, and looks for orphaned files to delete, in its own folder below its data path.
Catalogs may share a data path, because no two have the same folder there. But a data path within
another one could be the folder of a catalog.
"""

from __future__ import annotations

from forklake.errors import InvalidInput
from forklake.model.data_paths import enclosed_range, list_enclosing, list_spellings
from forklake.store.database import Connection, Dialect, Lock
from forklake.store.operations import Statement

# Condition on catalogs `c` that may still have files: live, read by forks, or not yet reclaimed.
_HAS_FILES = (
    "c.path IS NOT NULL AND (c.end_snapshot IS NULL OR EXISTS (SELECT l.catalog_id"
    " FROM ducklake_catalog_lineage l WHERE l.catalog_id = c.catalog_id AND l.depth = 0)"
    " OR EXISTS (SELECT s.catalog_id FROM ducklake_files_scheduled_for_deletion s"
    " WHERE s.catalog_id = c.catalog_id))"
)
_CATALOG = "SELECT c.catalog_name, c.data_path, c.end_snapshot FROM ducklake_catalog c WHERE"


def claim_data_path(connection: Connection, path: str) -> None:
    """Raise InvalidInput if a data path overlaps with that of a catalog; `path` is normalized.

    Until the transaction ends, no other transaction can claim a data path that is not in use yet.
    Lock order: this lock is taken before FENCE.
    """
    dialect = connection.dialect
    same = f"{_CATALOG} {dialect.in_code_order('c.data_path')} = :path AND c.end_snapshot IS NULL"
    if connection.fetch(f"{same} LIMIT 1", path=path):
        return  # it was checked when that catalog was created
    connection.run(connection.lock(Lock.DATA_PATHS))
    refuse_overlap(connection, path)


def refuse_overlap(connection: Connection, path: str, *, ignored: str | None = None) -> None:
    """Raise InvalidInput if a data path overlaps with that of a catalog, except `ignored`."""
    found = [
        row
        for rows in connection.run(_overlapping(connection.dialect, path, ignored or ""))
        for row in rows
    ]
    if not found:
        return
    name, other, end_snapshot = found[0]
    if end_snapshot is None:
        raise InvalidInput(
            f"The data path {path!r} overlaps with {other!r} of the catalog '{name}'.",
            remedy="Use the same data path, or one outside of it.",
            catalog=name,
        )
    raise InvalidInput(
        f"The data path {path!r} overlaps with {other!r} of the dropped catalog '{name}', whose"
        " files have not been removed yet.",
        remedy="Use another data path, or remove the files first: `forklake maintain`.",
        catalog=name,
    )


def refuse_location(connection: Connection, location: str) -> None:
    """Raise InvalidInput if an external table would overlap with the folder of a catalog.

    The orphan scan of that catalog would find the files of the table, or a vacuum of the table the
    files of the catalog. A location beside the folders of catalogs, below a data path, is allowed.
    """
    dialect = connection.dialect
    spellings = list_spellings(location)
    folders = [f"{part}/" for part in location.split("/") if part]
    of_folders = (
        "SELECT c.catalog_name, c.data_path, c.path FROM ducklake_catalog c"
        f" WHERE {dialect.any_of('c.path', 'folders')} AND {_HAS_FILES}"
    )
    for name, data_path, folder in connection.fetch(of_folders, folders=dialect.array(folders)):
        of_catalog = tuple(f"{one}{folder}" for one in list_spellings(data_path or ""))
        if any(one.startswith(of_catalog) for one in spellings):
            raise _inside(location, name, f"{data_path}{folder}")
    column = dialect.in_code_order("c.data_path")
    same = f"{_CATALOG} {dialect.any_of(column, 'paths')} AND {_HAS_FILES} LIMIT 1"
    around = [Statement(same, {"paths": dialect.array(spellings)}), *_within(dialect, location)]
    for rows in connection.run(around):
        for name, data_path, _ in rows:
            raise _inside(location, name, data_path)


def _inside(location: str, catalog: str, folder: str) -> InvalidInput:
    return InvalidInput(
        f"The location {location!r} overlaps with {folder!r} of the catalog '{catalog}', which"
        " stores its files there.",
        remedy="Choose a folder outside of the folders of catalogs.",
        catalog=catalog,
    )


def _overlapping(dialect: Dialect, path: str, ignored: str = "") -> list[Statement]:
    """Return the statements that find catalogs within a data path and around it, by its index."""
    column = dialect.in_code_order("c.data_path")
    statements = _within(dialect, path, ignored)
    if enclosing := [one for folder in list_enclosing(path) for one in list_spellings(folder)]:
        text = f"{_CATALOG} {dialect.any_of(column, 'paths')} AND {_other(dialect)}"
        paths = {"paths": dialect.array(enclosing), "ignored": ignored}
        statements.insert(0, Statement(text, paths))
    return statements


def _within(dialect: Dialect, path: str, ignored: str = "") -> list[Statement]:
    column = dialect.in_code_order("c.data_path")
    text = f"{_CATALOG} {column} > :after AND {column} < :before AND {_other(dialect)}"
    bounds = map(enclosed_range, list_spellings(path))
    return [
        Statement(text, {"after": after, "before": before, "ignored": ignored})
        for after, before in bounds
    ]


def _other(dialect: Dialect) -> str:
    return f"{dialect.in_code_order('c.data_path')} <> :ignored AND {_HAS_FILES} LIMIT 1"
