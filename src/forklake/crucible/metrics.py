"""Metrics for Prometheus. Labels are routes and outcomes, never names of catalogs or people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from forklake.store.postgresql import PostgresDatabase

if TYPE_CHECKING:
    from forklake.store.database import Database

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What one service counts, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "forklake_requests",
            "Requests that were answered",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "forklake_request_seconds",
            "Time that requests took",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.under_way = Gauge(
            "forklake_requests_under_way", "Requests being answered", registry=self.registry
        )
        self.created = self._counter("forklake_catalogs_created", "Catalogs that were created")
        self.forks = self._counter("forklake_forks", "Forks that were made")
        self.dropped = self._counter("forklake_catalogs_dropped", "Catalogs that were dropped")
        self.retries = self._counter("forklake_retries", "Changes that were tried once more")
        self.sessions = Gauge("forklake_sessions", "Open sessions", registry=self.registry)

    def _counter(self, name: str, description: str) -> Counter:
        return Counter(name, description, registry=self.registry)

    def watch(self, name: str, database: Database) -> None:
        """Tell about the connections to a database too."""
        if isinstance(database, PostgresDatabase):
            self.registry.register(_Pool(name, database))

    def text(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)


class _Pool(Collector):
    """The connections of one pool, read when somebody looks."""

    def __init__(self, stamp: str, database: PostgresDatabase) -> None:
        self._stamp = stamp
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self._database.pool_statistics()
        for key, what in _POOL.items():
            family = GaugeMetricFamily(f"forklake_{key}", what, labels=("stamp",))
            family.add_metric((self._stamp,), found.get(key, 0))
            yield family


_POOL = {
    "pool_size": "Connections to the metadata database",
    "pool_available": "Connections that nobody uses",
    "requests_waiting": "Those who wait for a connection",
}
