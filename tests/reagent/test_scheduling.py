"""The scheduling of worktasks, tested with tasks that do nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklake.reagent.schedule import Schedule, State

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

    def __call__(self, name: str) -> State:
        with self._guard:
            assert self._tasks[name] <= self.done
            self.began.append(name)
            self.running += 1
            self.most = max(self.most, self.running)
        with self._guard:
            self.running -= 1
            if name in self._failing:
                return State.FAILED
            self.done.add(name)
            return State.DONE


@settings(max_examples=60, deadline=None)
@given(tasks=graphs(), workers=st.integers(1, 4), data=st.data())
def test_each_task_runs_once_after_its_dependencies(
    tasks: dict[str, frozenset[str]], workers: int, data: st.DataObject
) -> None:
    failing = data.draw(st.sets(st.sampled_from(sorted(tasks)), max_size=2))
    performer = Performer(tasks, failing)
    states = Schedule(tasks, performer, workers=workers, keep_going=True).run()
    assert sorted(set(performer.began)) == sorted(performer.began)
    assert performer.most <= workers
    for name, needs in tasks.items():
        is_hopeless = any(states[one] in (State.FAILED, State.SKIPPED) for one in needs)
        failed = State.FAILED if name in failing else State.DONE
        assert states[name] is (State.SKIPPED if is_hopeless else failed)


def test_as_many_tasks_run_concurrently_as_there_are_workers() -> None:
    together = threading.Barrier(3, timeout=20)

    def perform(name: str) -> State:
        together.wait()
        return State.DONE

    states = Schedule(graph(dict.fromkeys("abcdef", ())), perform, workers=3).run()
    assert set(states.values()) == {State.DONE}


def test_the_first_failure_stops_other_tasks() -> None:
    is_stopped = threading.Event()

    def perform(name: str) -> State:
        if name == "b":
            return State.FAILED
        if name == "x":
            assert is_stopped.wait(20)
            return State.CANCELLED
        return State.DONE

    schedule = Schedule(graph(CHAIN), perform, workers=2, stop=is_stopped.set)
    assert schedule.run() == {
        "a": State.DONE,
        "b": State.FAILED,
        "c": State.SKIPPED,
        "x": State.CANCELLED,
        "y": State.CANCELLED,
    }


def test_with_keep_going_independent_tasks_continue() -> None:
    performer = Performer(graph(CHAIN), {"b"})
    states = Schedule(graph(CHAIN), performer, workers=2, keep_going=True).run()
    assert states["y"] is State.DONE
    assert (states["b"], states["c"]) == (State.FAILED, State.SKIPPED)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_stops_running_tasks_and_waits_for_them(kind: type[BaseException]) -> None:
    is_stopped = threading.Event()
    ended: list[str] = []

    def perform(name: str) -> State:
        assert is_stopped.wait(20)
        ended.append(name)
        return State.CANCELLED

    def once(error: BaseException) -> Callable[[], None]:
        errors = [error]

        def look() -> None:
            if errors:
                raise errors.pop()

        return look

    tasks = graph({"a": (), "b": (), "c": ("a",)})
    schedule = Schedule(tasks, perform, workers=2, look=once(kind()), stop=is_stopped.set)
    with suppress(kind):
        schedule.run()
    assert sorted(ended) == ["a", "b"]
