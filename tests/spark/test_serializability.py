"""Pairs of concurrent transactions, which have the outcome of a serial order or a refusal.

A random sample runs, whose seed is printed. FORKLAKE_PAIRS is the number of pairs, or `all`.
"""

from __future__ import annotations

import os
import random
import time
from itertools import product

import pytest

from forklake import Session
from tests.spark.concurrent_pairs import (
    SETUP,
    TRANSACTIONS,
    Counts,
    judge,
    run_pair,
)

_PAIRS = list(product(TRANSACTIONS, repeat=2))
_COUNT = os.environ.get("FORKLAKE_PAIRS", "10")  # each takes about half a second


@pytest.mark.slow
@pytest.mark.timeout(300 + 10 * len(_PAIRS))
@pytest.mark.parametrize("limit", [0, 100], ids=["files", "inlined"])
def test_concurrent_pairs_have_the_outcome_of_a_serial_order(lake: Session, limit: int) -> None:
    lake.sql(f"CALL lake.set_option('data_inlining_row_limit', {limit})")
    for text in SETUP:
        lake.sql(text)
    seed = int(os.environ.get("FORKLAKE_SEED", random.randrange(2**32)))
    number = len(_PAIRS) if _COUNT == "all" else int(_COUNT)
    counts, wrong = Counts(), []
    began = time.monotonic()
    for outer, inner in random.Random(seed).sample(_PAIRS, number):
        found, is_refused = run_pair(lake, outer, inner)
        why = judge(outer, inner, found, is_refused=is_refused)
        if why is not None:
            wrong.append(why)
            print(why, flush=True)
        counts.add(outer, inner, is_refused=is_refused)
    print(f"seed {seed}: {counts}, {len(wrong)} wrong, {time.monotonic() - began:.0f} s")
    assert wrong == [], f"FORKLAKE_SEED={seed}"


def test_check_of_pairs_finds_write_skew(lake: Session) -> None:
    lake.sql("CALL lake.set_option('isolation_level', 'snapshot')")
    for text in SETUP:
        lake.sql(text)
    found, is_refused = run_pair(lake, "skew", "mirrored skew")
    assert not is_refused
    assert judge("skew", "mirrored skew", found, is_refused=is_refused) is not None
