"""Limits of memory and time for computing constants, which reveal nothing of the service."""

from __future__ import annotations

import resource
import threading
import time
from contextlib import suppress

import pytest
import sqlglot

from forklake.engines.local import evaluation
from forklake.engines.local.calculator import interrupt
from forklake.engines.local.constant_functions import is_plain
from forklake.errors import InvalidInput
from forklake.sql import constants, parameters
from forklake.sql.dialect.parsing import parse


def value(text: str) -> object:
    return constants.evaluate_constant(sqlglot.parse_one(text, read="duckdb"))


def test_ordinary_constants_equal_those_of_duckdb() -> None:
    assert value("1 + 1") == 2
    assert value("upper('a') || repeat('b', 3)") == "Abbb"
    assert value("{'a': [1, NULL]}") == {"a": [1, None]}
    assert value("regexp_replace('abc', 'b', 'x')") == "axc"


@pytest.mark.parametrize(
    "text",
    [
        "len(repeat('a', 2000000000))",
        "damerau_levenshtein(repeat('a', 14000), repeat('b', 14000))",
        pytest.param(
            "levenshtein(repeat('a', 400000), repeat('b', 400000))", marks=pytest.mark.slow
        ),
        "repeat('a', 100000000)",
    ],
)
def test_constants_beyond_the_limits_are_refused(text: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(InvalidInput):
        value(text)
    assert time.monotonic() - started < 2 * evaluation.SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 2**10
    assert value("lower('AFTER')") == "after"  # a killed child is replaced


QUOTES = "''" * 100_000
SLOW = {
    "a number of any size": f"'{'7' * 1_000_000}'::BIGNUM",
    "a chain of sums": " + ".join(["1"] * 900),
    "structs of other fields": "[" + ",".join(f"{{'a{n}': 1}}" for n in range(1500)) + "]",
    "a long zone": f"'2020-01-01 00:00:00 {'1' * 1_000_000}'::TIMESTAMPTZ",
    "many quotes": f"['{'b' * 8_000_000}{QUOTES}', '{'b' * 8_000_000}{QUOTES}']",
    "arrays of a fixed size": "NULL::INTEGER[100000][100]",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SLOW)
def test_slow_literals_are_computed_by_a_child(what: str) -> None:
    tree = sqlglot.parse_one(SLOW[what], read="duckdb")
    assert not is_plain(tree)
    started = time.monotonic()
    with suppress(InvalidInput):
        constants.evaluate_constant(tree)
    assert time.monotonic() - started < 2 * evaluation.SECONDS


def test_literals_with_a_long_time_zone_are_computed_by_a_child() -> None:
    tree = sqlglot.parse_one(f"'{'1' * 10_000}'", read="duckdb")
    assert is_plain(tree, "VARCHAR")
    assert not is_plain(tree, "TIMESTAMP WITH TIME ZONE[]")


@pytest.mark.parametrize(
    "text",
    [
        *("-1.5", "'a'", f"'{'a' * 10_000_000}'", "DATE '2024-01-31' + 1", "[1, NULL]::BIGINT[]"),
        *("current_date - INTERVAL '1 day'", "{'a': '1'::DECIMAL(9, 2)}", "MAP {1: '2'::UUID}"),
    ],
)
def test_ordinary_literals_need_no_child(text: str) -> None:
    assert is_plain(sqlglot.parse_one(text, read="duckdb"))


def test_values_with_too_many_elements_are_refused() -> None:
    with pytest.raises(InvalidInput, match="too many elements"):
        value("list_resize([]::INTEGER[], 1000000, 1)")


def test_a_child_with_grown_memory_is_replaced() -> None:
    evaluation.evaluate("SELECT 1")
    grown = evaluation._pool._idle[-1]
    assert len(str(value("repeat('a', 25000000)"))) == 25_000_000
    assert grown not in evaluation._pool._idle


@pytest.mark.parametrize("given", [[[1] * 300_000], [{"a": [[]] * 300_000}], [10**5000]])
def test_parameters_that_are_too_large_are_refused(given: list[object]) -> None:
    with pytest.raises(InvalidInput):
        parameters.bind_parameters(parse("SELECT ?"), given)


@pytest.mark.parametrize(
    "text",
    ["current_setting('secret_directory')", "version()", "getenv('HOME')", "upper(current_user)"],
)
def test_constants_reveal_nothing_of_the_service(text: str) -> None:
    with pytest.raises(InvalidInput):
        value(text)


def test_the_environment_of_the_service_does_not_reach_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORKLAKE_SECRET", "hidden")
    found = evaluation.evaluate("SELECT current_setting('home_directory') AS v")
    assert found.to_pylist() == [{"v": ""}]


def test_a_cancelled_constant_ends_at_once() -> None:
    thread, over = threading.get_ident(), threading.Event()

    def stop() -> None:
        while not over.wait(0.05):
            interrupt(thread)

    stopping = threading.Thread(target=stop)
    stopping.start()
    started = time.monotonic()
    with pytest.raises(InvalidInput):
        value("levenshtein(repeat('a', 400000), repeat('b', 400000))")
    over.set()
    stopping.join()
    assert time.monotonic() - started < 2
