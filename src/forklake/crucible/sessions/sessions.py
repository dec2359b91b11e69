"""Registry of all sessions of the service, with limits and an idle timeout."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

from forklake.access.access import Access
from forklake.access.callers import Caller
from forklake.crucible.sessions.engines import EngineFactory
from forklake.crucible.sessions.guard import AccessGuard
from forklake.crucible.sessions.pooled import PooledSession
from forklake.crucible.sessions.rows import Spool
from forklake.crucible.sessions.session import ServedSession
from forklake.crucible.sessions.watchdog import Watchdog
from forklake.crucible.settings import Settings
from forklake.errors import NotFound, QuotaExceeded, Unavailable

_INTERVAL = 0.25  # seconds between checks for timeouts


class Sessions:
    """Sessions of all callers. Thread-safe.

    Only the caller who opened a session can find it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        engines: EngineFactory | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._engines = engines or EngineFactory()
        self._clock = clock
        self._spool = Spool()
        self._guard = threading.Lock()
        self._open: dict[str, ServedSession] = {}
        self._ending: list[ServedSession] = []  # closed, but their threads are still running
        self._watchdog = Watchdog(settings.stop_seconds)
        self._is_closed = threading.Event()
        self._watch = threading.Thread(
            target=self._run_watch, name="forklake-sessions", daemon=True
        )

    # Lifecycle

    def start(self) -> None:
        """Start the thread that cancels overdue statements and closes idle sessions."""
        self._watch.start()

    def _run_watch(self) -> None:
        while not self._is_closed.wait(_INTERVAL):
            self.check_all()

    def check_all(self) -> None:
        """Cancel overdue statements and close sessions that were idle for too long."""
        for session in self.all():
            session.enforce_stop()
            if session.is_idle(self._settings.idle_seconds):
                self._remove(session)
        for session in self._list_ending():
            session.enforce_stop()
        self._watchdog.check_all()
        self._engines.lower_task_priority()

    def _list_ending(self) -> list[ServedSession]:
        with self._guard:
            self._ending = [one for one in self._ending if one.has_thread]
            return list(self._ending)

    def shutdown(self, seconds: float = 10.0) -> None:
        """Close all sessions, rolling back open transactions, and release Spark."""
        self._is_closed.set()
        deadline = time.monotonic() + seconds
        ended = [*self.all(), *self._list_ending()]
        for session in ended:
            session.end()
        for session in ended:
            session.wait_closed(max(0.0, deadline - time.monotonic()))
        with self._guard:
            self._open.clear()
        self._engines.close()
        self._spool.close()

    # Sessions

    def open(
        self,
        access: Access,
        caller: Caller,
        catalog: str,
        *,
        alias: str | None = None,
        snapshot: int | None = None,
    ) -> ServedSession:
        """Open a session that uses a catalog, read-only if the caller cannot write to it."""
        dialects = ("duckdb", "spark") if self._settings.spark_dialect else ("duckdb",)
        session = ServedSession(
            secrets.token_urlsafe(18),
            caller,
            AccessGuard(access, roots=self._settings.file_roots, dialects=dialects),
            self._engines,
            self._spool,
            self._watchdog,
            most_bytes=self._settings.result_bytes,
            clock=self._clock,
        )
        found = access.authorization.catalog(caller, catalog, "session.open")
        self._register(access, caller, session)
        try:
            with access.audit.recording(caller, "session.open", found.name, catalog=found):
                session.open(found.name, alias, snapshot)
        except BaseException:
            self._remove(session)
            session.wait_closed()
            raise
        return session

    def _register(self, access: Access, caller: Caller, session: ServedSession) -> None:
        """Register a session. Raise QuotaExceeded if there are too many."""
        with self._guard:
            if self._is_closed.is_set():
                raise Unavailable(
                    "The service is shutting down.", remedy="Send the request to another instance."
                )
            # A closed session counts until its thread has ended.
            taken = [*self._open.values(), *(one for one in self._ending if one.has_thread)]
            own = sum(one.owner.principal_id == caller.principal_id for one in taken)
            most = self._settings.sessions_per_principal
            if own >= most or len(taken) >= self._settings.sessions:
                whose = (
                    f"'{caller.name}' already has {own} open sessions"
                    if own >= most
                    else "The service has reached its maximum number of open sessions"
                )
                raise QuotaExceeded(
                    f"{whose}.", remedy="Close a session that is not in use, or try again later."
                )
            access.quotas.check_sessions(caller, own)
            self._open[session.session_id] = session

    def open_internal(self) -> PooledSession:
        """Return an internal session without access checks, on the same Spark."""
        return PooledSession(self._engines)

    def find(self, caller: Caller, session_id: str) -> ServedSession:
        """Return a session of the caller by id, or raise NotFound."""
        found = self._open.get(session_id)
        if found is None or _identity(found.owner) != _identity(caller):
            raise NotFound(
                "The session does not exist.",
                remedy="Open a new session. Idle sessions are closed automatically.",
            )
        found.touch()
        return found

    def list_for(self, caller: Caller) -> list[ServedSession]:
        """Return the sessions of a caller, oldest first."""
        return [one for one in self.all() if _identity(one.owner) == _identity(caller)]

    def all(self) -> list[ServedSession]:
        """Return all sessions, oldest first."""
        with self._guard:
            return list(self._open.values())

    def close(self, caller: Caller, session_id: str) -> None:
        """Close a session of the caller and roll back its open transaction."""
        session = self.find(caller, session_id)
        self._remove(session)
        session.wait_closed()

    def _remove(self, session: ServedSession) -> None:
        with self._guard:
            if self._open.pop(session.session_id, None) is not None and session.has_thread:
                self._ending.append(session)
        session.end()


def _identity(caller: Caller) -> tuple[object, ...]:
    """Return the identity that owns a session: the principal, and what a token is limited to."""
    bound = caller.bound
    rights = () if bound is None else (bound.catalog_id, bound.rights)
    return (caller.principal_id, *rights)
