"""State shared by all routes: metastores, access rules, sessions and background tasks."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from anyio import CapacityLimiter

from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.catalog.metastore import Metastore, open_metastore
from forklake.crucible.account_moves import finish_moves
from forklake.crucible.chores import Chores
from forklake.crucible.fork_batcher import ForkBatcher
from forklake.crucible.logs import log_event
from forklake.crucible.maintenance_runs import MaintenanceRuns
from forklake.crucible.metrics import Metrics
from forklake.crucible.proxies import Proxies
from forklake.crucible.refusals import Refusals
from forklake.crucible.sessions.sessions import Sessions
from forklake.crucible.settings import Settings
from forklake.crucible.stamps import Stamps
from forklake.errors import ForklakeError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog
    from forklake.sql.session import Session

# How long the caller of a credential is cached, and so how long a revoked credential still works.
_KNOWN_SECONDS = 1.0
_MOST_KNOWN = 10_000
# Concurrent requests that wait for Spark. Requests that only query the metastore use other threads.
_JOBS = 8


class Service:
    """State shared by all requests. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home: Metastore = open_metastore(
            settings.metastore, create=settings.create, metadata_schema=settings.metadata_schema
        )
        self.stamps = Stamps(self.home, settings.stamps)
        self.proxies = Proxies(settings.trusted_proxies)
        self.refusals = Refusals(settings.refusals_per_minute)
        self.access = Access(self.home)
        self.metrics = Metrics()
        for name in self.stamps.names:
            self.metrics.add_pool(name, self.stamps.metastore(name).database)
        self.fork_batcher = ForkBatcher()
        self.probes = CapacityLimiter(2)  # threads for readiness checks, which may hang
        self.jobs = CapacityLimiter(_JOBS)  # threads that wait for Spark
        self.maintenance_runs = MaintenanceRuns(self._open_internal_session)
        self.sessions = Sessions(settings)
        self.metrics.sessions.set_function(lambda: len(self.sessions.all()))
        self.is_closing = False
        self._chores = Chores(
            settings.expiry_seconds,
            [self._drop_expired, self._maintain_stamps, self._write_denials],
        )
        self._known: dict[str, tuple[float, Caller]] = {}
        self._guard = threading.Lock()

    def access_of(self, caller: Caller) -> Access:
        """Return the access rules in the stamp of a caller's account."""
        return self.stamps.access_of(caller)

    # Authentication

    def known_caller(self, credential: str) -> Caller | None:
        """Return the cached caller of a credential, or None. No I/O: safe in the event loop."""
        until, caller = self._known.get(credential, (0.0, None))
        is_fresh = until > time.monotonic() and caller and self.stamps.is_cached(caller.account)
        return caller if is_fresh else None

    def caller(self, credential: str, address: str = "") -> Caller:
        """Return the caller of a credential; LOCAL without one and without access rules.

        Raise Unauthenticated if the credential is missing or invalid, and RateLimited if too many
        invalid credentials came from the address recently.
        """
        caller = self._identify(credential, address) if credential else self._anonymous_caller()
        # Cache the account, so that the event loop does not have to read it from the database.
        self.stamps.account(caller.account)
        if caller.bound is not None:
            return caller  # not cached, because a token expires to the second
        with self._guard:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[credential] = (time.monotonic() + _KNOWN_SECONDS, caller)
        return caller

    def _identify(self, credential: str, address: str) -> Caller:
        self.refusals.check(credential, address)
        try:
            caller = self.access.authentication.identify(credential, address)
        except Unauthenticated:
            self.refusals.refuse(credential, address)
            raise
        self.refusals.accept(credential)
        return caller

    def _anonymous_caller(self) -> Caller:
        if self.access.principals.is_empty():
            return LOCAL
        raise Unauthenticated(
            "The request has no credential.",
            remedy="Send an API key or token in the header: Authorization: Bearer <credential>.",
        )

    def forget_callers(self) -> None:
        """Clear the cache of callers."""
        with self._guard:
            self._known.clear()

    # Lifecycle

    def start(self) -> None:
        """Start the background tasks."""
        self._chores.start()
        self.sessions.start()

    def run_chores(self) -> None:
        """Run all background tasks once, now."""
        self._chores.run_all()

    def _drop_expired(self) -> None:
        for metastore in self.stamps.metastores():
            dropped = metastore.drop_expired()
            if dropped:
                Access(metastore).grants.tidy()
            self.metrics.dropped.inc(len(dropped))

    def _write_denials(self) -> None:
        for metastore in self.stamps.metastores():
            Access(metastore).audit.write_denials()

    def _maintain_stamps(self) -> None:
        finish_moves(self.stamps)
        self.stamps.share_identities()

    def _open_internal_session(self, catalog: Catalog, alias: str) -> Session:
        """Return an internal session with the catalog attached, for maintenance that moves rows."""
        session = self.sessions.open_internal()
        uri = self.stamps.uri_of(catalog.database)
        try:
            session.attach(
                uri or self.settings.metastore,
                alias,
                catalog=catalog.name,
                metadata_schema=None if uri else self.settings.metadata_schema,
            )
        except BaseException:
            session.close()
            raise
        return session

    def check_ready(self) -> None:
        """Raise Unavailable if the service is shutting down or a metastore does not respond."""
        if self.is_closing:
            raise Unavailable(
                "The service is shutting down.", remedy="Send the request to another instance."
            )
        for metastore in self.stamps.metastores():
            with metastore.database.reading() as connection:
                connection.fetch("SELECT 1")

    def close(self) -> None:
        """Close the sessions and all connections. Further calls do nothing."""
        if self.is_closing:
            return
        self.is_closing = True
        self._chores.close()
        try:
            self._write_denials()
        except ForklakeError as error:  # a lost database must not prevent the shutdown
            log_event("audit entries lost", level=logging.WARNING, error=str(error))
        self.sessions.shutdown(self.settings.shutdown_seconds)
        self.maintenance_runs.close()
        self.stamps.close()
        self.home.close()
