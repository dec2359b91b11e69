"""maintain: run due maintenance of one catalog or of all, within a time limit.

All operations are safe to run concurrently, on any machine. A lease on each catalog prevents two
workers from doing the same work twice: a leased catalog is skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import ForklakeError
from forklake.maintenance.checkpoint_steps import Job, MaintenanceStep, compaction_jobs, run_steps
from forklake.store.heads import find_head

if TYPE_CHECKING:
    from forklake.session.session import Session

# Catalogs dropped or reclaimed in one transaction: each transaction reads all forks of their
# ancestors, so a batch must not be small.
_BATCH_SIZE = 10_000
OpenCompactions = Callable[[Catalog], AbstractContextManager[dict[str, tuple[str, Job]]]]


def maintain(
    metastore: Metastore,
    names: Sequence[str] | None = None,
    *,
    seconds: float | None = None,
    open_compactions: OpenCompactions | None = None,
) -> Iterator[MaintenanceStep]:
    """Run due maintenance, and yield each step once it is done.

    Args:
        names: the catalogs; by default all of them. In that case expired catalogs are dropped
            before, and rows of dropped catalogs are reclaimed after.
        seconds: no operation starts after this time.
        open_compactions: opens the compactions of a catalog (see
            `open_compactions_in`). Without it nothing is compacted, and Spark is not needed.
    """
    until = None if seconds is None else time.monotonic() + seconds
    if names is None:
        yield from _drop_expired(metastore, until)
    catalogs = (
        (Catalog(metastore, row) for row in metastore.all_catalogs())
        if names is None
        else [metastore.catalog(name) for name in names]
    )
    for catalog in catalogs:
        if until is not None and time.monotonic() >= until:
            return
        yield from _maintain_catalog(catalog, open_compactions, until)
    if names is None:
        yield from _reclaim(metastore, until)


def _maintain_catalog(
    catalog: Catalog, open_compactions: OpenCompactions | None, until: float | None
) -> Iterator[MaintenanceStep]:
    with catalog.database.upkeep(catalog.catalog_id) as is_ours:
        if not is_ours:
            yield MaintenanceStep(catalog.name, "skipped", 0, "another worker maintains it", 0.0)
            return
        try:
            with nullcontext({}) if open_compactions is None else open_compactions(catalog) as jobs:
                yield from (one for one in run_steps(catalog, jobs, until=until) if one.count)
        except ForklakeError as reason:  # go on with the other catalogs
            with catalog.database.reading() as connection:
                is_live = find_head(connection, catalog.catalog_id) is not None
            if is_live:
                yield MaintenanceStep(catalog.name, "failed", 0, reason.message, 0.0)


def _drop_expired(metastore: Metastore, until: float | None) -> Iterator[MaintenanceStep]:
    """Drop catalogs whose time to live has passed, in batches."""
    while until is None or time.monotonic() < until:
        began = time.monotonic()
        dropped = metastore.drop_expired(_BATCH_SIZE)
        if dropped:
            seconds = time.monotonic() - began
            yield MaintenanceStep("", "drop_expired", len(dropped), "catalogs", seconds)
        if len(dropped) < _BATCH_SIZE:
            return


def _reclaim(metastore: Metastore, until: float | None) -> Iterator[MaintenanceStep]:
    """Reclaim dropped catalogs, in batches."""
    while until is None or time.monotonic() < until:
        began = time.monotonic()
        reclaimed = metastore.reclaim_dropped(_BATCH_SIZE)
        seconds = time.monotonic() - began
        if reclaimed.catalogs:
            yield MaintenanceStep(
                "", "reclaim_dropped", len(reclaimed.catalogs), "catalogs", seconds
            )
        if reclaimed.files:
            yield MaintenanceStep("", "cleanup_old_files", len(reclaimed.files), "files", seconds)
        if len(reclaimed.catalogs) < _BATCH_SIZE:
            return


def open_compactions_in(
    session: Session, uri: str, metadata_schema: str | None = None
) -> OpenCompactions:
    """Return the compactions of catalogs in a session; each catalog is attached meanwhile."""

    @contextmanager
    def open_compactions(catalog: Catalog) -> Iterator[dict[str, tuple[str, Job]]]:
        alias = f"_upkeep_{int(catalog.catalog_id)}"
        session.attach(uri, alias, catalog=catalog.name, metadata_schema=metadata_schema)
        try:
            yield compaction_jobs(session, alias)
        finally:
            session.detach(alias)

    return open_compactions
