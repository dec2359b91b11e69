"""Projection of stored columns to the columns of a table: names, wider types, defaults.

Files are read by physical names. Where the file has the same name and type as the table, the
projection is the bare column, so that Spark prunes columns and pushes filters as for any Parquet
file; only columns that differ are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DecimalType, StructField, StructType

from forklake.engines.arrow_types import literal
from forklake.engines.layouts import Layout
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.types import (
    literal_column,
    physical_schema,
    spark_type,
    stored_type,
)
from forklake.model.fields import Field
from forklake.model.ids import ColumnId
from forklake.model.values import to_text

_UUID_DIGITS = "^(.{8})(.{4})(.{4})(.{4})(.{12})$"
_EXISTS_DEFAULT, _CURRENT_DEFAULT = "EXISTS_DEFAULT", "CURRENT_DEFAULT"
_BEYOND_64_BITS = 2**63


def schema_of(layout: Layout) -> StructType:
    """Return the schema to read. Spark fills columns that a file lacks with their defaults."""
    kept = layout.in_files
    pairs = zip(physical_schema(kept), kept, strict=True)
    return StructType([_with_default(*pair) for pair in pairs])


def project_column(layout: Layout, shown: Field, has: Callable[[ColumnId], Column]) -> Column:
    """Return a column of the table, computed from the columns that were read.

    For fields whose default is filled in here, `has` returns whether the current file
    has the field.
    """
    written = next(one for one in layout.fields if one.column_id == shown.column_id)
    if shown.column_id in layout.folders:
        text = F.col(quoted(folder_column(shown.column_id)))
        value = F.unhex(text) if shown.type == "blob" else text.cast(spark_type(shown))
    elif shown.column_id in layout.missing:
        value = default_column(shown)
    else:
        value = _project_value(shown, written, F.col(quoted(written.physical_name)), has)
        if _is_too_long(shown):
            value = F.when(has(shown.column_id), value).otherwise(default_column(shown))
    known = stored_type(shown)
    return value.alias(shown.name, metadata=known) if known else value.alias(shown.name)


# Defaults


def filled_here(fields: Sequence[Field], *, is_top: bool = True) -> Iterator[Field]:
    """Yield the fields whose default the Parquet reader of Spark does not fill in.

    These are nested fields, and decimals that are too long for the reader.
    """
    for one in fields:
        is_shown = one.initial_default is not None and not one.fields
        if is_shown and (not is_top or _is_too_long(one)):
            yield one
        yield from filled_here(one.fields, is_top=False)


def _is_too_long(one: Field) -> bool:
    """Return whether the Spark reader fails on a default: it parses digits as a 64-bit integer."""
    if one.initial_default is None or not isinstance(spark_type(one), DecimalType):
        return False
    digits = Decimal(literal(one.initial_default, one)).as_tuple().digits
    return int("".join(map(str, digits))) >= _BEYOND_64_BITS


def _with_default(read: StructField, one: Field) -> StructField:
    if one.initial_default is None or _is_too_long(one):
        return read
    text = _default_sql(one)
    return StructField(
        read.name, read.dataType, True, {_EXISTS_DEFAULT: text, _CURRENT_DEFAULT: text}
    )


def default_column(one: Field) -> Column:
    """Return the value of a column that a file does not have."""
    return literal_column(one.initial_default, one)


def _default_sql(one: Field) -> str:
    value = literal(one.initial_default, one)
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    shown = value.isoformat() if isinstance(value, datetime) else to_text(one.type, value)
    text = str(shown).replace("\\", "\\\\").replace("'", "\\'")
    return f"CAST('{text}' AS {spark_type(one).simpleString()})"


# Putting values together


def _project_value(
    shown: Field, written: Field, value: Column, has: Callable[[ColumnId], Column]
) -> Column:
    if _is_same(shown, written):
        return value
    match shown.type:
        case "struct":
            parts = [
                _project_field(one, own, value[own.physical_name], has).alias(one.name)
                for one, own in zip(shown.fields, written.fields, strict=True)
            ]
            return F.when(value.isNotNull(), F.struct(*parts))
        case "list":
            (one,), (own,) = shown.fields, written.fields
            return F.transform(value, lambda item: _project_value(one, own, item, has))
        case "map":
            (key, one), (own_key, own) = shown.fields, written.fields
            if not _is_same(key, own_key):
                value = F.transform_keys(
                    value, lambda name, _: _project_value(key, own_key, name, has)
                )
            return F.transform_values(value, lambda _, item: _project_value(one, own, item, has))
    if (written.type, shown.type) == ("blob", "uuid"):
        return _uuid_text(value)
    return value.cast(spark_type(shown))


def _uuid_text(value: Column) -> Column:
    """Return the text of a UUID that another writer stored as 16 bytes."""
    return F.regexp_replace(F.lower(F.hex(value)), _UUID_DIGITS, "$1-$2-$3-$4-$5")


def _project_field(
    one: Field, own: Field, value: Column, has: Callable[[ColumnId], Column]
) -> Column:
    """Return a field of a struct, with its default where the file does not have the field."""
    found = _project_value(one, own, value, has)
    if one.initial_default is None or one.fields:
        return found
    return F.when(has(one.column_id), found).otherwise(default_column(one))


def _is_same(shown: Field, written: Field) -> bool:
    """Return whether a value needs no conversion, including all nested fields."""
    if shown.type != written.type:
        return False
    inside = zip(shown.fields, written.fields, strict=True)
    if shown.type != "struct":  # elements, keys and values have fixed names
        return all(_is_same(one, own) for one, own in inside)
    return all(
        one.name == own.physical_name and one.initial_default is None and _is_same(one, own)
        for one, own in inside
    )


def folder_column(column_id: ColumnId) -> str:
    """Return the name of the constant column with the value of a column from the folder name."""
    return f"_ducklake_folder_{int(column_id)}"
