"""Models of snapshots, storage use, options, mirrors and maintenance runs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from forklake.catalog.storage import CatalogStorage
from forklake.crucible.shapes.base import Moment, RequestBody, ResponseBody
from forklake.delta.overview import DeltaTableStatus
from forklake.model import snapshots


class Snapshot(ResponseBody):
    """Snapshot. `catalog_id` is the catalog that committed it."""

    snapshot_id: int
    time: datetime
    schema_version: int
    catalog_id: int
    changes: list[str]
    author: str | None
    message: str | None
    extra_info: str | None

    @classmethod
    def of(cls, one: snapshots.Snapshot) -> Snapshot:
        """Return the model of a snapshot."""
        return cls(
            snapshot_id=one.snapshot_id,
            time=one.snapshot_time,
            schema_version=one.schema_version,
            catalog_id=one.catalog_id,
            changes=[str(change) for change in one.changes],
            author=one.author,
            message=one.commit_message,
            extra_info=one.commit_extra_info,
        )


class Snapshots(ResponseBody):
    """Newest snapshots, oldest first. To get older ones, pass `next` as `before`."""

    snapshots: list[Snapshot]
    next: int | None


class Storage(ResponseBody):
    """Storage use of a catalog in bytes.

    `private_bytes` are in files that only this catalog can read, `shared_bytes` in files that other
    catalogs can read too; `freed_bytes` are freed when it is dropped.
    """

    private_bytes: int
    shared_bytes: int
    freed_bytes: int

    @classmethod
    def of(cls, one: CatalogStorage) -> Storage:
        """Return the model of computed storage use."""
        return cls(
            private_bytes=one.private_bytes,
            shared_bytes=one.shared_bytes,
            freed_bytes=one.freed_bytes,
        )


class Option(ResponseBody):
    """Option with its effective value and the scope where it is set."""

    name: str
    value: str | None
    scope: str


class Options(ResponseBody):
    """List of all options."""

    options: list[Option]


class SetOption(RequestBody):
    """Value of an option; null removes the setting."""

    value: str | int | float | bool | None


class Mirror(ResponseBody):
    """Delta table of a catalog.

    `version` is its newest version, `mirrored` the newest version written to the Delta log (null
    for none), and `lag` the number of versions still to be written.
    """

    schema_name: str
    table: str
    location: str | None
    version: int
    mirrored: int | None
    lag: int | None
    state: str

    @classmethod
    def of(cls, one: DeltaTableStatus) -> Mirror:
        """Return the model of a Delta table with its mirror status."""
        return cls(
            schema_name=one.schema,
            table=one.table.table_name,
            location=one.delta_table.location,
            version=one.version,
            mirrored=one.mirrored_version,
            lag=one.lag,
            state=one.state,
        )


class Mirrors(ResponseBody):
    """List of all Delta tables of a catalog."""

    mirrors: list[Mirror]


class NewRun(RequestBody):
    """Parameters of a maintenance run. `wait_seconds` is how long the request waits for its end."""

    table: str | None = None
    schema_name: str | None = None
    older_than: Moment | None = None
    dry_run: bool = False
    wait_seconds: Annotated[float, Field(ge=0, le=30)] = 0.0


class RunInfo(ResponseBody):
    """Maintenance run. `state` is `queued`, `running`, `done` or `failed`.

    `count` is the number of snapshots, files or tables processed, as `unit` states.
    """

    run: str
    operation: str
    state: str
    started: datetime
    ended: datetime | None
    count: int | None
    unit: str
    error: str | None


class RunList(ResponseBody):
    """Latest maintenance runs of a catalog since the service started, newest first."""

    runs: list[RunInfo]
