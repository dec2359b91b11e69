"""The scheduling of worktasks, tested with tasks that do nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklake.reagent.scheduler import Scheduler, TaskState

CHAIN = {"a": (), "b": ("a",), "c": ("b",), "x": ("a",), "y": ("x",)}


def graph(needs: Mapping[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(others) for name, others in needs.items()}


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, frozenset[str]]:
    """Draw tasks that depend on some of those before them."""
    names = [str(number) for number in range(draw(st.integers(1, 12)))]
    return {
        name: frozenset(draw(st.sets(st.sampled_from(names[:at])))) if at else frozenset()
        for at, name in enumerate(names)
    }


class Performer:
    """Records the order of tasks, some of which fail."""

    def __init__(self, tasks: Mapping[str, frozenset[str]], failing: set[str]) -> None:
        self._tasks = tasks
        self._failing = failing
        self._guard = threading.Lock()
        self.done: set[str] = set()
        self.began: list[str] = []
        self.running = 0
        self.most = 0

    def __call__(self, name: str) -> TaskState:
        with self._guard:
            assert self._tasks[name] <= self.done
            self.began.append(name)
            self.running += 1
            self.most = max(self.most, self.running)
        with self._guard:
            self.running -= 1
            if name in self._failing:
                return TaskState.FAILED
            self.done.add(name)
            return TaskState.DONE


@settings(max_examples=60, deadline=None)
@given(tasks=graphs(), workers=st.integers(1, 4), data=st.data())
def test_each_task_runs_once_after_its_dependencies(
    tasks: dict[str, frozenset[str]], workers: int, data: st.DataObject
) -> None:
    failing = data.draw(st.sets(st.sampled_from(sorted(tasks)), max_size=2))
    performer = Performer(tasks, failing)
    states = Scheduler(tasks, performer, workers=workers, keep_going=True).run()
    assert sorted(set(performer.began)) == sorted(performer.began)
    assert performer.most <= workers
    for name, needs in tasks.items():
        is_hopeless = any(states[one] in (TaskState.FAILED, TaskState.SKIPPED) for one in needs)
        failed = TaskState.FAILED if name in failing else TaskState.DONE
        assert states[name] is (TaskState.SKIPPED if is_hopeless else failed)


def test_as_many_tasks_run_concurrently_as_there_are_workers() -> None:
    together = threading.Barrier(3, timeout=20)

    def perform(name: str) -> TaskState:
        together.wait()
        return TaskState.DONE

    states = Scheduler(graph(dict.fromkeys("abcdef", ())), perform, workers=3).run()
    assert set(states.values()) == {TaskState.DONE}


def test_the_first_failure_stops_other_tasks() -> None:
    is_stopped = threading.Event()

    def perform(name: str) -> TaskState:
        if name == "b":
            return TaskState.FAILED
        if name == "x":
            assert is_stopped.wait(20)
            return TaskState.CANCELLED
        return TaskState.DONE

    scheduler = Scheduler(graph(CHAIN), perform, workers=2, stop=is_stopped.set)
    assert scheduler.run() == {
        "a": TaskState.DONE,
        "b": TaskState.FAILED,
        "c": TaskState.SKIPPED,
        "x": TaskState.CANCELLED,
        "y": TaskState.CANCELLED,
    }


def test_with_keep_going_independent_tasks_continue() -> None:
    performer = Performer(graph(CHAIN), {"b"})
    states = Scheduler(graph(CHAIN), performer, workers=2, keep_going=True).run()
    assert states["y"] is TaskState.DONE
    assert (states["b"], states["c"]) == (TaskState.FAILED, TaskState.SKIPPED)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_stops_running_tasks_and_waits_for_them(kind: type[BaseException]) -> None:
    is_stopped = threading.Event()
    ended: list[str] = []

    def perform(name: str) -> TaskState:
        assert is_stopped.wait(20)
        ended.append(name)
        return TaskState.CANCELLED

    def once(error: BaseException) -> Callable[[], None]:
        errors = [error]

        def look() -> None:
            if errors:
                raise errors.pop()

        return look

    tasks = graph({"a": (), "b": (), "c": ("a",)})
    scheduler = Scheduler(tasks, perform, workers=2, on_tick=once(kind()), stop=is_stopped.set)
    with suppress(kind):
        scheduler.run()
    assert sorted(ended) == ["a", "b"]
