"""Scheduler of worktasks: each starts when its dependencies are done and a worker is free.

It does not depend on what worktasks do. They run on threads of a pool, while the calling thread
watches them and receives interrupts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from enum import StrEnum
from graphlib import TopologicalSorter

from forklake.reagent.graphs import Graph

_INTERVAL = 0.1  # seconds between two checks of the running worktasks


class State(StrEnum):
    """State of a worktask."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"  # a dependency failed
    CANCELLED = "cancelled"  # the run was stopped before it ended


class Schedule:
    """One execution of a graph of worktasks."""

    def __init__(
        self,
        graph: Graph,
        perform: Callable[[str], State],
        *,
        workers: int,
        keep_going: bool = False,
        look: Callable[[], None] = lambda: None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a schedule that has not started.

        Args:
            perform: runs a worktask to its end, on a thread of the pool.
            keep_going: after a failure, run worktasks that do not depend on the failed one.
            look: called repeatedly while worktasks run.
            stop: called once to make running worktasks end soon.
        """
        self.states = dict.fromkeys(graph, State.WAITING)
        self._graph = graph
        self._perform = perform
        self._workers = workers
        self._keep_going = keep_going
        self._look = look
        self._stop = stop
        self._is_stopped = False
        self._ready: deque[str] = deque()
        self._running: dict[Future[State], str] = {}
        self._sorter = TopologicalSorter(graph)

    def run(self) -> dict[str, State]:
        """Run all worktasks that can run; return the final state of each."""
        self._sorter.prepare()
        with ThreadPoolExecutor(self._workers, thread_name_prefix="worktask") as pool:
            try:
                self._until_idle(pool)
            except BaseException:
                self._end_early()
                self._until_idle(pool)
                raise
        self._name_the_rest()
        return self.states

    def _until_idle(self, pool: ThreadPoolExecutor) -> None:
        self._begin(pool)
        while self._running:
            ended, _ = wait(self._running, _INTERVAL, return_when=FIRST_COMPLETED)
            self._look()
            for future in ended:
                self._note(self._running.pop(future), future.result())
            self._begin(pool)

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        if self._is_stopped:
            return
        self._ready.extend(self._sorter.get_ready())
        while self._ready and len(self._running) < self._workers:
            name = self._ready.popleft()
            self.states[name] = State.RUNNING
            self._running[pool.submit(self._perform, name)] = name

    def _note(self, name: str, state: State) -> None:
        self.states[name] = state
        if state is State.DONE:
            self._sorter.done(name)
        elif not self._keep_going:
            self._end_early()

    def _end_early(self) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._stop()

    def _name_the_rest(self) -> None:
        """Mark worktasks that never ran: skipped after a failed dependency, else cancelled."""
        for name in TopologicalSorter(self._graph).static_order():
            if self.states[name] is State.WAITING:
                needed = {self.states[other] for other in self._graph[name]}
                is_hopeless = needed & {State.FAILED, State.SKIPPED}
                self.states[name] = State.SKIPPED if is_hopeless else State.CANCELLED
