"""The service behind the routes: its metastores, who may use them, its sessions and its chores."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from anyio import CapacityLimiter

from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.catalog.metastore import Metastore, open_metastore
from forklake.crucible.chores import Chores
from forklake.crucible.gathering import Gathering
from forklake.crucible.logs import note
from forklake.crucible.maintaining import Maintaining
from forklake.crucible.metrics import Metrics
from forklake.crucible.moving import settle
from forklake.crucible.proxies import Proxies
from forklake.crucible.refusals import Refusals
from forklake.crucible.sessions.sessions import Sessions
from forklake.crucible.settings import Settings
from forklake.crucible.stamps import Stamps
from forklake.errors import ForklakeError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog
    from forklake.sql.session import Session

# How long it is taken for granted who a credential belongs to: a revoked one is good for no longer.
_KNOWN_SECONDS = 1.0
_MOST_KNOWN = 10_000
# Requests that wait for Spark at a time; those that only talk to the metastore have other threads.
_JOBS = 8


class Service:
    """All that requests share. Safe to share between threads."""

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
            self.metrics.watch(name, self.stamps.metastore(name).database)
        self.gathering = Gathering()
        self.probes = CapacityLimiter(2)  # threads that may wait for a database that is gone
        self.jobs = CapacityLimiter(_JOBS)  # threads that may wait for Spark
        self.maintaining = Maintaining(self._session_for_upkeep)
        self.sessions = Sessions(settings)
        self.metrics.sessions.set_function(lambda: len(self.sessions.all()))
        self.is_closing = False
        self._chores = Chores(
            settings.expiry_seconds, [self._drop_expired, self._keep_stamps, self._write_denials]
        )
        self._known: dict[str, tuple[float, Caller]] = {}
        self._guard = threading.Lock()

    def access_of(self, caller: Caller) -> Access:
        """The rules of the metastore that a caller's account lives in."""
        return self.stamps.access_of(caller)

    # Who asks

    def known_caller(self, credential: str) -> Caller | None:
        """Who a credential belongs to, if that was found out a moment ago; asks nobody."""
        until, caller = self._known.get(credential, (0.0, None))
        is_fresh = until > time.monotonic() and caller and self.stamps.knows(caller.account)
        return caller if is_fresh else None

    def caller(self, credential: str, address: str = "") -> Caller:
        """Return the caller of a credential; LOCAL without one and without access rules.

        Raises RateLimited if too many credentials from the address were refused of late.
        """
        caller = self._identify(credential, address) if credential else self._anybody()
        self.stamps.account(caller.account)  # so that nobody has to ask for it who must not wait
        if caller.bound is not None:
            return caller  # a token ends at its second
        with self._guard:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[credential] = (time.monotonic() + _KNOWN_SECONDS, caller)
        return caller

    def _identify(self, credential: str, address: str) -> Caller:
        self.refusals.check(credential, address)
        try:
            caller = self.access.caller(credential, address)
        except Unauthenticated:
            self.refusals.refuse(credential, address)
            raise
        self.refusals.accept(credential)
        return caller

    def _anybody(self) -> Caller:
        if self.access.is_open():
            return LOCAL
        raise Unauthenticated(
            "The request does not say who asks.",
            remedy="Send an API key or a token: Authorization: Bearer ….",
        )

    def forget_callers(self) -> None:
        """Ask anew who credentials belong to."""
        with self._guard:
            self._known.clear()

    # Its life

    def start(self) -> None:
        """Begin with what it does by itself."""
        self._chores.start()
        self.sessions.start()

    def do_chores(self) -> None:
        """What it does by itself, now."""
        self._chores.do()

    def _drop_expired(self) -> None:
        for metastore in self.stamps.metastores():
            dropped = metastore.drop_expired()
            if dropped:
                Access(metastore).tidy()
            self.metrics.dropped.inc(len(dropped))

    def _write_denials(self) -> None:
        for metastore in self.stamps.metastores():
            Access(metastore).write_denials()

    def _keep_stamps(self) -> None:
        settle(self.stamps)
        self.stamps.share_identities()

    def _session_for_upkeep(self, catalog: Catalog, alias: str) -> Session:
        """A session of our own, in which rows of a catalog can be moved."""
        session = self.sessions.own()
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
        """The metastore answers and the service does not end; Unavailable if it is otherwise."""
        if self.is_closing:
            raise Unavailable("The service ends.", remedy="Ask another one.")
        for metastore in self.stamps.metastores():
            with metastore.database.reading() as connection:
                connection.fetch("SELECT 1")

    def close(self) -> None:
        """End the sessions and close all connections; may be called twice."""
        if self.is_closing:
            return
        self.is_closing = True
        self._chores.close()
        try:
            self._write_denials()
        except (
            ForklakeError
        ) as error:  # the database is gone, and the service is to end all the same
            note("audit entries lost", level=logging.WARNING, error=str(error))
        self.sessions.shutdown(self.settings.shutdown_seconds)
        self.maintaining.close()
        self.stamps.close()
        self.home.close()
