"""Random definitions on a catalog, its fork and a fork of that, which must be equal after merges.

The test is independent of how a merge decides. A merge may be refused; if it is not, merging back
makes both sides equal, names stay unique, and a further merge finds nothing.

`FORKLAKE_MERGES=2000` runs more.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import forklake
from forklake import Catalog, ColumnSpec, Session
from forklake.catalog.transaction import Transaction
from forklake.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from forklake.merging import merge_fork
from forklake.model.kinds import VIEW
from forklake.model.requests import MergeRequest
from tests.behavior.builders import COLUMNS, a_file

HISTORIES = int(os.environ.get("FORKLAKE_MERGES", "20"))
PAIRS = (("sales", "agent"), ("agent", "sales"), ("agent", "sub"), ("sub", "agent"))
_files = count()


def change(random: Random, transaction: Transaction) -> None:
    """Make one random change to the definitions or rows of a catalog."""
    name, column = random.choice("abc"), random.choice(("id", "name", "x", "y"))
    changes: list[Callable[[], object]] = [
        lambda: transaction.create_table(name, COLUMNS),
        lambda: transaction.create_view(name, "SELECT 1 AS one", dialect="duckdb"),
        lambda: transaction.drop_view(name),
    ]
    if random.random() < 0.7:
        table = transaction.table(name)
        changes = [
            lambda: transaction.drop_table(name),
            lambda: transaction.rename_table(name, random.choice("abc")),
            lambda: transaction.add_column(table, ColumnSpec(column, "int32")),
            lambda: transaction.drop_column(table, [column]),
            lambda: transaction.rename_column(table, [column], random.choice("xyz")),
            lambda: transaction.set_partitioning(table, [(column, "identity")]),
            lambda: transaction.set_nullable(table, [column], nulls_allowed=False),
            lambda: transaction.add_data_files(table, [a_file(f"{next(_files)}.parquet")]),
            lambda: transaction.insert_rows(table, [{}]),
        ]
    random.choice(changes)()


def content(catalog: Catalog) -> dict[Any, Any]:
    """Return all contents of a catalog, after checking that names are unique."""
    seen = catalog.now()
    state, views = seen.state, seen.state.rows(VIEW)
    taken = Counter(
        [*(row.table_name for row in state.tables()), *(row.view_name for row in views)]
    )
    found: dict[Any, Any] = {row.view_name: row.sql for row in views}
    for table in state.tables():
        columns = [(one.name, one.type, one.nulls_allowed) for one in state.fields(table)]
        taken.update((table.table_id, name) for name, *_ in columns)
        found[table.table_name, table.table_id] = (
            columns,
            [(key.column_id, key.transform) for key in state.partitioning(table)],
            sorted(file.path for file in seen.data_files(table)),
            len(seen.inlined_rows(table)),
        )
    assert not [name for name, number in taken.items() if number > 1]
    return found


@settings(
    max_examples=HISTORIES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_catalogs_merged_both_ways_are_equal(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    with Session() as session:
        _play(session, tmp_path_factory.mktemp("definitions"), Random(seed))
        assert session._engine is None


def _play(session: Session, folder: Path, random: Random) -> None:
    with forklake.open(f"ducklake:{folder / 'meta.db'}", create=True) as metastore:
        sales = metastore.create_catalog("sales", data_path="/data")
        with sales.transaction() as transaction:
            transaction.create_table("a", COLUMNS)
        catalogs = {"sales": sales, "agent": metastore.fork("sales", "agent")}
        catalogs["sub"] = metastore.fork("agent", "sub")

        def merge(source: str, target: str) -> int | None:
            return merge_fork(session, metastore, MergeRequest(source, into=target)).snapshot_id

        for _ in range(25):
            if random.random() < 0.7:
                one = random.choice(list(catalogs.values()))
                with suppress(AlreadyExists, InvalidInput, NotFound), one.transaction() as new:
                    change(random, new)
                continue
            source, target = random.choice(PAIRS)
            try:
                merge(source, target)
                merge(target, source)
            except Conflict:
                continue
            assert content(catalogs[source]) == content(catalogs[target])
            assert merge(source, target) is merge(target, source) is None
