"""Progress of Delta table mirrors: one row for each table and engine, updated in place."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime

from forklake.model.ids import CatalogId, TableId
from forklake.store.database import Connection, Database
from forklake.store.operations import Insert, Statement

DELTA = "delta"  # the files of a Delta log


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorStatus:
    """Progress of a mirror.

    `state`: CURRENT, LAGGING (there are versions to mirror), FAILED (mirroring stopped by an
    error), DIVERGED (another program wrote a version that Forklake had to write).
    """

    catalog_id: CatalogId
    table_id: TableId
    mirror_engine: str = DELTA
    mirrored_version: int = -1
    checkpoint_version: int | None = None
    state: str = "LAGGING"
    last_error: str | None = None


_COLUMNS = tuple(one.name for one in fields(MirrorStatus))
_KEY = ("catalog_id", "table_id", "mirror_engine")


def find_status(database: Database, wanted: MirrorStatus) -> MirrorStatus:
    """Return the stored status of a mirror, or `wanted` if there is none."""
    with database.reading() as connection:
        rows = connection.fetch(
            f"SELECT {', '.join(_COLUMNS)} FROM dl_mirror_status WHERE {_matches()}",
            **_key(wanted),
        )
    return MirrorStatus(**dict(zip(_COLUMNS, rows[0], strict=True))) if rows else wanted


def put_status(database: Database, status: MirrorStatus) -> None:
    """Store the status of a mirror, unless a concurrent writer has stored a later version."""
    with database.writing() as connection:
        connection.commit(_operations(connection, status))


def _operations(connection: Connection, status: MirrorStatus) -> list[Statement | Insert]:
    now = datetime.now(UTC)
    row = tuple(getattr(status, column) for column in _COLUMNS)
    changed = [column for column in _COLUMNS if column not in _KEY]
    assigned = ", ".join(f"{column} = :{column}" for column in changed)
    given = {column: getattr(status, column) for column in _COLUMNS} | {"now": now}
    return [
        Insert(
            "dl_mirror_status",
            (*_COLUMNS, "last_sync_time", "updated_at"),
            [(*row, now, now)],
            skips_existing=True,
        ),
        Statement(
            f"UPDATE dl_mirror_status SET {assigned}, last_sync_time = :now, updated_at = :now"
            f" WHERE {_matches()} AND mirrored_version <= :mirrored_version",
            given,
        ),
    ]


def _matches() -> str:
    return " AND ".join(f"{column} = :{column}" for column in _KEY)


def _key(status: MirrorStatus) -> dict[str, object]:
    return {column: getattr(status, column) for column in _KEY}
