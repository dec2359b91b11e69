"""What readers do while others write: they look, remember, and look again."""

from __future__ import annotations

from typing import NamedTuple

from tests.concurrency.processes import Start, for_seconds
from tests.concurrency.raw import RawMetastore
from tests.concurrency.writers import Opens
from tests.fix_metastore import Place
from tests.properties.observe import observe


def watch(place: Opens, catalog_name: str, seconds: float, start: Start) -> int:
    """Look at a catalog's head and history, over and over; how many snapshots came to be."""
    with place.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        seen = [snapshot.snapshot_id for snapshot in catalog.snapshots()]
        begun_with = len(seen)
        start()
        for _ in for_seconds(seconds):
            head = catalog.current_snapshot()
            assert head >= seen[-1], "the head went back"
            history = [snapshot.snapshot_id for snapshot in catalog.snapshots()]
            assert history[: len(seen)] == seen, "something changed below the newest snapshot"
            assert head in history, "the head is not part of the history"
            seen = history
    return len(seen) - begun_with


def watch_content(place: Opens, catalog_name: str, seconds: float, start: Start) -> int:
    """Look at all that a catalog shows; it never contradicts itself, and never changes later."""
    looks: dict[int, object] = {}
    with place.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        start()
        for _ in for_seconds(seconds):
            version = catalog.current_snapshot()
            looks[version] = observe(catalog, version)
        for seen, content in looks.items():
            assert observe(catalog, seen) == content
    return len(looks)


class Look(NamedTuple):
    """How many changes there were up to a snapshot that was said to be final."""

    upto: int
    changes: int


def look_at_all(place: Place, seconds: float, start: Start) -> list[Look]:
    """Ask for the newest snapshot of the whole metastore, and for everything up to it."""
    found: list[Look] = []
    with place.open() as metastore:
        start()
        for _ in for_seconds(seconds):
            latest = metastore.latest_snapshot()
            found.append(looked(RawMetastore(place), latest))
    return found


def looked(metastore: RawMetastore, upto: int) -> Look:
    """How many changes of any catalog there are up to a snapshot."""
    return Look(upto, sum(row["snapshot_id"] <= upto for row in metastore["snapshot_changes"]))
