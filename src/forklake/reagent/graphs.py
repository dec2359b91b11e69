"""Which worktask needs which: unknown names, circles, and the order that follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.reagent.workbooks import Workbook
from forklake.spark.names import perhaps

Graph = Mapping[str, frozenset[str]]


def graph_of(workbook: Workbook, only: Iterable[str] = ()) -> Graph:
    """The worktasks, or only some of them, each with those that must be done before.

    A worktask needs those that it names, and those further up that write a table which it reads as
    an input. Of those further down that write one it must be said which comes first.
    """
    chosen = {_known(workbook, name, "--only") for name in only} or set(workbook.tasks)
    writers = _writers(workbook)
    found: dict[str, frozenset[str]] = {}
    for name, task in workbook.tasks.items():
        named = {_known(workbook, other, f"task '{name}', after") for other in task.after}
        found[name] = frozenset(named | (_written_for(workbook, name, writers) & found.keys()))
    _refuse_circles(found)
    for name in workbook.tasks:
        for other in _written_for(workbook, name, writers):
            _require_order(found, name, other)
    return {name: needs & chosen for name, needs in found.items() if name in chosen}


def _written_for(workbook: Workbook, name: str, writers: Mapping[str, list[str]]) -> set[str]:
    """The others that write tables which a worktask reads as they are now."""
    inputs = workbook.tasks[name].inputs.values()
    tables = {one.table for one in inputs if one.table and not one.jdbc and one.snapshot is None}
    return {writer for table in tables for writer in writers.get(folded(table), ())} - {name}


def _require_order(graph: Graph, reader: str, writer: str) -> None:
    if not (_needs(graph, reader, writer) or _needs(graph, writer, reader)):
        raise InvalidInput(
            f"Task '{reader}' reads a table that task '{writer}' writes, at the same time.",
            remedy="Say by `after` which of them comes first.",
        )


def _needs(graph: Graph, later: str, first: str) -> bool:
    """Whether one must be done before another, or before one that the other needs."""
    return any(one == first or _needs(graph, one, first) for one in graph[later])


def ordered(graph: Graph) -> list[list[str]]:
    """The worktasks in groups: each needs only those of groups before."""
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    groups: list[list[str]] = []
    while sorter.is_active():
        ready = list(sorter.get_ready())
        groups.append(sorted(ready, key=list(graph).index))
        sorter.done(*ready)
    return groups


def _writers(workbook: Workbook) -> dict[str, list[str]]:
    """The worktasks that write each table."""
    found: dict[str, list[str]] = {}
    for name, task in workbook.tasks.items():
        if task.output is not None:
            found.setdefault(folded(task.output.table), []).append(name)
    return found


def _known(workbook: Workbook, name: str, where: str) -> str:
    if name not in workbook.tasks:
        raise InvalidInput(
            f"Workbook '{workbook.name}', {where}: there is no task '{name}'.",
            remedy=perhaps(name, workbook.tasks, what="tasks"),
            task=name,
        )
    return name


def _refuse_circles(graph: Graph) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as reason:
        circle = " → ".join(reversed(reason.args[1]))
        raise InvalidInput(
            f"Tasks wait for each other in a circle: {circle}.",
            remedy="Take one of them out of the `after` of another.",
        ) from None
