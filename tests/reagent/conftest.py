"""Fixtures with workbooks, and places to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import forklake
from forklake.engines.spark.engine import Engine
from forklake.reagent import LocalPlace, Workbook, make_workbook
from tests.fix_metastore import Place

Make = Callable[..., Workbook]


@pytest.fixture
def backend() -> str:
    """Return the fastest backend; tests override it."""
    return "sqlite"


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that makes a workbook of tasks."""

    def made(tasks: dict[str, Any], **stated: Any) -> Workbook:
        return make_workbook(
            {"name": "book", "catalog": "sales", "folder": str(tmp_path), "tasks": tasks, **stated}
        )

    return made


@pytest.fixture
def metadata_only(place: Place, tmp_path: Path) -> Iterator[LocalPlace]:
    """Yield a catalog `sales` whose rows are inlined, so that no Spark is needed."""
    with place.open() as metastore:
        catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
        catalog.set_option("data_inlining_row_limit", 1000)
        with catalog.transaction() as transaction:
            columns = [forklake.ColumnSpec("id", "int32"), forklake.ColumnSpec("name", "varchar")]
            transaction.create_table("t", columns)
    with LocalPlace(place.uri, metadata_schema=place.metadata_schema) as found:
        yield found


@pytest.fixture
def lab(place: Place, tmp_path: Path, engine: Engine) -> Iterator[LocalPlace]:
    """Yield an empty catalog `sales`, on the shared Spark of the tests."""
    with place.open() as metastore:
        metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    with LocalPlace(place.uri, metadata_schema=place.metadata_schema, spark=engine.spark) as found:
        yield found
