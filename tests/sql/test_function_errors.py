"""Functions outside of their domain, which raise Forklake errors instead of NULL or NaN."""

from __future__ import annotations

import pytest

from forklake import Session
from forklake.errors import InvalidInput

ERRORS = {
    "sqrt(-n)": "square root of a negative number",
    "ln(n - 1)": "logarithm of a number that is not positive",
    "log2(-n)": "logarithm of a number that is not positive",
    "log(1, n)": "base 1",
    "sin(w)": "not defined for Infinity",
    "cot(n - 1)": "cotangent of 0",
    "acos(n + 1)": r"outside of \[-1, 1\]",
    "factorial(-n)": "factorial of -1",
    "-n << 2": "to the left",
    "stddev_pop(w)": "out of range",
    "regexp_extract_all('abc', s, 2)": "has 0 groups",
    "make_time(25, n, 0.0)": "out of range",
    "DATE '2024-01-01' + n * 3000000000": "out of range",
}


def test_values_outside_of_the_domain_of_a_function_are_errors(lake: Session) -> None:
    lake.execute("CREATE TABLE t (n BIGINT, w DOUBLE, s VARCHAR)")
    lake.execute("INSERT INTO t VALUES (1, 'inf', 'b')")
    lake.execute("CALL lake.flush_inlined_data()")
    for expression, message in ERRORS.items():
        with pytest.raises(InvalidInput, match=message):
            lake.execute(f"SELECT {expression} FROM t").arrow()
