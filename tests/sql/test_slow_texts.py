"""Statements whose parsing once took quadratic or exponential time, and blocked all threads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from forklake.errors import InvalidInput, Unsupported
from forklake.files.file_search import found_files
from forklake.model.orders import order_of
from forklake.model.values import from_text
from forklake.sql.dialect.parsing import parse
from forklake.sql.statements.show import _filter_by_name
from forklake.sql.translate import to_spark

SECONDS = 2.0
LONG = 200_000


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """Fail a test that takes long."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < SECONDS


def translated(text: str, *columns: str) -> str:
    (query,) = parse(text)
    return to_spark(query, columns_of=lambda _: list(columns))


@pytest.mark.parametrize(
    "expression",
    [
        f"'x' LIKE '{'a' * LONG}%{'b' * LONG}%%'",
        f"x -> '${'.a' * LONG}'",
        f"INTERVAL '1{' ' * LONG}!'",
        f"INTERVAL '{'1' * LONG} days'",
        f"INTERVAL '{'1 day ' * LONG}'",
    ],
)
def test_long_patterns_and_intervals_are_parsed_in_linear_time(expression: str) -> None:
    with suppress(InvalidInput, Unsupported):
        translated(f"SELECT {expression}")


def test_a_number_of_many_digits_is_left_to_spark() -> None:
    assert "1" * 5000 in translated(f"SELECT {'1' * 5000}")


def test_numbers_are_parsed_in_linear_time() -> None:
    text = "1" * LONG + "x"
    order = order_of("float64")
    assert order is not None
    assert order.key(text) is None
    assert order.key("-12.5e3") == -12500
    with pytest.raises(InvalidInput):
        from_text("float64", text)
    assert from_text("float64", "-12.5e3") == -12500


def test_like_of_show_takes_linear_time() -> None:
    name = "a" * 250
    rows = pa.table({"name": [name, name + "b"]})
    assert _filter_by_name(rows, "%a" * 100 + "b").num_rows == 1
    assert _filter_by_name(rows, "a_%a").num_rows == 1
    assert _filter_by_name(rows, "%").num_rows == 2
    assert _filter_by_name(rows, "").num_rows == 0


def test_patterns_of_files_take_linear_time(tmp_path: Path) -> None:
    for name in ("a" * 200 + ".csv", "a.csv"):
        (tmp_path / name).write_text("x")
    found = found_files([f"{tmp_path}/{'*a' * 80}*.csv"])
    assert [one.rpartition("/")[2] for one in found] == ["a" * 200 + ".csv"]
    assert len(found_files([f"{tmp_path}/[!b]*.csv"])) == 2


def test_patterns_of_columns_have_the_meaning_of_duckdb() -> None:
    query = "SELECT COLUMNS('{}') FROM t"
    columns = ("a" * 40 + "!", "it's", "Éa")
    assert translated(query.format("^(a+)+\\p{Po}$"), *columns).count("a" * 40) == 1
    assert "it's" in translated(query.format("''"), *columns)
    for bad in ("(", r"(a)\1"):
        with pytest.raises(InvalidInput, match="pattern"):
            translated(query.format(bad), *columns)
    with pytest.raises(Unsupported, match="matches no column"):
        translated(query.format("^(a+)+$"), *columns)
