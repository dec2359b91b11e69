"""Random typed expressions, whose values, types and errors must equal those of DuckDB.

Each run of the suite compares a few hundred, with a seed that a failure prints.
FORKLAKE_EXPRESSIONS=20000 compares more, newly chosen each time; FORKLAKE_SEED sets the seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from forklake import Session
from tests.sql.documented_differences import DOCUMENTED, is_documented
from tests.sql.expression_comparison import REFUSED_OFTEN, Comparison
from tests.sql.random_expressions import FAMILIES, Generator, signatures, table_statements

WANTED = int(os.environ.get("FORKLAKE_EXPRESSIONS", "0"))
SEED = int(os.environ.get("FORKLAKE_SEED", random.randrange(2**32) if WANTED else 20))
SMALL = 300
_TOGETHER = {"aggregate": 60, "window": 60}  # columns of one statement
_MOST_TOGETHER = 200


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        found.execute("SET TimeZone = 'UTC'")
        # This optimizer evaluates functions for the minimum and maximum, and raises their errors.
        found.execute("SET disabled_optimizers = 'statistics_propagation'")
        yield found


def _counts(wanted: int) -> dict[str, int]:
    """Return how many expressions to make per family, in proportion to its signatures."""
    total = sum(len(signatures(family)) for family in FAMILIES)
    return {family: wanted * len(signatures(family)) // total + 1 for family in FAMILIES}


@pytest.mark.slow
@pytest.mark.timeout(7200 if WANTED else 600)
def test_random_expressions_equal_those_of_duckdb(
    connection: duckdb.DuckDBPyConnection, lake: Session
) -> None:
    lake.execute("CALL lake.set_option('data_inlining_row_limit', 100)")
    for statement in table_statements():
        connection.execute(statement)
        lake.execute(statement)
    generator, comparison = Generator(SEED, connection), Comparison(connection, lake)
    report = comparison.report
    for family, wanted in _counts(WANTED or SMALL).items():
        before = len(report.compared)
        together = _TOGETHER.get(family, _MOST_TOGETHER)
        while (missing := wanted - (len(report.compared) - before)) > 0:
            refused = [one for one, count in report.refused.items() if count >= REFUSED_OFTEN]
            made = generator.make(family, min(missing + 5, together), refused)
            assert made, f"{family} has no other expressions."
            comparison.compare(made, errors=4 if WANTED else 0)
            generator.keep(report.same)
            report.same.clear()
    silent = [one for one in report.differences if not is_documented(one)]
    assert not silent, (
        f"{len(silent)} of {len(report.compared)} expressions differ, with FORKLAKE_SEED={SEED}:\n"
        + "\n".join(map(str, silent))
    )
    assert len(report.compared) >= (WANTED or SMALL)


def test_every_difference_is_documented() -> None:
    listed = Path("docs/sql.md").read_text().split("## Differences from DuckDB", 1)[1]
    plain = " ".join(listed.split())
    assert [one.words for one in DOCUMENTED if one.words not in plain] == []
