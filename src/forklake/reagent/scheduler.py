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


class TaskState(StrEnum):
    """State of a worktask."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"  # a dependency failed
    CANCELLED = "cancelled"  # the run was stopped before it ended


class Scheduler:
    """One execution of a graph of worktasks."""

    def __init__(
        self,
        graph: Graph,
        perform: Callable[[str], TaskState],
        *,
        workers: int,
        keep_going: bool = False,
        on_tick: Callable[[], None] = lambda: None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a schedule that has not started.

        Args:
            perform: runs a worktask to its end, on a thread of the pool.
            keep_going: after a failure, run worktasks that do not depend on the failed one.
            look: called repeatedly while worktasks run.
            stop: called once to make running worktasks end soon.
        """
        self.states = dict.fromkeys(graph, TaskState.WAITING)
        self._graph = graph
        self._perform = perform
        self._workers = workers
        self._keep_going = keep_going
        self._on_tick = on_tick
        self._stop = stop
        self._is_stopped = False
        self._ready: deque[str] = deque()
        self._running: dict[Future[TaskState], str] = {}
        self._sorter = TopologicalSorter(graph)

    def run(self) -> dict[str, TaskState]:
        """Run all worktasks that can run; return the final state of each."""
        self._sorter.prepare()
        with ThreadPoolExecutor(self._workers, thread_name_prefix="worktask") as pool:
            try:
                self._run_until_idle(pool)
            except BaseException:
                self._end_early()
                self._run_until_idle(pool)
                raise
        self._mark_unstarted()
        return self.states

    def _run_until_idle(self, pool: ThreadPoolExecutor) -> None:
        self._start_ready(pool)
        while self._running:
            ended, _ = wait(self._running, _INTERVAL, return_when=FIRST_COMPLETED)
            self._on_tick()
            for future in ended:
                self._record_state(self._running.pop(future), future.result())
            self._start_ready(pool)

    def _start_ready(self, pool: ThreadPoolExecutor) -> None:
        if self._is_stopped:
            return
        self._ready.extend(self._sorter.get_ready())
        while self._ready and len(self._running) < self._workers:
            name = self._ready.popleft()
            self.states[name] = TaskState.RUNNING
            self._running[pool.submit(self._perform, name)] = name

    def _record_state(self, name: str, state: TaskState) -> None:
        self.states[name] = state
        if state is TaskState.DONE:
            self._sorter.done(name)
        elif not self._keep_going:
            self._end_early()

    def _end_early(self) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._stop()

    def _mark_unstarted(self) -> None:
        """Mark worktasks that never ran: skipped after a failed dependency, else cancelled."""
        for name in TopologicalSorter(self._graph).static_order():
            if self.states[name] is TaskState.WAITING:
                needed = {self.states[other] for other in self._graph[name]}
                is_hopeless = needed & {TaskState.FAILED, TaskState.SKIPPED}
                self.states[name] = TaskState.SKIPPED if is_hopeless else TaskState.CANCELLED
