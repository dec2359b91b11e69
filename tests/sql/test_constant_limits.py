"""Constants are computed within limits of memory and time, and reveal nothing of the service."""

from __future__ import annotations

import resource
import threading
import time

import pytest
import sqlglot

from forklake.errors import InvalidInput
from forklake.spark import evaluation
from forklake.spark.calculator import interrupt
from forklake.sql import constants


def value(text: str) -> object:
    return constants.value(sqlglot.parse_one(text, read="duckdb"))


def test_ordinary_constants_have_the_values_of_duckdb() -> None:
    assert value("1 + 1") == 2
    assert value("upper('a') || repeat('b', 3)") == "Abbb"
    assert value("{'a': [1, NULL]}") == {"a": [1, None]}
    assert value("regexp_replace('abc', 'b', 'x')") == "axc"


@pytest.mark.parametrize(
    "text",
    [
        "len(repeat('a', 2000000000))",
        "damerau_levenshtein(repeat('a', 14000), repeat('b', 14000))",
        "levenshtein(repeat('a', 400000), repeat('b', 400000))",
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
