"""Spark types that store the values of DuckDB types."""

from __future__ import annotations

from sqlglot import exp

from forklake.sql.translate.refusals import unsupported

_T = exp.DataType.Type

# Spark has no unsigned integers: they are stored in the next wider type.
SPARK_NAMES = {
    _T.BOOLEAN: "BOOLEAN",
    _T.TINYINT: "TINYINT",
    _T.SMALLINT: "SMALLINT",
    _T.INT: "INT",
    _T.BIGINT: "BIGINT",
    _T.INT128: "DECIMAL(38, 0)",
    _T.UTINYINT: "SMALLINT",
    _T.USMALLINT: "INT",
    _T.UINT: "BIGINT",
    _T.UBIGINT: "DECIMAL(20, 0)",
    _T.UINT128: "DECIMAL(38, 0)",
    _T.FLOAT: "FLOAT",
    _T.DOUBLE: "DOUBLE",
    _T.TEXT: "STRING",
    _T.VARCHAR: "STRING",
    _T.CHAR: "STRING",
    _T.JSON: "STRING",
    _T.UUID: "STRING",
    _T.VARBINARY: "BINARY",
    _T.BINARY: "BINARY",
    _T.DATE: "DATE",
    _T.TIMESTAMP: "TIMESTAMP_NTZ",
    _T.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
    _T.DATETIME: "TIMESTAMP_NTZ",
    _T.TIMESTAMP_S: "TIMESTAMP_NTZ",
    _T.TIMESTAMP_MS: "TIMESTAMP_NTZ",
    _T.TIMESTAMPTZ: "TIMESTAMP",
    _T.TIMESTAMPLTZ: "TIMESTAMP",
    _T.TIME: "TIME(6)",
    _T.NULL: "VOID",
}

TEXT_TYPES = {_T.TEXT, _T.VARCHAR, _T.CHAR}


def spark_type(node: exp.DataType) -> str:
    """Return the name of the Spark type. Raise Unsupported if there is none."""
    kind = node.this
    if kind == _T.DECIMAL:
        return f"DECIMAL({', '.join(one.name for one in node.expressions) or '18, 3'})"
    if kind in (_T.LIST, _T.ARRAY):
        return f"ARRAY<{spark_type(node.expressions[0])}>"
    if kind == _T.MAP:
        return f"MAP<{', '.join(spark_type(one) for one in node.expressions)}>"
    if kind == _T.STRUCT:
        return f"STRUCT<{', '.join(_field_text(one) for one in node.expressions)}>"
    if kind in SPARK_NAMES:
        return SPARK_NAMES[kind]
    raise unsupported(f"The type {node.sql(dialect='duckdb')}")


def _field_text(node: exp.Expr) -> str:
    kind = node.args["kind"]
    return f"`{node.name.replace('`', '``')}`: {spark_type(kind)}"
