"""Makes a DataFrame fit a table: order, casts, defaults and constraints, all inside Spark's plan.

A value that does not fit stops the job on the executor that sees it, so that no second pass over
the rows is needed. What it raises carries a mark, by which `translated` finds it again among
whatever Spark wraps around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import duckdb
import sqlglot
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
)

from forklake.errors import ForklakeError, InvalidInput, Unavailable
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.spark.calculator import calculator
from forklake.spark.engine import failures
from forklake.spark.engine.remote import analysed
from forklake.spark.types import literal_column, physical_schema

_MARK, _END = "forklake{{", "}}forklake"
_MARKED = re.compile(re.escape(_MARK) + r"(.*?)" + re.escape(_END), re.DOTALL)
_SHOWN = 100  # characters of a value that did not fit
# What Spark says when an expression of the user's own cannot be computed.
_SPARK_VALUE_ERROR = re.compile(
    r"\[((?:CAST_OVERFLOW|CAST_INVALID_INPUT|NUMERIC_VALUE_OUT_OF_RANGE|ARITHMETIC_OVERFLOW"
    r"|BINARY_ARITHMETIC_OVERFLOW|DIVIDE_BY_ZERO|INVALID_ARRAY_INDEX|DUPLICATED_MAP_KEY)[A-Z_.]*)\]"
    r"\s*(.*?)(?= Use `| If necessary| SQLSTATE|\n|$)"
)
_DISK_FULL = re.compile(
    r"no space left on device|disk quota exceeded|file too large", re.IGNORECASE
)
_UUID = "(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _below(bits: int) -> Callable[[Column], Column]:
    return lambda value: value.between(0, F.lit(str(2**bits - 1)).cast("decimal(20,0)"))


# Types that have fewer values than the Spark type that holds them: which ones they have.
_FITS: dict[str, Callable[[Column], Column]] = {
    "uint8": _below(8),
    "uint16": _below(16),
    "uint32": _below(32),
    "uint64": _below(64),
    "uint128": lambda value: value >= 0,
    "uuid": lambda value: value.rlike(_UUID),
    "json": lambda value: F.try_parse_json(value).isNotNull(),
}
_INTEGERS = re.compile(r"u?int\d+")
_SECOND_DIGITS = {"timestamp_s": 0, "timestamp_ms": 3}


# Whole rows


def aligned(
    df: DataFrame,
    fields: Sequence[Field],
    table: str,
    *,
    by_name: bool = False,
    keep: Sequence[str] = (),
) -> DataFrame:
    """The rows as the table's files hold them: physical names and types, in the table's order.

    Columns are taken by position, or by name, where a column that is missing gets its default.
    The columns named in `keep` are not the table's and follow unchanged.
    """
    kept = {folded(name) for name in keep}
    # Names may be double or contain anything: from here on columns are known by their position.
    numbered = df.toDF(*(f"c{position}" for position in range(len(df.columns))))
    sources: list[tuple[Column, StructField]] = [
        (numbered[f"c{position}"], field) for position, field in enumerate(df.schema.fields)
    ]
    given = [source for source in sources if folded(source[1].name) not in kept]
    pairs = _by_name(given, fields, table) if by_name else _by_position(given, fields, table)
    wanted = [
        (name, next(source for source in sources if folded(source[1].name) == folded(name)))
        for name in keep
    ]
    columns = [
        _column(source, field, table).alias(field.physical_name) for source, field in pairs
    ] + [value.alias(name) for name, (value, _) in wanted]
    try:
        return analysed(numbered.select(*columns))
    except AnalysisException:
        _find_misfit(numbered, pairs, table)
        raise


Source = tuple[Column, StructField]


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
                remedy="Leave one of them out.",
            )
        found[folded(name)] = source
    require_known(
        [source[1].name for source in found.values()], [field.name for field in fields], table
    )
    return [(found.get(folded(field.name)), field) for field in fields]


def require_known(given: Sequence[str], columns: Sequence[str], owner: str) -> None:
    """InvalidInput if a name is none of the columns."""
    known = {folded(name) for name in columns}
    unknown = [name for name in given if folded(name) not in known]
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise InvalidInput(
            f"Table '{owner}' has no column {names}.", remedy="Columns are: " + ", ".join(columns)
        )


def _column(source: Source | None, field: Field, table: str) -> Column:
    path = f"{table}.{field.name}"
    if source is None:
        return required(default(field), field, path)
    value, given = source
    if _is_same(given.dataType, _physical(field)) and not _is_limited(field):
        return required(value, field, path, is_nullable=given.nullable)
    return required(_assigned(value, given.dataType, field, path), field, path)


def _find_misfit(df: DataFrame, pairs: Sequence[tuple[Source | None, Field]], table: str) -> None:
    """Name the column whose type cannot be converted at all."""
    for source, field in pairs:
        try:
            analysed(df.select(_column(source, field, table)))
        except AnalysisException as reason:
            if source is None:
                raise _incomputable(field) from reason
            raise _mismatch(source[1].dataType, field, f"{table}.{field.name}") from reason


# One value


def _assigned(value: Column, source: DataType, field: Field, path: str) -> Column:
    """The value in the type of the column, or an error in the plan that names it."""
    if isinstance(source, NullType):
        return F.lit(None).cast(_physical(field))
    if field.fields:
        return _nested(value, source, field, path)
    target = _physical(field)
    converted = _converted(value, source, field, target)
    fits = _FITS.get(field.type)
    if fits is None and _always_fits(source, target):
        return converted
    bad = converted.isNull()
    if isinstance(target, FloatType) and isinstance(source, (DoubleType, DecimalType)):
        infinite = F.abs(converted) == F.lit(float("inf"))
        bad = bad | (infinite & (F.abs(value) != F.lit(float("inf"))))
    if fits is not None:
        bad = bad | ~fits(converted)
    shown = F.substring(value.cast("string"), 1, _SHOWN)
    begin = F.lit(f"Column '{path}' of type {field.type} cannot hold '")
    complaint = raised(F.concat(begin, shown, F.lit("'.")))
    return F.when(value.isNotNull() & bad, complaint).otherwise(converted)


def _converted(value: Column, source: DataType, field: Field, target: DataType) -> Column:
    """The value in another type, null where that is not possible; rounded, never cut off."""
    if field.type in _SECOND_DIGITS:
        at = value.try_cast(target)
        second = F.extract(F.lit("SECOND"), at)
        missing = F.round(second, _SECOND_DIGITS[field.type]) - second
        zero = F.lit(0)
        return at + F.make_dt_interval(zero, zero, zero, missing)
    if field.type == "uuid":
        return F.lower(value.try_cast(target))
    if _is_same(source, target):
        return value
    if _INTEGERS.fullmatch(field.type):
        if isinstance(source, StringType) and isinstance(target, IntegralType):
            value, source = value.try_cast("decimal(38,9)"), DecimalType(38, 9)
        if isinstance(source, DecimalType):
            value = F.round(value, 0)
        elif isinstance(source, FractionalType):
            value = F.rint(value)
    return value.try_cast(target)


def _nested(value: Column, source: DataType, field: Field, path: str) -> Column:
    match field.type, source:
        case "struct", StructType():
            return F.when(value.isNotNull(), _struct(value, source, field, path))
        case "list", ArrayType():
            (element,) = field.fields
            return F.transform(
                value, lambda item: _inner(item, source.elementType, element, f"{path}.element")
            )
        case "map", MapType():
            key, item = field.fields
            keyed = F.transform_keys(
                value, lambda name, _: _inner(name, source.keyType, key, f"{path}.key")
            )
            return F.transform_values(
                keyed, lambda _, held: _inner(held, source.valueType, item, f"{path}.value")
            )
    raise _mismatch(source, field, path)


def _struct(value: Column, source: StructType, field: Field, path: str) -> Column:
    """A struct by the names of its fields; those that are missing are null."""
    given = {folded(part.name): part for part in source.fields}
    require_known(source.names, [part.name for part in field.fields], path)
    parts = []
    for part in field.fields:
        found = given.get(folded(part.name))
        inside = (
            F.lit(None).cast(_physical(part))
            if found is None
            else _inner(value.getField(found.name), found.dataType, part, f"{path}.{part.name}")
        )
        parts.append(inside.alias(part.physical_name))
    return F.struct(*parts)


def _inner(value: Column, source: DataType, field: Field, path: str) -> Column:
    if _is_same(source, _physical(field)) and not _is_limited(field):
        return value
    return required(_assigned(value, source, field, path), field, path)


def required(value: Column, field: Field, path: str, *, is_nullable: bool = True) -> Column:
    """The value, or what stops the job where it is null and may not be."""
    if field.nulls_allowed or not is_nullable:
        return value
    complaint = raised(F.lit(f"NOT NULL constraint failed: {path}"))
    return F.when(value.isNull(), complaint).otherwise(value)


def default(field: Field) -> Column:
    """What a new row gets for a column that it does not name."""
    if field.default_value is None:
        return F.lit(None).cast(_physical(field))
    if field.default_value_type == "literal" and not field.fields:
        return literal_column(field.default_value, field)
    return F.expr(_spark_text(field.default_value, field)).try_cast(_physical(field))


def _spark_text(text: str, field: Field) -> str:
    """A default as Spark writes it. DuckDB has computed it first: what only Spark knows, such as
    functions that call Java, is nothing that a column may bring along."""
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
        with calculator() as cursor:
            cursor.execute(f"SELECT {tree.sql('duckdb')}")
    except (sqlglot.errors.SqlglotError, duckdb.Error) as reason:
        raise _incomputable(field) from reason
    return tree.sql("spark")


def _incomputable(field: Field) -> InvalidInput:
    return InvalidInput(
        f"The default {field.default_value!r} of column '{field.name}' cannot be computed.",
        remedy="Give the column a value, or change its default.",
    )


# Types


def _physical(field: Field) -> DataType:
    return physical_schema([field]).fields[0].dataType


def _is_same(one: DataType, other: DataType) -> bool:
    """Whether two types are the same down to the names, whatever may be null in them."""
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
    """Whether a value of the right Spark type can still be wrong for the column."""
    return (
        field.type in _FITS
        or field.type in _SECOND_DIGITS
        or any(not part.nulls_allowed or _is_limited(part) for part in field.fields)
    )


def _always_fits(source: DataType, target: DataType) -> bool:
    if isinstance(target, StringType) or _is_same(source, target):
        return True
    if isinstance(source, IntegralType) and isinstance(target, IntegralType):
        order = ("tinyint", "smallint", "int", "bigint")
        return order.index(source.simpleString()) <= order.index(target.simpleString())
    return isinstance(source, (IntegralType, FloatType)) and isinstance(target, DoubleType)


def _mismatch(source: DataType, field: Field, path: str) -> InvalidInput:
    return InvalidInput(
        f"Column '{path}' of type {field.type} cannot take values of type {source.simpleString()}.",
        remedy="Convert them first.",
    )


# Errors


def raised(message: Column) -> Column:
    """What stops the job that computes it; `translated` finds the message again."""
    return F.raise_error(F.concat(F.lit(_MARK), message, F.lit(_END)))


def translated(error: BaseException) -> ForklakeError | None:
    """The error of ours that a Spark job failed with, or None if it is none of the user's."""
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
            remedy="Make room, then try again. Nothing was committed.",
        )
    return failures.of_files(messages)


@contextmanager
def translating() -> Iterator[None]:
    """Errors of Spark jobs inside become errors of ours where they are about the input."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        ours = translated(error)
        if ours is None:
            raise
        # The trace of the JVM tells the user nothing about a wrong value.
        raise ours from None
