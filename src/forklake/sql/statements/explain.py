"""EXPLAIN and EXPLAIN ANALYZE of queries."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from forklake.errors import Unsupported
from forklake.sql.dialect.nodes import Explain
from forklake.sql.query.binding import Binding
from forklake.sql.results import Result
from forklake.sql.statements.describe import refuse_procedures

if TYPE_CHECKING:
    from forklake.sql.session import Session


def run_explain(session: Session, statement: exp.Expression) -> Result:
    """Run EXPLAIN: return the plan. ANALYZE runs the query, and adds its time and row count."""
    query = _require_query(statement.this)
    refuse_procedures(session, query)
    if not statement.args.get("analyze"):
        return _build_result("physical_plan", _fetch_plan(session, query))
    seconds, rows = _measure_query(session, query)
    measurements = f"Total time: {seconds:.3f} s\nRows: {rows}\n\n"
    return _build_result("analyzed_plan", measurements + _fetch_plan(session, query))


def _require_query(statement: exp.Expression) -> exp.Expression:
    if isinstance(statement, exp.Query | exp.Values):
        return statement
    raise Unsupported(
        f"EXPLAIN of {statement.key.upper()} is not supported.",
        remedy="Use EXPLAIN with the query in the statement.",
    )


def _fetch_plan(session: Session, query: exp.Expression) -> str:
    with Binding(session, session.dialect) as binding:
        text = binding.to_spark_sql(query)
        return session.engine.queries.explain(text)


def _measure_query(session: Session, query: exp.Expression) -> tuple[float, int]:
    """Run a query without keeping its rows; return the seconds it took and the number of rows."""
    rows = session.query(query)
    start = perf_counter()
    count = session.engine.queries.run(rows)
    return perf_counter() - start, count


def _build_result(key: str, value: str) -> Result:
    return Result("EXPLAIN", pa.table({"explain_key": [key], "explain_value": [value]}))


HANDLERS = {Explain: run_explain}
