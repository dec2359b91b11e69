"""SQL functions that list the files of tables, and their number and size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forklake.catalog.catalog_view import CatalogView
from forklake.errors import InvalidInput
from forklake.model.entities import Table
from forklake.model.scans import ScanFile
from forklake.sql.functions.places import resolve_table

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session


def list_files(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str],
    schema: str | None = None,
    snapshot_version: int | None = None,
    snapshot_time: datetime | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield the data files of a table with their delete files, in a current or past state."""
    if snapshot_version is not None and snapshot_time is not None:
        raise InvalidInput(
            "The files of a table cannot be listed at both a snapshot_version and a snapshot_time.",
            remedy="Pass only one of them.",
        )
    view, table = resolve_table(
        session, catalog, table_name, schema, version=snapshot_version, timestamp=snapshot_time
    )
    shows_keys = session.guard.shows_keys()
    return (_file_row(file, shows_keys) for file in view.scan_files(table))


def _file_row(scan_file: ScanFile, shows_keys: bool) -> tuple[Any, ...]:
    file, deletes = scan_file.file, scan_file.delete_file
    return (
        scan_file.path,
        file.file_size_bytes,
        file.footer_size,
        file.encryption_key if shows_keys else None,
        scan_file.delete_path,
        deletes.file_size_bytes if deletes else None,
        deletes.footer_size if deletes else None,
        deletes.encryption_key if deletes and shows_keys else None,
    )


def table_info(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str] | None = None,
    schema: str | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield the number and size of files, for one table, a schema or the whole catalog."""
    if table_name is not None:
        view, table = resolve_table(session, catalog, table_name, schema)
        return iter([_info_row(view, table)])
    view = session.viewing(catalog)
    schemas = [view.state.schema(schema)] if schema is not None else view.state.schemas()
    tables = [table for one in schemas for table in view.state.tables(one.schema_name)]
    return (_info_row(view, table) for table in tables)


def _info_row(view: CatalogView, table: Table) -> tuple[Any, ...]:
    files = view.scan_files(table)
    deletes = [one.delete_file for one in files if one.delete_file is not None]
    return (
        table.table_name,
        table.schema_id,
        table.table_id,
        table.table_uuid,
        len(files),
        sum(one.file.file_size_bytes for one in files),
        len(deletes),
        sum(one.file_size_bytes for one in deletes),
    )
