"""Files that have a row in the metastore, looked up by number or path across catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from forklake.model.children import ColumnMapping
from forklake.model.ids import CatalogId
from forklake.model.kinds import DATA_FILE, DELETE_FILE, Kind
from forklake.store.database import Connection, Dialect
from forklake.store.operations import Statement

_SCHEDULED = "ducklake_files_scheduled_for_deletion"
_FILES = (DATA_FILE.name, DELETE_FILE.name)


def is_ours(kind: Kind) -> str:
    """Return a condition on rows `r` of files: whether Forklake owns the file and may delete it.

    Files below a data path are owned. All others belong to the program that wrote them, unless
    their ownership was handed over when they were added.
    """
    if kind is not DATA_FILE:
        return "r.path_is_relative"
    return (
        f"(r.path_is_relative OR EXISTS (SELECT 1 FROM {ColumnMapping.NAME} m"
        " WHERE m.mapping_id = r.mapping_id AND m.is_owned))"
    )


def known_numbers(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """Return which of these files have a row in any catalog."""
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


def known_paths(connection: Connection, paths: Sequence[str], owner: CatalogId) -> set[str]:
    """Return which of these stored paths a catalog refers to, or has scheduled for deletion."""
    dialect = connection.dialect
    rows = connection.run(
        [
            Statement(
                f"SELECT path FROM {name} WHERE catalog_id = :catalog AND"
                f" {_one_of(dialect, 'path', 'paths')}",
                {"catalog": owner, "paths": dialect.array(paths)},
            )
            for name in (*_FILES, _SCHEDULED)
        ]
    )
    return {path for found in rows for (path,) in found}


# Lengths of path suffixes by which files are looked up: those of one length share a query.
_LENGTHS = (4, 12, 20, 30, 40)


class Known(Enum):
    """Rows that make a file known: of tables and of files scheduled for deletion; of tables only;
    or only rows of tables that refer to files outside of their catalog's folder."""

    ALL = (*_FILES, _SCHEDULED)
    TABLES = _FILES
    FOREIGN = (DATA_FILE.name,)


def rows_of_names(
    connection: Connection, names: Sequence[str], among: Known
) -> list[tuple[str, bool]]:
    """Return (path, is relative) of files of any catalog whose names may be among `names`.

    Names are compared by their last characters only, which is fast: filter the result.
    """
    dialect = connection.dialect
    foreign = ""
    if among is Known.FOREIGN:
        condition = "(mapping_id IS NOT NULL OR NOT path_is_relative)"
        text = f"SELECT catalog_id FROM {DATA_FILE.name} WHERE {condition} LIMIT 1"
        if not connection.fetch(text):
            return []
        foreign = f" AND {condition}"
    endings: dict[int, set[str]] = {}
    for name in names:
        length = max((one for one in _LENGTHS if one <= len(name)), default=1)
        endings.setdefault(length, set()).add(name[-length:])
    rows = connection.run(
        [
            Statement(
                f"SELECT DISTINCT path, path_is_relative, catalog_id FROM {table}"
                f" WHERE {_one_of(dialect, dialect.ending('path', length), 'endings')}{foreign}",
                {"endings": dialect.array(sorted(found))},
            )
            for table in among.value
            for length, found in endings.items()
        ]
    )
    return [(path, bool(is_relative)) for found in rows for path, is_relative, _ in found]


def _one_of(dialect: Dialect, column: str, parameter: str) -> str:
    """Return a condition on paths, which have no index.

    The form lets the database hash the paths and scan the table once. Comparing each row with all
    paths would take far too long.
    """
    if dialect.name == "postgresql":
        return f"{column} IN (SELECT unnest(CAST(:{parameter} AS text[])))"
    return dialect.any_of(column, parameter)
