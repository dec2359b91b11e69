"""Schemas of Delta tables: read, written, and refused where the lake has no such type."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.delta.schema import (
    DeltaColumnMapping,
    DeltaField,
    column_spec,
    delta_fields,
    parse_schema,
    schema_string,
)
from forklake.errors import Corruption, InvalidInput, Unsupported
from forklake.model.fields import Field
from forklake.model.ids import ColumnId
from tests.delta.corpus_logs import commit_actions, corpus_tables, needs_corpus

NONE, NAME, ID = DeltaColumnMapping
SCALARS = {
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "decimal(38,18)": "decimal(38,18)",
    "string": "varchar",
    "binary": "blob",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}


def field_body(
    kind: Any, name: str = "c", *, nullable: bool = True, **metadata: Any
) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, "metadata": metadata}


def text_of(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": list(fields)})


def of_lake(
    kind: str, *fields: Field, name: str = "c", physical: str = "", number: int = 1
) -> Field:
    return Field(ColumnId(number), name, physical or name, kind, True, None, None, None, fields)


# Types


@pytest.mark.parametrize("kind", SCALARS)
def test_scalar_types_round_trip(kind: str) -> None:
    (found,) = parse_schema(text_of(field_body(kind)))
    assert found.type == SCALARS[kind]
    assert json.loads(schema_string([found]))["fields"][0]["type"] == kind


def test_char_and_varchar_types_are_read_as_text() -> None:
    found = parse_schema(
        text_of(
            field_body("varchar(10)", "a"),
            field_body("char(3)", "b"),
            field_body("string", "c", __CHAR_VARCHAR_TYPE_STRING="varchar(10)"),
        )
    )
    assert [one.type for one in found] == ["varchar"] * 3
    kept = json.loads(schema_string(found))["fields"][2]["metadata"]
    assert kept == {"__CHAR_VARCHAR_TYPE_STRING": "varchar(10)"}


def test_nested_columns_become_field_trees() -> None:
    inside = {"type": "struct", "fields": [field_body("long", "x", nullable=False)]}
    array = {"type": "array", "elementType": inside, "containsNull": False}
    mapped = {"type": "map", "keyType": "string", "valueType": array, "valueContainsNull": True}
    (found,) = parse_schema(text_of(field_body(mapped, nullable=False, comment="all of it")))
    spec = column_spec(found)
    assert str(spec.type) == "map(varchar, list(struct(x int64)))"
    assert (spec.name, spec.nulls_allowed, spec.comment) == ("c", False, "all of it")
    key, value = found.fields
    assert (key.name, key.nullable, value.nullable) == ("key", False, True)
    (element,) = value.fields
    assert (element.name, element.nullable) == ("element", False)
    assert element.fields == (DeltaField("x", "x", "int64", False),)


@pytest.mark.parametrize(
    "kind",
    [
        "void",
        "geometry(OGC:CRS84)",
        "interval day to second",
        "timestamp_nanos",
        {"type": "struct", "fields": []},
        {"type": "udt", "class": "a.Point", "sqlType": "string"},
    ],
)
def test_the_error_for_an_unsupported_type_names_its_column(kind: Any) -> None:
    array = {"type": "array", "elementType": kind, "containsNull": True}
    inside = {"type": "struct", "fields": [field_body(array, "deep")]}
    with pytest.raises(Unsupported, match=r"'top\.deep\.element'"):
        parse_schema(text_of(field_body("long", "id"), field_body(inside, "top")))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"long"',
        '{"type":"struct"}',
        '{"type":"struct","fields":[1]}',
        '{"type":"struct","fields":[{"name":"a"}]}',
        '{"type":"struct","fields":[{"name":"a","type":7}]}',
        '{"type":"struct","fields":[{"name":"a","type":"long","metadata":[1]}]}',
        '{"type":"struct","fields":[{"name":"a","type":' + '{"type":"array","elementType":' * 9999,
    ],
)
def test_invalid_schemas_are_refused(text: str) -> None:
    with pytest.raises(Corruption, match="schema of the Delta table"):
        parse_schema(text)


# Column mapping


def test_the_mode_of_column_mapping_comes_from_the_configuration() -> None:
    assert DeltaColumnMapping.of({}) is NONE
    assert DeltaColumnMapping.of({"delta.columnMapping.mode": "name"}) is NAME
    assert DeltaColumnMapping.of({"delta.columnMapping.mode": "ID"}) is ID
    with pytest.raises(Unsupported, match="'both'"):
        DeltaColumnMapping.of({"delta.columnMapping.mode": "both"})


def test_physical_names_and_ids_come_from_the_mapping() -> None:
    named: dict[str, Any] = {
        "delta.columnMapping.id": 7,
        "delta.columnMapping.physicalName": "col-1",
    }
    text = text_of(
        field_body({"type": "struct", "fields": [field_body("long", "x", **named)]}, **named)
    )
    (column,) = parse_schema(text, NAME)
    (inside,) = column.fields
    assert (column.name, column.physical_name, column.field_id) == ("c", "col-1", 7)
    assert (inside.name, inside.physical_name, inside.field_id) == ("x", "col-1", 7)
    (plain,) = parse_schema(text)
    assert plain.physical_name == "c"
    with pytest.raises(Corruption, match="no physical name for the column 'c'"):
        parse_schema(text_of(field_body("long")), ID)


def test_column_metadata_is_kept() -> None:
    metadata: dict[str, Any] = {
        "CURRENT_DEFAULT": "current_date()",
        "delta.generationExpression": "CAST(at AS DATE)",
        "delta.invariants": '{"expression":{"expression":"c > 3"}}',
        "delta.identity.start": 1,
    }
    (found,) = parse_schema(text_of(field_body("date", **metadata)))
    assert found.default == "current_date()"
    assert found.generation_expression == "CAST(at AS DATE)"
    assert found.invariant == "c > 3"
    assert found.comment is None
    assert json.loads(schema_string([found]))["fields"][0]["metadata"] == metadata


# Publishing


def test_published_columns_have_their_ids_and_physical_names() -> None:
    inner = of_lake("varchar", name="renamed", physical="x", number=2)
    element = of_lake("struct", inner, name="element", number=4)
    columns = [of_lake("struct", inner), of_lake("list", element, name="l", number=3)]
    published = delta_fields(columns, NAME, {ColumnId(1): {"comment": "why"}})
    assert parse_schema(schema_string(published), NAME) == published
    first, second = json.loads(schema_string(published))["fields"]
    named: dict[str, Any] = {"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "x"}
    assert first["type"]["fields"] == [field_body("string", "renamed", **named)]
    assert first["metadata"]["comment"] == "why"
    assert second["type"]["elementType"]["fields"] == first["type"]["fields"]


def test_types_unknown_to_delta_are_published_as_spark_types() -> None:
    kinds = {"uint8": "short", "uint64": "decimal(20,0)", "uuid": "string", "json": "string"}
    published = delta_fields([of_lake(kind, name=kind) for kind in kinds])
    found = json.loads(schema_string(published))["fields"]
    assert {one["name"]: one["type"] for one in found} == kinds


def test_types_that_delta_cannot_represent_are_refused_by_name() -> None:
    with pytest.raises(Unsupported, match=r"'s\.t'.*time"):
        schema_string(delta_fields([of_lake("struct", of_lake("time", name="t"), name="s")]))
    with pytest.raises(InvalidInput, match=r"'new'.*'old'"):
        delta_fields([of_lake("date", name="new", physical="old")])


names = st.text(min_size=1, max_size=8)
kinds: st.SearchStrategy[tuple[str, tuple[Any, ...]]] = st.recursive(
    st.sampled_from(sorted(SCALARS.values())).map(lambda kind: (kind, ())),
    lambda inner: st.one_of(
        st.lists(st.tuples(names, inner), min_size=1, max_size=3).map(
            lambda parts: ("struct", tuple(parts))
        ),
        inner.map(lambda one: ("list", (("element", one),))),
        st.tuples(inner, inner).map(
            lambda two: ("map", tuple(zip(("key", "value"), two, strict=True)))
        ),
    ),
    max_leaves=6,
)


def lake_field(name: str, kind: tuple[str, tuple[Any, ...]], numbers: Counter[str]) -> Field:
    numbers[""] += 1
    number = numbers[""]
    own, parts = kind
    physical = name if name in {"element", "key", "value"} else f"col-{number}"
    fields = tuple(lake_field(part, inner, numbers) for part, inner in parts)
    return Field(ColumnId(number), name, physical, own, number % 2 == 0, None, None, None, fields)


@given(columns=st.lists(st.tuples(names, kinds), max_size=4))
def test_published_schemas_round_trip(columns: list[tuple[str, Any]]) -> None:
    numbers: Counter[str] = Counter()
    fields = [lake_field(name, kind, numbers) for name, kind in columns]
    published = delta_fields(fields, ID)
    assert parse_schema(schema_string(published), ID) == published


# Tables of other writers


@needs_corpus
def test_schemas_of_other_writers_round_trip() -> None:
    read: Counter[str] = Counter()
    for table in corpus_tables("ok", "log_only", "negative"):
        for kind, body in commit_actions(table):
            if kind == "metaData" and "schemaString" in body:
                mapping = DeltaColumnMapping.of(body.get("configuration") or {})
                try:
                    found = parse_schema(body["schemaString"], mapping)
                except Unsupported as error:
                    read[error.details["type"].partition("(")[0]] += 1
                    continue
                if '"variant"' not in body["schemaString"]:  # read as a struct
                    assert json.loads(schema_string(found)) == json.loads(body["schemaString"])
                assert [column_spec(one).name for one in found] == [one.name for one in found]
                read["read"] += 1
    assert read.pop("read") > 100
    assert set(read) <= {"geometry"}
