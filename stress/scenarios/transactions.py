"""Scenario with transactions that read and append to lists in one catalog; checks their history.

A list is a table with inlined rows. Lists with even numbers are one row that every append replaces,
so that concurrent appends conflict. In those with odd numbers, every append inserts a row.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

from tests.concurrency.processes import CONTEXT
from tests.fix_metastore import Place

from forklake import Catalog, ColumnSpec, Transaction
from forklake.errors import Conflict
from forklake.model.entities import Table
from stress.crews import read_journals
from stress.histories import history as told
from stress.histories.anomalies import anomalies
from stress.histories.cycles import write_skews
from stress.histories.history import Append, History, Operation, Outcome, Read
from stress.scenarios.scenario import Scenario
from stress.workers import EXPECTED, Role, Worker

CATALOG = "ledger"
KEYS = tuple(f"list_{number:02}" for number in range(40))
CHAINED = frozenset(KEYS[::2])
_VALUES_OF_A_WORKER = 1_000_000
Wanted = tuple[str, int | None]  # a key with the value to append, or None to read it


class Transactions(Scenario):
    """Invariant: the history of many clients of one catalog satisfies snapshot isolation."""

    name = "transactions"

    def prepare(self) -> None:
        with self.ground.place.open() as metastore:
            catalog = metastore.create_catalog(CATALOG, data_path=str(self.ground.lake))
            with catalog.transaction() as transaction:
                tables = {
                    key: transaction.create_table(key, [ColumnSpec("items", "varchar")])
                    for key in KEYS
                }
                for key in CHAINED:
                    transaction.insert_rows(tables[key], [{"items": ""}])

    def roles(self) -> list[Role]:
        places = islice(self.ground.places(), self.size.workers)
        return [Client(place) for place in places]

    def verify(self, journals: Path) -> Iterator[str]:
        # In a separate process, so that the memory of the history is released afterwards.
        with ProcessPoolExecutor(1, CONTEXT) as pool:
            found, facts = pool.submit(judge, self.ground.place, journals).result()
        self.facts |= facts
        yield from found


@dataclass(frozen=True)
class Client:
    """Role that runs transactions and records each at its start and after its answer."""

    place: Place
    most: int | None = None  # maximum number of transactions; by default only time limits it

    def __call__(self, worker: Worker) -> None:
        first = (1000 * worker.number + worker.life) * _VALUES_OF_A_WORKER
        values = count(first)
        with worker.opened(self.place) as metastore:
            catalog = worker.catalog(metastore, CATALOG)
            for number in islice(worker.turns(), self.most):
                wanted = list(_wanted(worker.random, values))
                self._run(worker, catalog, f"{worker.name}/{number}", wanted)

    def _run(self, worker: Worker, catalog: Catalog, name: str, wanted: list[Wanted]) -> None:
        began = time.monotonic()
        worker.note("begin", name=name, at=began, wanted=wanted)
        operations: list[Any] = []
        outcome = Outcome.OK
        try:
            with catalog.transaction() as transaction:
                operations = [_operated(transaction, *one) for one in wanted]
        except Conflict:
            outcome = Outcome.FAILED
        except EXPECTED:
            outcome = Outcome.UNKNOWN
        seconds = time.monotonic() - began
        worker.note(
            "transaction",
            name=name,
            at=began,
            seconds=seconds,
            outcome=outcome.value,
            operations=operations,
        )


def _wanted(random: Random, values: Iterator[int]) -> Iterator[Wanted]:
    """Yield the operations of a transaction: reads and appends, sometimes two to one list."""
    for _ in range(random.choice((1, 2, 2, 3, 4))):
        key = random.choice(KEYS)
        if random.random() < 0.6:
            yield key, None
            continue
        yield key, next(values)
        if random.random() < 0.2:
            yield key, next(values)
        if random.random() < 0.2:
            yield key, None


def _operated(transaction: Transaction, key: str, value: int | None) -> list[Any]:
    """Run one operation. Return the key with the values read or the value appended."""
    table = transaction.table(key)
    if value is None:
        return [key, _read(transaction, table)]
    if key in CHAINED:
        (row,) = transaction.inlined_rows(table)
        items = _text_of(row.values)
        transaction.update_rows(table, [(row, {"items": f"{items}{value},"})])
    else:
        transaction.insert_rows(table, [{"items": f"{value},"}])
    return [key, value]


def _read(transaction: Transaction, table: Table) -> list[int]:
    texts = (_text_of(row.values) for row in transaction.inlined_rows(table))
    return [int(item) for item in "".join(texts).split(",") if item]


def _text_of(values: Any) -> str:
    (text,) = values.values()
    return str(text)


def judge(place: Place, journals: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the anomalies in the history of a round, and numbers about it."""
    history = History(recorded(journals), _final(place), CHAINED)
    outcomes = Counter(one.outcome.value for one in history.transactions)
    began = time.monotonic()
    found = anomalies(history)
    facts = {
        "transactions": len(history.transactions),
        "acknowledged": outcomes["ok"],
        "refused": outcomes["failed"],
        "unanswered": outcomes["unknown"],
        "appends": sum(len(values) for values in history.final.values()),
        "in write skews": 0 if found else write_skews(history),
        "seconds to check": round(time.monotonic() - began, 2),
    }
    return found, facts


def _final(place: Place) -> dict[str, list[int]]:
    with place.open() as metastore:
        transaction = metastore.catalog(CATALOG).transaction()
        return {key: _read(transaction, transaction.table(key)) for key in KEYS}


def recorded(journals: Path) -> list[told.Transaction]:
    """Return the transactions of all journals. Those without an end have an unknown outcome."""
    begun: dict[str, dict[str, Any]] = {}
    done: list[told.Transaction] = []
    for record in read_journals(journals):
        if record["kind"] == "begin":
            begun[record["name"]] = record
        elif record["kind"] == "transaction":
            done.append(_told(begun.pop(record["name"]), record))
    return done + [_told(one, None) for one in begun.values()]


def _told(begun: dict[str, Any], answer: dict[str, Any] | None) -> told.Transaction:
    outcome = Outcome.UNKNOWN if answer is None else Outcome(answer["outcome"])
    operations: list[Operation] = [
        Append(key, value) for key, value in begun["wanted"] if value is not None
    ]
    if answer is not None and outcome is Outcome.OK:
        operations = [_operation(*one) for one in answer["operations"]]
    if answer is None or outcome is Outcome.UNKNOWN:
        return told.Transaction(begun["name"], operations, outcome, begun["at"])
    return told.Transaction(
        begun["name"], operations, outcome, begun["at"], begun["at"] + answer["seconds"]
    )


def _operation(key: str, what: int | list[int]) -> Operation:
    return Append(key, what) if isinstance(what, int) else Read(key, tuple(what))
