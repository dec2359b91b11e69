"""DESCRIBE and SUMMARIZE: columns of tables and queries, and statistics of their values."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from forklake.catalog.transaction import Transaction
from forklake.engines.summaries import ColumnSummary
from forklake.errors import NotFound, Unsupported
from forklake.model.duckdb_types import duckdb_type
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.sql.dialect.nodes import name_parts, pop_time_travel
from forklake.sql.functions.types import default_text
from forklake.sql.query.binding import analyze_schema
from forklake.sql.query.stored_sql import refuse_changes
from forklake.sql.query.timestamps import CURRENT, evaluate_read_point
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import StructField
    from forklake.sql.session import Session

_TEXT = pa.string()
_DESCRIBE_SCHEMA = pa.schema(
    [(name, _TEXT) for name in ("column_name", "column_type", "null", "key", "default", "extra")]
)
_SUMMARY_SCHEMA = pa.schema(
    [
        ("column_name", _TEXT),
        ("column_type", _TEXT),
        ("min", _TEXT),
        ("max", _TEXT),
        ("approx_unique", pa.int64()),
        ("avg", _TEXT),
        ("std", _TEXT),
        ("q25", _TEXT),
        ("q50", _TEXT),
        ("q75", _TEXT),
        ("count", pa.int64()),
        ("null_percentage", pa.decimal128(9, 2)),
    ]
)
_ALTERNATIVES = {
    "HISTORY": "Read the snapshots of a catalog: SELECT * FROM catalog.snapshots().",
    "EXTENDED": "DESCRIBE name shows columns, catalog.table_info('name') files and sizes.",
    "FORMATTED": "DESCRIBE name shows columns, catalog.table_info('name') files and sizes.",
}


def run_describe(session: Session, statement: exp.Expression) -> Result:
    """Run DESCRIBE of a table, a view or a query."""
    _refuse_forms(statement)
    return Result("DESCRIBE", describe_columns(session, statement.this))


def _refuse_forms(statement: exp.Expression) -> None:
    """Raise Unsupported for DESCRIBE HISTORY, EXTENDED and other unsupported forms."""
    kind = str(statement.args.get("kind") or "").upper()
    words = [str(statement.args.get("style") or "").upper(), "" if kind == "TABLE" else kind]
    if statement.args.get("partition"):
        words.append("PARTITION")
    for word in filter(None, words):
        raise Unsupported(
            f"DESCRIBE {word} is not supported.",
            remedy=_ALTERNATIVES.get(word, "DESCRIBE name shows the columns of a table or view."),
        )


def describe_columns(session: Session, what: exp.Expression) -> pa.Table:
    """Return columns in the format of DuckDB. Those of a table are found without Spark."""
    fields = _find_lake_fields(session, what) if isinstance(what, exp.Table) else None
    if fields is None:
        columns = [
            _query_column(field) for field in analyze_schema(session, _build_query(session, what))
        ]
    else:
        columns = [_table_column(field) for field in fields]
    return pa.Table.from_pylist(columns, _DESCRIBE_SCHEMA)  # key and extra are always NULL


def _query_column(field: StructField) -> dict[str, str | None]:
    from forklake.engines.spark.query_types import query_type

    return {"column_name": field.name, "column_type": query_type(field), "null": "YES"}


def _table_column(field: Field) -> dict[str, str | None]:
    return {
        "column_name": field.name,
        "column_type": duckdb_type(field),
        "null": "YES" if field.nulls_allowed else "NO",
        "default": default_text(field),
    }


def _find_lake_fields(session: Session, table: exp.Table) -> tuple[Field, ...] | None:
    """Return the columns of a table of the lake; None if the name means anything else."""
    when = pop_time_travel(table.copy())
    read_point = CURRENT if when is None else evaluate_read_point(when)
    parts = name_parts(table)
    if isinstance(table.this, exp.Func) or (len(parts) == 1 and parts[0] in session.frames):
        return None
    snapshot: dict[str, Any] = {"version": read_point.version, "timestamp": read_point.timestamp}
    try:
        place = session.resolve(parts, **snapshot)
    except NotFound:
        return None
    view = session.viewing(place.attachment, **snapshot)
    relation = view.state.find_relation(place.table, place.schema)
    if not isinstance(relation, Table):
        return None
    if isinstance(view, Transaction):
        view.record_table(relation)
    return view.state.fields(relation)


def _build_query(session: Session, what: exp.Expression) -> exp.Expression:
    refuse_procedures(session, what)
    return exp.select("*").from_(what.copy()) if isinstance(what, exp.Table) else what


def refuse_procedures(session: Session, query: exp.Expression) -> None:
    """Raise InvalidInput if a query to be described changes data."""
    refuse_changes(session, query, "The query")


# SUMMARIZE


def run_summarize(session: Session, statement: exp.Expression) -> Result:
    """Run SUMMARIZE: minimum, maximum, averages and counts of all columns, by one query."""
    rows = session.query(_build_query(session, statement.this))
    summaries = [_summary_row(one) for one in session.engine.queries.summarize(rows)]
    return Result("SUMMARIZE", pa.Table.from_pylist(summaries, _SUMMARY_SCHEMA))


def _summary_row(summary: ColumnSummary) -> dict[str, Any]:
    missing = summary.rows - summary.count
    share = Decimal(100 * missing) / summary.rows if summary.rows else None
    quartiles = summary.quartiles or (None, None, None)
    return {
        "column_name": summary.name,
        "column_type": summary.type,
        "min": summary.minimum,
        "max": summary.maximum,
        "approx_unique": summary.distinct,
        "avg": _to_text(summary.average),
        "std": _to_text(summary.deviation),
        **dict(zip(("q25", "q50", "q75"), quartiles, strict=True)),
        "count": summary.rows,
        "null_percentage": share.quantize(Decimal("0.01")) if share is not None else None,
    }


def _to_text(value: float | None) -> str | None:
    return None if value is None else str(value)


HANDLERS = {exp.Describe: run_describe, exp.Summarize: run_summarize}
