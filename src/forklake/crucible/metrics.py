"""Prometheus metrics. Labels are routes and outcomes, never names of catalogs or principals."""

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
    """Metrics of one service, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "forklake_requests",
            "Requests answered",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "forklake_request_seconds",
            "Duration of requests",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.under_way = Gauge(
            "forklake_requests_under_way", "Requests in progress", registry=self.registry
        )
        self.created = self._add_counter("forklake_catalogs_created", "Catalogs created")
        self.forks = self._add_counter("forklake_forks", "Forks created")
        self.dropped = self._add_counter("forklake_catalogs_dropped", "Catalogs dropped")
        self.retries = self._add_counter("forklake_retries", "Changes retried")
        self.sessions = Gauge("forklake_sessions", "Open sessions", registry=self.registry)

    def _add_counter(self, name: str, description: str) -> Counter:
        return Counter(name, description, registry=self.registry)

    def add_pool(self, name: str, database: Database) -> None:
        """Add gauges for the connection pool of a database, labeled with the stamp `name`."""
        if isinstance(database, PostgresDatabase):
            self.registry.register(_PoolCollector(name, database))

    def render(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry)


class _PoolCollector(Collector):
    """Gauges of one connection pool, read at each scrape."""

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
    "pool_available": "Idle connections to the metadata database",
    "requests_waiting": "Requests waiting for a connection to the metadata database",
}
