"""Snapshots, storage, options and mirrors, as requests and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from forklake.catalog.storage import CatalogStorage
from forklake.crucible.shapes.base import Answer, Body, Moment
from forklake.delta.overview import Standing
from forklake.model import snapshots


class Snapshot(Answer):
    """A snapshot; `catalog_id` is the catalog whose commit it was."""

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
        """A snapshot as the catalog sees it."""
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


class Snapshots(Answer):
    """The newest snapshots, oldest first; older ones come `before` the number `next`."""

    snapshots: list[Snapshot]
    next: int | None


class Storage(Answer):
    """The bytes of a catalog's files: its own, those that others see too, and what a drop frees."""

    private_bytes: int
    shared_bytes: int
    freed_bytes: int

    @classmethod
    def of(cls, one: CatalogStorage) -> Storage:
        """What the metastore found out."""
        return cls(
            private_bytes=one.private_bytes,
            shared_bytes=one.shared_bytes,
            freed_bytes=one.freed_bytes,
        )


class Option(Answer):
    """An option with the value in force and where it was set."""

    name: str
    value: str | None
    scope: str


class Options(Answer):
    """All options."""

    options: list[Option]


class SetOption(Body):
    """The value of an option; null removes it."""

    value: str | int | float | bool | None


class Mirror(Answer):
    """A table that is a Delta table too, and how far its mirror has got."""

    schema_name: str
    table: str
    location: str | None
    version: int
    mirrored: int | None
    lag: int | None
    state: str

    @classmethod
    def of(cls, one: Standing) -> Mirror:
        """What the metastore knows of a mirror."""
        return cls(
            schema_name=one.schema,
            table=one.table.table_name,
            location=one.face.location,
            version=one.version,
            mirrored=one.mirrored,
            lag=one.lag,
            state=one.state,
        )


class Mirrors(Answer):
    """All mirrors of a catalog."""

    mirrors: list[Mirror]


class Maintain(Body):
    """What maintenance is told: which tables, how old, and whether only to look."""

    table: str | None = None
    schema_name: str | None = None
    older_than: Moment | None = None
    dry_run: bool = False
    wait_seconds: Annotated[float, Field(ge=0, le=30)] = 0.0


class Run(Answer):
    """A run of maintenance."""

    run: str
    operation: str
    state: str
    started: datetime
    ended: datetime | None
    count: int | None
    unit: str
    error: str | None


class Runs(Answer):
    """The latest runs on a catalog since the service began, newest first."""

    runs: list[Run]
