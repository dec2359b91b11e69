"""SQL functions for maintenance: they check arguments and call the package `maintenance`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forklake import maintenance
from forklake.errors import InvalidInput
from forklake.session.attachments import Attachment
from forklake.sql.functions.places import qualify_table_name, resolve_table
from forklake.sql.functions.snapshots import snapshot_row

if TYPE_CHECKING:
    from forklake.sql.session import Session


def expire_snapshots(
    session: Session,
    catalog: Attachment,
    versions: Sequence[int] | None = None,
    older_than: datetime | None = None,
    dry_run: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Expire snapshots by id or by age; by default those older than the option `expire_older_than`.

    Returns the expired snapshots.
    """
    if versions is not None and older_than is not None:
        raise InvalidInput(
            "Expiring snapshots cannot specify both 'versions' and 'older_than'.",
            remedy="Pass only one of them.",
        )
    _refuse_transaction(session, "expire_snapshots")
    expired = maintenance.expire_snapshots(
        session, catalog.alias, versions=versions, older_than=older_than, dry_run=dry_run
    )
    return map(snapshot_row, expired)


def merge_adjacent_files(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str] | None = None,
    schema: str | None = None,
    max_compacted_files: int | None = None,
    min_file_size: int | None = None,
    max_file_size: int | None = None,
) -> list[tuple[str, str, int, int]]:
    """Compact small files of tables into fewer large ones."""
    _check_compaction(session, catalog, table_name, schema, max_compacted_files)
    compacted = maintenance.merge_adjacent_files(
        session,
        catalog.alias,
        table_name,
        schema,
        min_file_size=min_file_size,
        max_file_size=max_file_size,
        max_compacted_files=max_compacted_files,
    )
    return [_compaction_row(one) for one in compacted]


def rewrite_data_files(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str] | None = None,
    schema: str | None = None,
    delete_threshold: float | None = None,
    max_compacted_files: int | None = None,
) -> list[tuple[str, str, int, int]]:
    """Rewrite data files without their deleted rows."""
    _check_compaction(session, catalog, table_name, schema, max_compacted_files)
    if delete_threshold is not None and not 0 <= delete_threshold <= 1:
        raise InvalidInput(
            f"The delete_threshold {delete_threshold} must be between 0 and 1.",
            remedy="Set it to the share of deleted rows from which on a file is rewritten.",
        )
    compacted = maintenance.rewrite_data_files(
        session,
        catalog.alias,
        table_name,
        schema,
        delete_threshold=delete_threshold,
        max_compacted_files=max_compacted_files,
    )
    return [_compaction_row(one) for one in compacted]


def flush_inlined_data(
    session: Session,
    catalog: Attachment,
    schema_name: str | None = None,
    table_name: Sequence[str] | None = None,
) -> list[tuple[str, str, int]]:
    """Write inlined rows to data files."""
    _check_schema_and_table(session, catalog, table_name, schema_name)
    flushed = maintenance.flush_inlined_data(session, catalog.alias, schema_name, table_name)
    return [(one.schema_name, one.table_name, one.rows_flushed) for one in flushed]


def add_data_files(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str],
    path: Sequence[str],
    schema: str | None = None,
    allow_missing: bool = False,
    ignore_extra_columns: bool = False,
    hive_partitioning: bool | None = None,
    take_ownership: bool = False,
) -> Iterator[tuple[str]]:
    """Add existing Parquet files to a table."""
    session.guard.check_files(path)
    alias, inside, table = qualify_table_name(session, catalog, table_name, schema)
    added = maintenance.add_data_files(
        session,
        alias,
        (inside, table),
        path,
        allow_missing=allow_missing,
        ignore_extra_columns=ignore_extra_columns,
        hive_partitioning=hive_partitioning,
        take_ownership=take_ownership,
    )
    return ((one,) for one in added)


def cleanup_old_files(
    session: Session,
    catalog: Attachment,
    older_than: datetime | None = None,
    cleanup_all: bool | None = None,
    dry_run: bool = False,
) -> list[tuple[str]]:
    """Delete files that no snapshot needs any longer."""
    return _run_cleanup(
        maintenance.cleanup_old_files, session, catalog, older_than, cleanup_all, dry_run
    )


def delete_orphaned_files(
    session: Session,
    catalog: Attachment,
    older_than: datetime | None = None,
    cleanup_all: bool | None = None,
    dry_run: bool = False,
) -> list[tuple[str]]:
    """Delete files that no snapshot has ever referred to."""
    return _run_cleanup(
        maintenance.delete_orphaned_files, session, catalog, older_than, cleanup_all, dry_run
    )


def _check_schema_and_table(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str] | None,
    schema: str | None,
) -> None:
    catalog.require_writable()
    if table_name is not None:
        resolve_table(session, catalog, table_name, schema)
    elif schema is not None:
        session.viewing(catalog).state.schema(schema)


def _check_compaction(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str] | None,
    schema: str | None,
    max_compacted_files: int | None,
) -> None:
    _check_schema_and_table(session, catalog, table_name, schema)
    if max_compacted_files == 0:
        raise InvalidInput(
            "No file can be written if max_compacted_files is 0.",
            remedy="Set max_compacted_files to 1 or more.",
        )


def _compaction_row(compacted: maintenance.CompactionResult) -> tuple[str, str, int, int]:
    return (
        compacted.schema_name,
        compacted.table_name,
        compacted.files_processed,
        compacted.files_created,
    )


def _refuse_transaction(session: Session, name: str) -> None:
    """Raise InvalidInput inside of a transaction, which could not roll back the procedure."""
    if session.in_transaction:
        raise InvalidInput(
            f"The procedure {name} cannot run inside a transaction.",
            remedy="Run COMMIT or ROLLBACK first.",
        )


def _run_cleanup(
    clean: Callable[..., list[str]],
    session: Session,
    catalog: Attachment,
    older_than: datetime | None,
    cleanup_all: bool | None,
    dry_run: bool,
) -> list[tuple[str]]:
    _refuse_transaction(session, clean.__name__)
    removed = clean(
        session,
        catalog.alias,
        older_than=older_than,
        cleanup_all=bool(cleanup_all),
        dry_run=dry_run,
    )
    return [(path,) for path in removed]
