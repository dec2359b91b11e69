"""Readers among writers, which compare what they see repeatedly."""

from __future__ import annotations

from typing import NamedTuple

from tests.concurrency.processes import Start, for_seconds
from tests.concurrency.raw import RawMetastore
from tests.concurrency.writers import Opens
from tests.fix_metastore import Place
from tests.properties.observe import observe


def watch(place: Opens, catalog_name: str, seconds: float, start: Start) -> int:
    """Watch a catalog's head and history, and return how many snapshots were added."""
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
    """Watch the contents of a catalog, which must be consistent and stay the same per snapshot."""
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
    """The number of changes up to a snapshot that was reported as final."""

    upto: int
    changes: int


def look_at_all(place: Place, seconds: float, start: Start) -> list[Look]:
    """Repeatedly read the newest snapshot of the metastore, and count the changes up to it."""
    found: list[Look] = []
    with place.open() as metastore:
        start()
        for _ in for_seconds(seconds):
            latest = metastore.latest_snapshot()
            found.append(count_changes(RawMetastore(place), latest))
    return found


def count_changes(metastore: RawMetastore, upto: int) -> Look:
    """Return the number of changes of all catalogs up to a snapshot."""
    return Look(upto, sum(row["snapshot_id"] <= upto for row in metastore["snapshot_changes"]))
