"""Conversion of a DataFrame to the columns of a table: order, casts, defaults and constraints.

All of it is part of the Spark plan. A value that does not fit stops the job on the executor that
reads it, so that no second pass over the rows is needed. The message is marked, so that
`translated` can extract it from the text that Spark wraps around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import sqlglot
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    IntegralType,
    MapType,
    NullType,
    StructField,
    StructType,
)

from forklake.engines.local.constant_functions import is_plain_default
from forklake.engines.local.evaluation import EvaluationError, evaluate
from forklake.engines.spark import casts, failures
from forklake.engines.spark.remote import analysed
from forklake.engines.spark.types import literal_column, physical_schema
from forklake.engines.spark.writing import plain_casts
from forklake.errors import ForklakeError, InvalidInput, Unavailable
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.model.names import folded

_MARK, _END = "forklake{{", "}}forklake"
_MARKED = re.compile(re.escape(_MARK) + r"(.*?)" + re.escape(_END), re.DOTALL)
_SHOWN = 100  # characters shown of a value that does not fit
# Spark errors about an expression of the user that cannot be computed.
_SPARK_VALUE_ERROR = re.compile(
    r"\[((?:CAST_OVERFLOW|CAST_INVALID_INPUT|NUMERIC_VALUE_OUT_OF_RANGE|ARITHMETIC_OVERFLOW"
    r"|BINARY_ARITHMETIC_OVERFLOW|DIVIDE_BY_ZERO|INVALID_ARRAY_INDEX|DUPLICATED_MAP_KEY)[A-Z_.]*)\]"
    r"\s*(.*?)(?= Use `| If necessary| SQLSTATE|\n|$)"
)
_DISK_FULL = re.compile(
    r"no space left on device|disk quota exceeded|file too large", re.IGNORECASE
)
# Types with fewer values than the Spark type that holds them.
_LIMITED = frozenset(
    "uint8 uint16 uint32 uint64 uint128 uuid json timestamp_s timestamp_ms".split()
)
Cast = Callable[[Column, DataType, Field], Column]  # NULL if the cast fails


# Whole rows


def aligned(
    df: DataFrame,
    fields: Sequence[Field],
    table: str,
    *,
    by_name: bool = False,
    keep: Sequence[str] = (),
) -> DataFrame:
    """Return the rows as the table files store them: physical names and types, in table order.

    Columns are matched by position, or by name, where missing ones get their defaults. The
    columns in `keep` do not belong to the table and are returned unchanged.
    """
    kept = {folded(name) for name in keep}
    cast = _native_cast if casts.are_ready(df) else _plain_cast
    # Names may be duplicate or contain any characters: from here on columns are used by position.
    numbered = df.toDF(*(f"c{position}" for position in range(len(df.columns))))
    sources: list[tuple[Column, StructField]] = [
        (numbered[f"c{position}"], field) for position, field in enumerate(df.schema.fields)
    ]
    given = [source for source in sources if folded(source[1].name) not in kept]
    taken = _by_name(given, fields, table) if by_name else _by_position(given, fields, table)
    numbered, pairs = _with_defaults(numbered, taken)
    wanted = [
        (name, next(source for source in sources if folded(source[1].name) == folded(name)))
        for name in keep
    ]
    columns = [
        _column(source, field, table, cast).alias(field.physical_name) for source, field in pairs
    ] + [value.alias(name) for name, (value, _) in wanted]
    try:
        return analysed(numbered.select(*columns))
    except _MISFITS:
        _find_misfit(numbered, pairs, table, cast)
        raise


Source = tuple[Column, StructField]
_MISFITS = (AnalysisException, IllegalArgumentException)


def _with_defaults(
    rows: DataFrame, pairs: Sequence[tuple[Source | None, Field]]
) -> tuple[DataFrame, list[tuple[Source, Field]]]:
    """Return rows with added columns for missing ones, and the source of each column."""
    found: list[tuple[Source, Field]] = []
    for source, field in pairs:
        if source is not None:
            found.append((source, field))
            continue
        name = f"d{len(found)}"
        try:
            rows = analysed(rows.withColumn(name, default(field)))
        except _MISFITS as reason:
            raise _default_error(field) from reason
        found.append(((F.col(name), rows.schema[name]), field))
    return rows, found


def _by_position(
    given: Sequence[Source], fields: Sequence[Field], table: str
) -> list[tuple[Source | None, Field]]:
    if len(given) != len(fields):
        raise InvalidInput(
            f"Table '{table}' has {len(fields)} columns but {len(given)} were supplied.",
            remedy="Columns are: " + ", ".join(field.name for field in fields),
        )
    return list(zip(given, fields, strict=True))


def _by_name(
    given: Sequence[Source], fields: Sequence[Field], table: str
) -> list[tuple[Source | None, Field]]:
    found: dict[str, Source] = {}
    for source in given:
        name = source[1].name
        if folded(name) in found:
            raise InvalidInput(
                f"The column '{name}' is supplied twice for table '{table}'.",
                remedy="Remove one of them.",
            )
        found[folded(name)] = source
    require_known(
        [source[1].name for source in found.values()], [field.name for field in fields], table
    )
    return [(found.get(folded(field.name)), field) for field in fields]


def require_known(given: Sequence[str], columns: Sequence[str], owner: str) -> None:
    """Raise InvalidInput if a name is not one of the columns."""
    known = {folded(name) for name in columns}
    unknown = [name for name in given if folded(name) not in known]
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise InvalidInput(
            f"Table '{owner}' has no column {names}.", remedy="Columns are: " + ", ".join(columns)
        )


def _column(source: Source, field: Field, table: str, cast: Cast) -> Column:
    path = f"{table}.{field.name}"
    value, given = source
    if _is_same(given.dataType, _physical(field)) and not _is_limited(field):
        return required(value, field, path, is_nullable=given.nullable)
    return required(_cast_value(value, given.dataType, field, path, cast), field, path)


def _find_misfit(
    df: DataFrame, pairs: Sequence[tuple[Source, Field]], table: str, cast: Cast
) -> None:
    """Raise InvalidInput for the column whose type cannot be converted at all."""
    for source, field in pairs:
        try:
            analysed(df.select(_column(source, field, table, cast)))
        except _MISFITS as reason:
            raise _mismatch(source[1].dataType, field, f"{table}.{field.name}") from reason


def _native_cast(value: Column, source: DataType, field: Field) -> Column:
    return casts.try_cast(value, field.type)


def _plain_cast(value: Column, source: DataType, field: Field) -> Column:
    return plain_casts.try_cast(value, source, field.type, _physical(field))


# One value


def _cast_value(value: Column, source: DataType, field: Field, path: str, cast: Cast) -> Column:
    """Return the value in the type of the column; the plan raises an error where that fails."""
    if isinstance(source, NullType):
        return F.lit(None).cast(_physical(field))
    if field.fields:
        return _cast_nested(value, source, field, path, cast)
    try:
        converted = cast(value, source, field)
    except LookupError:
        raise _mismatch(source, field, path) from None
    if _always_fits(source, field):
        return converted
    try:
        text = cast(value, source, replace(field, type="varchar"))
    except LookupError:
        text = F.lit("a value")
    begin = F.lit(f"Column '{path}' of type {field.type} cannot hold '")
    complaint = raised(F.concat(begin, F.substring(text, 1, _SHOWN), F.lit("'.")))
    return F.when(value.isNotNull() & converted.isNull(), complaint).otherwise(converted)


def _cast_nested(value: Column, source: DataType, field: Field, path: str, cast: Cast) -> Column:
    match field.type, source:
        case "struct", StructType():
            return F.when(value.isNotNull(), _cast_struct(value, source, field, path, cast))
        case "list", ArrayType():
            (element,) = field.fields
            return F.transform(
                value,
                lambda item: _cast_inner(
                    item, source.elementType, element, f"{path}.element", cast
                ),
            )
        case "map", MapType():
            key, item = field.fields
            keyed = F.transform_keys(
                value, lambda name, _: _cast_inner(name, source.keyType, key, f"{path}.key", cast)
            )
            return F.transform_values(
                keyed,
                lambda _, held: _cast_inner(held, source.valueType, item, f"{path}.value", cast),
            )
    raise _mismatch(source, field, path)


def _cast_struct(value: Column, source: StructType, field: Field, path: str, cast: Cast) -> Column:
    """Return a struct with fields matched by name; missing ones are null."""
    given = {folded(part.name): part for part in source.fields}
    require_known(source.names, [part.name for part in field.fields], path)
    parts = []
    for part in field.fields:
        found = given.get(folded(part.name))
        inside = (
            F.lit(None).cast(_physical(part))
            if found is None
            else _cast_inner(
                value.getField(found.name), found.dataType, part, f"{path}.{part.name}", cast
            )
        )
        parts.append(inside.alias(part.physical_name))
    return F.struct(*parts)


def _cast_inner(value: Column, source: DataType, field: Field, path: str, cast: Cast) -> Column:
    if _is_same(source, _physical(field)) and not _is_limited(field):
        return value
    return required(_cast_value(value, source, field, path, cast), field, path)


def required(value: Column, field: Field, path: str, *, is_nullable: bool = True) -> Column:
    """Return the value; the plan raises an error where it is null but must not be."""
    if field.nulls_allowed or not is_nullable:
        return value
    complaint = raised(F.lit(f"NOT NULL constraint failed: {path}"))
    return F.when(value.isNull(), complaint).otherwise(value)


def default(field: Field) -> Column:
    """Return the default of a column for new rows; an expression is not cast yet."""
    if field.default_value is None:
        return F.lit(None).cast(_physical(field))
    if field.default_value_type == "literal" and not field.fields:
        return literal_column(field.default_value, field)
    return F.expr(_spark_text(field.default_value, field))


def _spark_text(text: str, field: Field) -> str:
    """Return a default as a Spark expression, after DuckDB has evaluated it.

    That way a default cannot call what only Spark has, such as functions that call Java.
    """
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
        given = tree.sql("duckdb")
        if not is_plain_default(given, duckdb_type(field)):
            evaluate(f"SELECT CAST(({given}) AS {duckdb_type(field)})")
    except (sqlglot.errors.SqlglotError, EvaluationError, InvalidInput) as reason:
        raise _default_error(field) from reason
    return tree.sql("spark")


def _default_error(field: Field) -> InvalidInput:
    return InvalidInput(
        f"The default {field.default_value!r} of column '{field.name}' cannot be computed.",
        remedy="Provide a value for the column, or change its default.",
    )


# Types


def _physical(field: Field) -> DataType:
    return physical_schema([field]).fields[0].dataType


def _is_same(one: DataType, other: DataType) -> bool:
    """Return whether two types are the same including field names; nullability is ignored."""
    match one, other:
        case StructType(), StructType():
            return one.names == other.names and all(
                _is_same(mine.dataType, its.dataType)
                for mine, its in zip(one.fields, other.fields, strict=True)
            )
        case ArrayType(), ArrayType():
            return _is_same(one.elementType, other.elementType)
        case MapType(), MapType():
            return _is_same(one.keyType, other.keyType) and _is_same(one.valueType, other.valueType)
    return one == other


def _is_limited(field: Field) -> bool:
    """Return whether a value of the right Spark type can still be invalid for the column."""
    return field.type in _LIMITED or any(
        not part.nulls_allowed or _is_limited(part) for part in field.fields
    )


def _always_fits(source: DataType, field: Field) -> bool:
    target = _physical(field)
    if field.type == "varchar" or (_is_same(source, target) and field.type not in _LIMITED):
        return True
    if field.type in _LIMITED:
        return False
    if isinstance(source, IntegralType) and isinstance(target, IntegralType):
        order = ("tinyint", "smallint", "int", "bigint")
        return order.index(source.simpleString()) <= order.index(target.simpleString())
    return isinstance(source, (IntegralType, FloatType)) and isinstance(target, DoubleType)


def _mismatch(source: DataType, field: Field, path: str) -> InvalidInput:
    return InvalidInput(
        f"Column '{path}' of type {field.type} cannot take values of type {source.simpleString()}.",
        remedy="Cast the values to the column type first.",
    )


# Errors


def raised(message: Column) -> Column:
    """Return an expression that raises an error; `translated` extracts its message."""
    return F.raise_error(F.concat(F.lit(_MARK), message, F.lit(_END)))


def translated(error: BaseException) -> ForklakeError | None:
    """Return the Forklake error for a failed Spark job, or None if the input is not the cause."""
    messages = failures.messages_of(error)
    text = "\n".join(messages)
    if found := _MARKED.search(text):
        return InvalidInput(found[1], remedy="Nothing was written.")
    if found := _SPARK_VALUE_ERROR.search(text):
        return InvalidInput(
            f"A value could not be computed: {found[2]}",
            remedy="Correct the expression or the value. Nothing was written.",
            condition=found[1],
        )
    if found := _DISK_FULL.search(text):
        return Unavailable(
            f"The data could not be written: {found[0]}.",
            remedy="Free disk space, then try again. Nothing was committed.",
        )
    return failures.of_files(messages)


@contextmanager
def translating() -> Iterator[None]:
    """Translate errors of Spark jobs in the block that are caused by the input."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        ours = translated(error)
        if ours is None:
            raise
        # The JVM stack trace does not help to find a wrong value.
        raise ours from None
