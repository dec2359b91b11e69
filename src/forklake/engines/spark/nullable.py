"""Structs whose fields may be null.

Spark marks the fields of `{'a': 1}` as not nullable. Arrow then refuses rows in which the struct
itself is NULL, as in `CASE WHEN x THEN {'a': 1} END`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType


def loosen_structs(rows: DataFrame) -> DataFrame:
    """Return rows that Arrow accepts: fields of nullable structs become nullable."""
    fields = rows.schema.fields
    kinds = [_loosen_type(one.dataType, one.nullable) for one in fields]
    if all(kind == one.dataType for kind, one in zip(kinds, fields, strict=True)):
        return rows
    numbered = rows.toDF(*(f"c{at}" for at in range(len(fields))))
    return numbered.select(
        *(
            F.col(f"c{at}").cast(kind).alias(one.name)
            for at, (kind, one) in enumerate(zip(kinds, fields, strict=True))
        )
    )


def _loosen_type(kind: DataType, is_nullable: bool) -> DataType:
    match kind:
        case StructType():
            return StructType(
                [
                    StructField(
                        one.name,
                        _loosen_type(one.dataType, one.nullable or is_nullable),
                        one.nullable or is_nullable,
                        one.metadata,
                    )
                    for one in kind.fields
                ]
            )
        case ArrayType():
            return ArrayType(_loosen_type(kind.elementType, kind.containsNull), kind.containsNull)
        case MapType():
            return MapType(
                _loosen_type(kind.keyType, False),
                _loosen_type(kind.valueType, kind.valueContainsNull),
                kind.valueContainsNull,
            )
    return kind
