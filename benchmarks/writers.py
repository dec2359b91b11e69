"""Preparation of writer processes: the operations that members of a crew repeat."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import forklake
from benchmarks.crew import Work
from benchmarks.lakes import data_file
from forklake import ForklakeError


def prepare_writer(uri: str, names: Sequence[str]) -> Work:
    """Prepare a process that adds one small data file per commit, to some catalogs in turn."""
    metastore = forklake.open(uri)
    catalogs = [metastore.catalog(name) for name in names]
    targets = itertools.cycle(
        [(catalog, catalog.refresh().table("events")) for catalog in catalogs]
    )
    numbers = itertools.count(1)

    def commit() -> None:
        catalog, table = next(targets)
        with catalog.transaction() as transaction:
            transaction.add_data_files(table, [data_file(next(numbers))])

    return Work(commit, (ForklakeError,), metastore.close)


def prepare_finder(uri: str, names: Sequence[str]) -> Work:
    """Prepare a process that looks up catalogs by name."""
    metastore = forklake.open(uri)
    wanted = itertools.cycle(names)

    def find() -> None:
        assert metastore.find(next(wanted)) is not None

    return Work(find, (ForklakeError,), metastore.close)
