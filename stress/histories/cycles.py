"""Anomalies of several transactions: cycles in the graph of their dependencies.

Three kinds of edges lead from a transaction to a later one: it wrote a version that the later one
replaced (ww), it wrote a version that the later one read (wr), or it read a version that the later
one replaced (rw). A fourth kind means that it was answered before the later one began (rt).

Snapshot isolation means that every cycle has two adjacent rw edges [1]. To find other cycles, every
transaction has two nodes: one reached by rw edges and one reached by other edges. Only from the
latter an rw edge leaves. Chains of additional nodes keep the number of edges small: one for the
ends of all transactions, and for each list one for the versions up to a read and one for those
after it.

[1] A. Cerone and A. Gotsman, 2018: a graph characterization of snapshot isolation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import rustworkx

from stress.histories.history import History, Transaction

# Names of cycles by the edges that they may contain, worst first.
KINDS: dict[str, frozenset[str]] = {
    "G0": frozenset({"ww"}),
    "G1c": frozenset({"ww", "wr"}),
    "G1c in real time": frozenset({"ww", "wr", "rt"}),
    "G-single": frozenset({"ww", "wr", "rw"}),
    "G-single in real time": frozenset({"ww", "wr", "rw", "rt"}),
}


def cycles(history: History) -> Iterator[str]:
    """Yield one cycle of the worst kind that occurs, if there is one."""
    for name, kinds in KINDS.items():
        graph = DependencyGraph(history, kinds)
        if found := graph.cycle():
            yield f"{name}: {' → '.join(one.name for one in found)}"
            return


def write_skews(history: History) -> int:
    """Return the number of transactions in cycles that snapshot isolation allows."""
    kinds = frozenset({"ww", "wr", "rw"})
    return len(DependencyGraph(history, kinds, allows_skew=False).entangled())


class DependencyGraph:
    """Graph of the order of transactions, by some kinds of edges."""

    def __init__(
        self, history: History, kinds: frozenset[str], *, allows_skew: bool = True
    ) -> None:
        self._history = history
        self._kinds = kinds
        self._graph: rustworkx.PyDiGraph[Transaction | None, None] = rustworkx.PyDiGraph()
        self._after: dict[str, int] = {}  # node of a transaction that is reached by other edges
        self._after_rw: dict[str, int] = {}
        self._edges: list[tuple[int, int]] = []
        for one in history.committed:
            self._after[one.name] = self._graph.add_node(one)
            is_twice = allows_skew and "rw" in kinds
            self._after_rw[one.name] = (
                self._graph.add_node(one) if is_twice else self._after[one.name]
            )
        for key, values in history.final.items():
            self._add_key(key, [history.writers[value] for value in values])
        if "rt" in kinds:
            self._add_time()
        self._graph.add_edges_from_no_data(self._edges)

    def cycle(self) -> list[Transaction]:
        """Return the transactions of a cycle, or an empty list."""
        for part in self._entangled_parts():
            inside = self._graph.subgraph(part)
            steps = (inside[source] for source, _ in rustworkx.digraph_find_cycle(inside, 0))
            return [one for one, _ in groupby(one for one in steps if one is not None)]
        return []

    def entangled(self) -> set[str]:
        """Return the names of all transactions on any cycle."""
        found = (self._graph[node] for part in self._entangled_parts() for node in part)
        return {one.name for one in found if one is not None}

    def _entangled_parts(self) -> Iterator[list[int]]:
        """Yield strongly connected nodes of two transactions or more.

        Chains can connect a transaction with itself, which is not a cycle.
        """
        for part in rustworkx.strongly_connected_components(self._graph):
            if len({one.name for node in part if (one := self._graph[node]) is not None}) > 1:
                yield list(part)

    def _precedes(self, one: int, other: Transaction, *, by_rw: bool = False) -> None:
        self._edges.append((one, (self._after_rw if by_rw else self._after)[other.name]))

    def _follows(self, one: Transaction, other: int) -> None:
        """Add edges from both nodes of a transaction to a node."""
        for node in {self._after[one.name], self._after_rw[one.name]}:
            self._edges.append((node, other))

    def _chain(self, length: int) -> list[int]:
        """Add nodes that lead from one to the next."""
        nodes = list(self._graph.add_nodes_from([None] * length))
        self._edges += pairwise(nodes)
        return nodes

    def _add_key(self, key: str, writers: Sequence[Transaction]) -> None:
        if "ww" in self._kinds and key in self._history.chained:
            for one, other in pairwise(writers):
                if one is not other:
                    self._follows(one, self._after[other.name])
        readers = [one for one in self._history.committed if key in one.seen]
        if "wr" in self._kinds:
            self._add_reads_of(key, writers, readers)
        if "rw" in self._kinds:
            self._add_replacements(key, writers, readers)

    def _add_reads_of(
        self, key: str, writers: Sequence[Transaction], readers: Sequence[Transaction]
    ) -> None:
        versions = self._chain(len(writers))
        for writer, node in zip(writers, versions, strict=True):
            self._follows(writer, node)
        for reader in readers:
            if length := len(reader.seen[key]):
                self._precedes(versions[length - 1], reader)

    def _add_replacements(
        self, key: str, writers: Sequence[Transaction], readers: Sequence[Transaction]
    ) -> None:
        versions = self._chain(len(writers))
        for writer, node in zip(writers, versions, strict=True):
            self._precedes(node, writer, by_rw=True)
        for reader in readers:
            later = len(reader.seen[key])
            while later < len(writers) and writers[later] is reader:
                later += 1
            if later < len(writers):
                self._edges.append((self._after[reader.name], versions[later]))

    def _add_time(self) -> None:
        done = sorted(
            (one for one in self._history.committed if one.ended < float("inf")),
            key=lambda one: one.ended,
        )
        moments = [one.ended for one in done]
        ends = self._chain(len(done))
        for one, node in zip(done, ends, strict=True):
            self._follows(one, node)
        for one in self._history.committed:
            if before := bisect_left(moments, one.began):
                self._precedes(ends[before - 1], one)
