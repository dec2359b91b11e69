"""Column definitions in statements: types, defaults, constraints and partition keys."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from forklake.errors import InvalidInput, Unsupported
from forklake.model.duckdb_types import duckdb_type
from forklake.model.types import (
    NESTED,
    ColumnSpec,
    ColumnType,
    list_of,
    map_of,
    scalar,
    struct_of,
)
from forklake.model.values import to_text
from forklake.sql import constants
from forklake.sql.dialect import nodes

# Precision and scale of DECIMAL without them in Spark SQL. The DuckDB parser adds its defaults.
_DEFAULT_DECIMAL_DIGITS = ("10", "0")
LITERAL, EXPRESSION = "literal", "expression"
_T = exp.DType
_SCALARS: dict[exp.DType, str] = {
    _T.BOOLEAN: "boolean",
    _T.TINYINT: "int8",
    _T.SMALLINT: "int16",
    _T.INT: "int32",
    _T.BIGINT: "int64",
    _T.INT128: "int128",
    _T.UTINYINT: "uint8",
    _T.USMALLINT: "uint16",
    _T.UINT: "uint32",
    _T.UBIGINT: "uint64",
    _T.UINT128: "uint128",
    _T.FLOAT: "float32",
    _T.DOUBLE: "float64",
    _T.TIME: "time",
    _T.TIMETZ: "timetz",
    _T.DATE: "date",
    _T.TIMESTAMP: "timestamp",
    _T.TIMESTAMPNTZ: "timestamp",
    _T.TIMESTAMP_S: "timestamp_s",
    _T.TIMESTAMP_MS: "timestamp_ms",
    _T.TIMESTAMP_NS: "timestamp_ns",
    _T.TIMESTAMPTZ: "timestamptz",
    _T.TIMESTAMPLTZ: "timestamptz",
    _T.INTERVAL: "interval",
    _T.TEXT: "varchar",
    _T.VARCHAR: "varchar",
    _T.CHAR: "varchar",
    _T.VARBINARY: "blob",
    _T.BINARY: "blob",
    _T.UUID: "uuid",
    _T.JSON: "json",
}
_TRANSFORMS = frozenset({"identity", "year", "month", "day", "hour"})
# Constraints that are refused, with their SQL keywords.
_CONSTRAINTS: dict[type[exp.Expr], str] = {
    exp.PrimaryKey: "PRIMARY KEY",
    exp.PrimaryKeyColumnConstraint: "PRIMARY KEY",
    exp.UniqueColumnConstraint: "UNIQUE",
    exp.CheckColumnConstraint: "CHECK",
    exp.ForeignKey: "FOREIGN KEY",
    exp.Reference: "FOREIGN KEY",
    exp.GeneratedAsIdentityColumnConstraint: "A generated column",
    exp.ComputedColumnConstraint: "A generated column",
    exp.CollateColumnConstraint: "COLLATE",
}


# Types and defaults


def column_type(node: exp.Expr | None) -> ColumnType:
    """Return the type that a column is declared with."""
    if isinstance(node, exp.Interval):
        return scalar("interval")
    if not isinstance(node, exp.DataType):
        raise InvalidInput("A column has no type.", remedy="Write the type after the column name.")
    parts = node.expressions
    match node.this:
        case _T.STRUCT | _T.OBJECT:
            return struct_of([_struct_field(part) for part in parts])
        case _T.ARRAY | _T.LIST if len(parts) == 1 and not node.args.get("values"):
            return list_of(column_type(parts[0]))
        case _T.MAP if len(parts) == 2:
            return map_of(column_type(parts[0]), column_type(parts[1]))
        case _T.DECIMAL:
            digits = (*(part.name for part in parts), *_DEFAULT_DECIMAL_DIGITS[len(parts) :])
            return scalar(f"decimal({','.join(digits)})")
        case _T.USERDEFINED:
            return scalar(str(node.args.get("kind")))
    if node.this in _SCALARS:
        return scalar(_SCALARS[node.this])
    raise Unsupported(
        f"The column type {node.sql('duckdb')} is an unsupported type.",
        remedy="Use numbers, strings, dates, times, blobs, structs, lists or maps.",
    )


def _struct_field(part: exp.Expr) -> tuple[str, ColumnType | str]:
    if not isinstance(part, exp.ColumnDef):
        raise InvalidInput("A field of a struct has no name.", remedy="Write STRUCT(name type).")
    return part.this.name, column_type(part.args.get("kind"))


def default_of(node: exp.Expr, kind: ColumnType) -> tuple[str | None, str]:
    """Return a default as it is stored (None for NULL), and whether it is literal or expression.

    A default without function calls is evaluated and stored as a literal.
    """
    if isinstance(node, exp.Null):
        return None, LITERAL
    cast = exp.cast(node.copy(), duckdb_type(kind), dialect="duckdb")
    value = constants.evaluate_constant(cast)
    is_value = all(isinstance(one, exp.Cast) for one in node.find_all(exp.Func))
    text = to_text(kind.name, value) if is_value and kind.name not in NESTED else None
    return (node.sql("duckdb"), EXPRESSION) if text is None else (text, LITERAL)


# Columns


def column_specs(definitions: Sequence[exp.Expr]) -> list[ColumnSpec]:
    """Return the columns of a table definition."""
    for one in definitions:
        refuse_constraint(one)
        if not isinstance(one, exp.ColumnDef):
            raise InvalidInput(
                f"The column '{one.name}' has no type.",
                remedy="Write the type after the column name.",
            )
    return [column_spec(one) for one in definitions if isinstance(one, exp.ColumnDef)]


def column_spec(definition: exp.ColumnDef) -> ColumnSpec:
    """Return one column or field of a definition; the last part of a path is its name."""
    kind = column_type(definition.args.get("kind"))
    default, default_type, is_nullable, comment = None, "literal", True, None
    for constraint in definition.constraints:
        rule = constraint.kind
        match rule:
            case exp.DefaultColumnConstraint():
                default, default_type = default_of(rule.this, kind)
            case exp.NotNullColumnConstraint():
                is_nullable = bool(rule.args.get("allow_null"))
            case exp.CommentColumnConstraint():
                comment = rule.this.name
            case _:
                refuse_constraint(rule)
                raise Unsupported(
                    f"{rule.sql('duckdb')} is not supported in a column definition.",
                    remedy="Remove it from the statement.",
                )
    name = nodes.name_parts(definition.this)[-1]
    return ColumnSpec(name, kind, is_nullable, default, default_type, comment)


def refuse_constraint(node: exp.Expr) -> None:
    """Raise Unsupported if a node is a constraint, since a lake does not enforce constraints."""
    constraint = node.find(*_CONSTRAINTS) if isinstance(node, exp.Constraint) else node
    words = None if constraint is None else _CONSTRAINTS.get(type(constraint))
    if words is not None:
        raise Unsupported(
            f"{words} is not supported.", remedy="Remove the constraint from the statement."
        )


# Partition keys


def partition_keys(node: exp.PartitionedByProperty) -> list[tuple[str, str]]:
    """Return the columns that partition a table, with their transforms."""
    return [_partition_key(one) for one in node.this.expressions]


def _partition_key(node: exp.Expr) -> tuple[str, str]:
    if isinstance(node, exp.Identifier | exp.Column):
        return _key_column_name(node, node), "identity"
    if isinstance(node, exp.Func):
        (name,), arguments, named = nodes.split_call(node)
        if name.lower() in _TRANSFORMS and len(arguments) == 1 and not named:
            column = arguments[0]
            if isinstance(column, exp.TsOrDsToDate):  # sqlglot parses year(d) of Spark like this
                column = column.this
            return _key_column_name(column, node), name.lower()
    raise _invalid_partition_key(node)


def _key_column_name(column: exp.Expr, key: exp.Expr) -> str:
    path = nodes.name_parts(column)
    if not isinstance(column, exp.Identifier | exp.Column) or len(path) != 1:
        raise _invalid_partition_key(key)
    return path[0]


def _invalid_partition_key(node: exp.Expr) -> InvalidInput:
    return InvalidInput(
        f"A table cannot be partitioned by {node.sql('duckdb')}.",
        remedy="Use columns, or identity, year, month, day or hour of a column.",
    )
