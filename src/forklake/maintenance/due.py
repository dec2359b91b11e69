"""maintain: do what is due, for one catalog or for all, for no longer than there is time.

Every operation is safe beside all others, wherever they run. So that two do not do the same work,
whoever maintains a catalog holds a lease on it, and others pass it over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import ForklakeError
from forklake.maintenance.checkpointing import Step, Work, compactions, steps
from forklake.store.heads import find_head

if TYPE_CHECKING:
    from forklake.spark.session import Session

# Catalogs that are dropped, or reclaimed, at a time; each time, all forks of their ancestors are
# looked at.
_BATCH = 10_000
Compacting = Callable[[Catalog], AbstractContextManager[dict[str, tuple[str, Work]]]]


def maintain(
    metastore: Metastore,
    names: Sequence[str] | None = None,
    *,
    seconds: float | None = None,
    compacting: Compacting | None = None,
) -> Iterator[Step]:
    """Do what is due and tell each step once it is done.

    Args:
        names: which catalogs; if none are named all, and before them those whose time to live
            is over are dropped, and after them what was dropped is reclaimed.
        seconds: begin nothing new after that time.
        compacting: what compacts a catalog (see `with_session`); without it nothing is compacted,
            and no Spark is needed.
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
            yield Step(catalog.name, "passed over", 0, "others are at it", 0.0)
            return
        try:
            with nullcontext({}) if compacting is None else compacting(catalog) as work:
                yield from (one for one in steps(catalog, work, until=until) if one.count)
        except ForklakeError as reason:  # the other catalogs get their turn all the same
            with catalog.database.reading() as connection:
                is_live = find_head(connection, catalog.catalog_id) is not None
            if is_live:
                yield Step(catalog.name, "failed", 0, reason.message, 0.0)


def _drop_expired(metastore: Metastore, until: float | None) -> Iterator[Step]:
    """Catalogs whose time to live is over, batch by batch."""
    while until is None or time.monotonic() < until:
        began = time.monotonic()
        dropped = metastore.drop_expired(_BATCH)
        if dropped:
            taken = time.monotonic() - began
            yield Step("", "drop_expired", len(dropped), "catalogs", taken)
        if len(dropped) < _BATCH:
            return


def _reclaim(metastore: Metastore, until: float | None) -> Iterator[Step]:
    """Dropped catalogs, batch by batch."""
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
    """What compacts catalogs of a metastore in a session, each attached for as long as it takes."""

    @contextmanager
    def compacting(catalog: Catalog) -> Iterator[dict[str, tuple[str, Work]]]:
        alias = f"_upkeep_{int(catalog.catalog_id)}"
        session.attach(uri, alias, catalog=catalog.name, metadata_schema=metadata_schema)
        try:
            yield compactions(session, alias)
        finally:
            session.detach(alias)

    return compacting
