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
from forklake.maintenance.checkpoint_steps import Step, Work, compactions, steps
from forklake.store.heads import find_head

if TYPE_CHECKING:
    from forklake.session.session import Session

# Catalogs dropped or reclaimed in one transaction: each transaction reads all forks of their
# ancestors, so a batch must not be small.
_BATCH = 10_000
Compacting = Callable[[Catalog], AbstractContextManager[dict[str, tuple[str, Work]]]]


def maintain(
    metastore: Metastore,
    names: Sequence[str] | None = None,
    *,
    seconds: float | None = None,
    compacting: Compacting | None = None,
) -> Iterator[Step]:
    """Run due maintenance, and yield each step once it is done.

    Args:
        names: the catalogs; by default all of them. In that case expired catalogs are dropped
            before, and rows of dropped catalogs are reclaimed after.
        seconds: no operation starts after this time.
        compacting: the compactions of a catalog (see `with_session`); without it nothing is
            compacted, and Spark is not needed.
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
        yield from _maintain(catalog, compacting, until)
    if names is None:
        yield from _reclaim(metastore, until)


def _maintain(
    catalog: Catalog, compacting: Compacting | None, until: float | None
) -> Iterator[Step]:
    with catalog.database.upkeep(catalog.catalog_id) as is_ours:
        if not is_ours:
            yield Step(catalog.name, "skipped", 0, "another worker maintains it", 0.0)
            return
        try:
            with nullcontext({}) if compacting is None else compacting(catalog) as work:
                yield from (one for one in steps(catalog, work, until=until) if one.count)
        except ForklakeError as reason:  # go on with the other catalogs
            with catalog.database.reading() as connection:
                is_live = find_head(connection, catalog.catalog_id) is not None
            if is_live:
                yield Step(catalog.name, "failed", 0, reason.message, 0.0)


def _drop_expired(metastore: Metastore, until: float | None) -> Iterator[Step]:
    """Drop catalogs whose time to live has passed, in batches."""
    while until is None or time.monotonic() < until:
        began = time.monotonic()
        dropped = metastore.drop_expired(_BATCH)
        if dropped:
            taken = time.monotonic() - began
            yield Step("", "drop_expired", len(dropped), "catalogs", taken)
        if len(dropped) < _BATCH:
            return


def _reclaim(metastore: Metastore, until: float | None) -> Iterator[Step]:
    """Reclaim dropped catalogs, in batches."""
    while until is None or time.monotonic() < until:
        began = time.monotonic()
        done = metastore.reclaim_dropped(_BATCH)
        taken = time.monotonic() - began
        if done.catalogs:
            yield Step("", "reclaim_dropped", len(done.catalogs), "catalogs", taken)
        if done.files:
            yield Step("", "cleanup_old_files", len(done.files), "files", taken)
        if len(done.catalogs) < _BATCH:
            return


def with_session(session: Session, uri: str, metadata_schema: str | None = None) -> Compacting:
    """Return the compactions of catalogs in a session; each catalog is attached meanwhile."""

    @contextmanager
    def compacting(catalog: Catalog) -> Iterator[dict[str, tuple[str, Work]]]:
        alias = f"_upkeep_{int(catalog.catalog_id)}"
        session.attach(uri, alias, catalog=catalog.name, metadata_schema=metadata_schema)
        try:
            yield compactions(session, alias)
        finally:
            session.detach(alias)

    return compacting
