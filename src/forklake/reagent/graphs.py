"""Graph of worktasks and their dependencies: unknown names, cycles and the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.reagent.workbooks import Workbook
from forklake.session.names import perhaps

Graph = Mapping[str, frozenset[str]]


def build_graph(workbook: Workbook, only: Iterable[str] = ()) -> Graph:
    """Return the worktasks, or those in `only`, each with the worktasks that it depends on.

    A worktask depends on those in its `after`, and on those earlier in the workbook that write a
    table which it reads as an input. If a later one writes such a table, `after` must define which
    of the two runs first.
    """
    chosen = {_require_task(workbook, name, "--only") for name in only} or set(workbook.tasks)
    writers = _map_writers(workbook)
    found: dict[str, frozenset[str]] = {}
    for name, task in workbook.tasks.items():
        named = {_require_task(workbook, other, f"task '{name}', after") for other in task.after}
        found[name] = frozenset(
            named | (_find_input_writers(workbook, name, writers) & found.keys())
        )
    _require_no_cycles(found)
    for name in workbook.tasks:
        for other in _find_input_writers(workbook, name, writers):
            _require_order(found, name, other)
    return {name: needs & chosen for name, needs in found.items() if name in chosen}


def _find_input_writers(
    workbook: Workbook, name: str, writers: Mapping[str, list[str]]
) -> set[str]:
    """Return the other worktasks that write tables of which a worktask reads the current state."""
    inputs = workbook.tasks[name].inputs.values()
    tables = {one.table for one in inputs if one.table and not one.jdbc and one.snapshot is None}
    return {writer for table in tables for writer in writers.get(folded(table), ())} - {name}


def _require_order(graph: Graph, reader: str, writer: str) -> None:
    if not (_depends_on(graph, reader, writer) or _depends_on(graph, writer, reader)):
        raise InvalidInput(
            f"Task '{reader}' reads a table that task '{writer}' writes, and their order is not"
            " defined.",
            remedy=f"Name one of them in the `after` of the other, such as after = ['{writer}'].",
        )


def _depends_on(graph: Graph, later: str, first: str) -> bool:
    """Return whether `later` depends on `first`, directly or indirectly."""
    return any(one == first or _depends_on(graph, one, first) for one in graph[later])


def group_by_order(graph: Graph) -> list[list[str]]:
    """Return the worktasks in groups, each depending only on those of earlier groups."""
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    groups: list[list[str]] = []
    while sorter.is_active():
        ready = list(sorter.get_ready())
        groups.append(sorted(ready, key=list(graph).index))
        sorter.done(*ready)
    return groups


def _map_writers(workbook: Workbook) -> dict[str, list[str]]:
    """Return the names of the worktasks that write each table."""
    found: dict[str, list[str]] = {}
    for name, task in workbook.tasks.items():
        if task.output is not None:
            found.setdefault(folded(task.output.table), []).append(name)
    return found


def _require_task(workbook: Workbook, name: str, where: str) -> str:
    if name not in workbook.tasks:
        raise InvalidInput(
            f"Workbook '{workbook.name}', {where}: task '{name}' does not exist.",
            remedy=perhaps(name, workbook.tasks, what="tasks"),
            task=name,
        )
    return name


def _require_no_cycles(graph: Graph) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as reason:
        circle = " → ".join(reversed(reason.args[1]))
        raise InvalidInput(
            f"Tasks depend on each other in a cycle: {circle}.",
            remedy="Remove one of them from the `after` of another.",
        ) from None
