"""Commits per second, with one catalog for each writer and with one catalog for all.

Commits are compared with writes of the same rows without the commit protocol, and with stock
DuckLake on the same server. A stock writer inserts a row, which includes writing a file unless the
row is inlined; our commits add a file that exists.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

import psycopg

from benchmarks import stock
from benchmarks.crew import Crew, Round
from benchmarks.figures import Figure, Setting, figure, median
from benchmarks.lakes import DATA_PATH, create_table, data_file, open_postgres, postgres_uri
from benchmarks.plans import note_index_use
from benchmarks.postgres_rows import prepare_bare_writer
from benchmarks.server import Server
from benchmarks.writers import prepare_writer

WRITERS = 16
_ROWS_OF = (
    "ducklake_snapshot_changes ducklake_data_file ducklake_file_column_stats"
    " ducklake_table_stats ducklake_table_column_stats ducklake_catalog_head"
)


class Contest:
    """Rates of several crews that are measured alternately, in rounds."""

    def __init__(self, setting: Setting, crews: Mapping[str, Crew]) -> None:
        self._server = setting.server
        self._rounds: dict[str, list[Round]] = {name: [] for name in crews}
        self._server_cpu: dict[str, list[float]] = {name: [] for name in crews}
        seconds = setting.size(5, 1)
        for crew in crews.values():
            crew.run(1)
        for _ in range(setting.size(5, 2)):
            for name, crew in crews.items():
                before = self._server.cpu_seconds()
                done = crew.run(seconds)
                after = self._server.cpu_seconds()
                self._rounds[name].append(done)
                if before is not None and after is not None:
                    self._server_cpu[name].append((after - before) / max(1, done.count))

    def rate(self, name: str) -> float:
        """Return the operations per second, the median of all rounds."""
        return median(one.rate for one in self._rounds[name])

    def ratio(self, name: str, other: str) -> float:
        """Return the rate relative to another crew, the median over pairs of adjacent rounds."""
        pairs = zip(self._rounds[name], self._rounds[other], strict=True)
        return median(one.rate / max(two.rate, 1e-9) for one, two in pairs)

    def failures(self, name: str) -> int:
        """Return how many operations failed in all rounds."""
        return sum(one.failures for one in self._rounds[name])

    def percentile(self, name: str, percent: int) -> float:
        """Return a percentile of the milliseconds per operation, the median of all rounds."""
        return 1e3 * median(one.percentile(percent) for one in self._rounds[name])

    def spread(self, name: str) -> float:
        """Return the rate of the slowest process relative to the mean, the median of all rounds."""
        return median(one.spread for one in self._rounds[name])

    def client_cpu(self, name: str) -> float:
        """Return the CPU time of the processes per operation in microseconds."""
        return 1e6 * median(one.client_cpu for one in self._rounds[name])

    def server_cpu(self, name: str) -> float | None:
        """Return the CPU time of the server per operation in microseconds."""
        times = self._server_cpu[name]
        return 1e6 * median(times) if times else None


def _catalogs(dsn: str, count: int) -> list[tuple[str, int, int]]:
    """Create catalogs with a table and a first file; return names, catalog ids and table ids."""
    made = []
    with open_postgres(dsn) as metastore:
        for number in range(count):
            catalog = metastore.create_catalog(f"writer_{number}", data_path=DATA_PATH)
            table = create_table(catalog)
            with catalog.transaction() as transaction:
                transaction.add_data_files(table, [data_file(0)])
            made.append((catalog.name, int(catalog.catalog_id), int(table.table_id)))
    return made


def _stock_crews(
    stack: ExitStack, server: Server, places: Sequence[stock.Place], label: str
) -> dict[str, Crew]:
    """Return crews of stock writers, one for each place, with and without inlining."""
    crews = {}
    for inlines in (False, True):
        dsn = stack.enter_context(server.database())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="forklake-bench-"))
        stock.create_tables(dsn, folder, places, inlines=inlines)
        arguments = [(dsn, folder, place, inlines) for place in places]
        name = f"{label}_{'inlined' if inlines else 'files'}"
        crews[name] = stack.enter_context(Crew(stock.prepare_stock_writer, arguments))
    return crews


def _require_same_rows(product: str, bare: str) -> None:
    """Require that both wrote the same rows per commit: otherwise the comparison is not valid."""
    found = []
    for dsn in (product, bare):
        with psycopg.connect(dsn) as connection:
            counts = []
            for table in _ROWS_OF.split():
                text = f"SELECT count(*) FROM {table}"
                counts.append(connection.execute(text.encode()).fetchall()[0][0])
            commits = counts[0]
            found.append([round(count / commits) for count in counts])
    if found[0] != found[1]:
        raise AssertionError(f"rows per commit: {found[0]}, but bare inserts: {found[1]}")


def different_catalogs(setting: Setting) -> Iterator[Figure]:
    """Measure writers that each commit to their own catalog."""
    name = "commits_different_catalogs"
    with ExitStack() as stack:
        product, bare = (stack.enter_context(setting.server.database()) for _ in range(2))
        names = [one for one, *_ in _catalogs(product, WRITERS)]
        numbers = [ids for _, *ids in _catalogs(bare, WRITERS)]
        uri = postgres_uri(product)
        crews = {
            "product": stack.enter_context(Crew(prepare_writer, [(uri, [one]) for one in names])),
            "bare": stack.enter_context(
                Crew(prepare_bare_writer, [(bare, *ids) for ids in numbers])
            ),
        }
        places = [(f"writer_{number}", "events") for number in range(WRITERS)]
        peers = _stock_crews(stack, setting.server, places, "stock")
        # The other way to separate writers with stock DuckLake: a table for each in one catalog.
        tables = [("shared", f"events_{number}") for number in range(WRITERS)]
        neighbours = _stock_crews(stack, setting.server, tables, "stock_tables")
        crews |= peers | neighbours
        measured = Contest(setting, crews)
        _require_same_rows(product, bare)
        note_index_use(setting, product)
        rate = measured.rate("product")
        yield figure(
            name,
            rate,
            "commits/s",
            baseline=measured.rate("bare"),
            ratio=measured.ratio("product", "bare"),
            target="≥ 0.7 times bare inserts",
        )
        best = max(peers, key=measured.rate)
        yield figure(
            f"{name}_against_stock",
            rate,
            "commits/s",
            baseline=measured.rate(best),
            ratio=measured.ratio("product", best),
            target="≥ 10 times stock",
        )
        best = max(neighbours, key=measured.rate)
        yield figure(
            f"{name}_against_stock_tables",
            rate,
            "commits/s",
            baseline=measured.rate(best),
            ratio=measured.ratio("product", best),
        )
        peers |= neighbours
        yield from _details(name, measured, peers)
        for who in ("product", "bare", *peers):
            yield figure(f"{name}_client_cpu_{who}", measured.client_cpu(who), "µs/commit")
            server_cpu = measured.server_cpu(who)
            if server_cpu is not None:
                yield figure(f"{name}_server_cpu_{who}", server_cpu, "µs/commit")


def one_catalog(setting: Setting) -> Iterator[Figure]:
    """Measure writers that all commit to one table of one catalog."""
    name = "commits_one_catalog"
    with ExitStack() as stack:
        product = stack.enter_context(setting.server.database())
        ((catalog, *_),) = _catalogs(product, 1)
        arguments = [(postgres_uri(product), [catalog])] * WRITERS
        crews = {"product": stack.enter_context(Crew(prepare_writer, arguments))}
        peers = _stock_crews(stack, setting.server, [("shared", "events")] * WRITERS, "stock")
        crews |= peers
        measured = Contest(setting, crews)
        note_index_use(setting, product)
        best = max(peers, key=measured.rate)
        yield figure(
            name,
            measured.rate("product"),
            "commits/s",
            baseline=measured.rate(best),
            ratio=measured.ratio("product", best),
            target="≥ 5 times stock",
        )
        yield figure(
            f"{name}_slowest_writer",
            measured.spread("product"),
            "of the mean",
            baseline=measured.spread(best),
            target="≥ 0.5 of the mean",
        )
        yield from _details(name, measured, peers)


def _details(name: str, measured: Contest, peers: Mapping[str, Crew]) -> Iterator[Figure]:
    yield figure(f"{name}_failures", measured.failures("product"), "failures", target="= 0")
    for who in peers:
        yield figure(f"{name}_{who}", measured.rate(who), "commits/s")
        yield figure(f"{name}_failures_{who}", measured.failures(who), "failures")
    for who in ("product", *peers):
        yield figure(f"{name}_p50_{who}", measured.percentile(who, 50), "ms")
        yield figure(f"{name}_p99_{who}", measured.percentile(who, 99), "ms")
