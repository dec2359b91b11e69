"""Actions of Delta logs: parsing, writing, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.delta.actions import (
    KINDS,
    NO_COLUMNS,
    Add,
    CommitInfo,
    DeletionVector,
    Metadata,
    Protocol,
    UnknownAction,
    format_action,
    parse_action,
    parse_action_line,
)
from forklake.errors import Corruption

VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 4,
    "sizeInBytes": 40,
    "cardinality": 6,
}
# Every known field of every kind, in the order of the protocol.
FULL: dict[str, dict[str, Any]] = {
    "protocol": {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["columnMapping", "deletionVectors"],
        "writerFeatures": ["columnMapping", "deletionVectors"],
    },
    "metaData": {
        "id": "af23c9d7",
        "name": "t",
        "description": "d",
        "format": {"provider": "parquet", "options": {"a": "b"}},
        "schemaString": '{"type": "struct",  "fields":[]}',
        "partitionColumns": ["p"],
        "configuration": {"delta.appendOnly": "true"},
        "createdTime": 1515491537026,
    },
    "add": {
        "path": "p=1/a%20b",
        "partitionValues": {"p": "1", "q": None},
        "size": 841454,
        "modificationTime": 1512909768000,
        "dataChange": True,
        "stats": '{"numRecords":1e2}',
        "tags": {"A": "1"},
        "deletionVector": VECTOR,
        "baseRowId": 4071,
        "defaultRowCommitVersion": 41,
        "clusteringProvider": "liquid",
    },
    "remove": {
        "path": "a",
        "deletionTimestamp": 1515488792485,
        "dataChange": False,
        "extendedFileMetadata": True,
        "partitionValues": {"p": None},
        "size": 1,
        "stats": "{}",
        "tags": {},
        "deletionVector": VECTOR,
        "baseRowId": 0,
        "defaultRowCommitVersion": 0,
    },
    "cdc": {
        "path": "_change_data/c",
        "partitionValues": {},
        "size": 1213,
        "dataChange": False,
        "tags": {"x": "y"},
    },
    "txn": {"appId": "3ba13872", "version": 364475, "lastUpdated": 1},
    "domainMetadata": {"domain": "d", "configuration": '{"a":1}', "removed": False},
    "commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {"mode": None}},
    "checkpointMetadata": {"version": 1, "tags": {"a": "b"}},
    "sidecar": {"path": "s", "sizeInBytes": 1, "modificationTime": 2, "tags": {}},
}


def test_samples_cover_every_kind_and_field() -> None:
    assert FULL.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", FULL)
def test_actions_round_trip_in_the_same_order(kind: str) -> None:
    body = FULL[kind] | {"unknownField": [{"a": 1}]}
    action = parse_action(kind, body)
    assert list(action.to_json()) == [kind]
    assert action.to_json()[kind] == body
    assert list(action.to_json()[kind]) == list(body)
    assert parse_action_line(format_action(action)) == action


texts = st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5), max_size=3)
whole = st.integers(0, 2**63 - 1)


@given(
    st.builds(
        Add,
        path=st.text(min_size=1),
        partition_values=texts,
        size=whole,
        modification_time=whole,
        data_change=st.booleans(),
        stats=st.none() | st.text(),
        tags=st.none() | texts,
        deletion_vector=st.none()
        | st.builds(
            DeletionVector,
            storage_type=st.sampled_from("uip"),
            path_or_inline=st.text(),
            offset=st.none() | whole,
            size_in_bytes=whole,
            cardinality=whole,
            extra=st.just({}),
        ),
        base_row_id=st.none() | whole,
        default_row_commit_version=st.none() | whole,
        clustering_provider=st.none() | st.text(),
        extra=st.just({}) | st.just({"more": {"x": [None]}}),
    )
)
def test_an_add_round_trips_as_text(action: Add) -> None:
    assert parse_action_line(format_action(action)) == action


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        ("add", {}, "no field 'path'"),
        ("add", {"path": ""}, "a text that is not empty"),
        ("add", {"path": None}, "no field 'path'"),
        ("add", FULL["add"] | {"size": True}, "'size', which must be a whole number"),
        ("add", FULL["add"] | {"size": 1.5}, "'1.5' in the field 'size'"),
        ("add", FULL["add"] | {"dataChange": "true"}, "true or false"),
        ("add", FULL["add"] | {"partitionValues": {"p": 1}}, "an object of texts"),
        ("add", FULL["add"] | {"deletionVector": {"storageType": "u"}}, "'pathOrInlineDv'"),
        ("add", FULL["add"] | {"deletionVector": "u"}, "an object (DeletionVector)"),
        ("add", [1], "not an object"),
        ("remove", {"path": "a"}, "no field 'dataChange'"),
        ("protocol", {"minReaderVersion": 1}, "no field 'minWriterVersion'"),
        ("protocol", FULL["protocol"] | {"readerFeatures": "x"}, "a list of texts"),
        ("metaData", {"id": "a", "partitionColumns": [1]}, "a list of texts"),
        ("txn", {"appId": "a", "version": "1"}, "a whole number"),
        ("domainMetadata", {"domain": "a", "configuration": ""}, "no field 'removed'"),
        ("commitInfo", "x", "not an object"),
    ],
)
def test_an_invalid_action_is_refused_with_the_reason(kind: str, body: Any, message: str) -> None:
    with pytest.raises(Corruption) as error:
        parse_action(kind, body)
    assert message in error.value.message
    assert f"'{kind}'" in error.value.message


def test_an_unknown_action_is_kept() -> None:
    action = parse_action("future", [1, {"a": None}])
    assert action == UnknownAction("future", [1, {"a": None}])
    assert format_action(action) == '{"future":[1,{"a":null}]}'


def test_null_fields_equal_absent_fields() -> None:
    body = {"minReaderVersion": 1, "minWriterVersion": 2, "readerFeatures": None, "new": None}
    assert parse_action("protocol", body) == Protocol(min_reader_version=1, min_writer_version=2)


def test_metadata_without_a_schema_has_no_columns() -> None:
    metadata = parse_action("metaData", {"id": "a"})
    assert isinstance(metadata, Metadata)
    assert metadata.schema_string == NO_COLUMNS


@pytest.mark.parametrize(
    ("offset", "expected"), [(None, "uab^-aqEH.-t@S}K{vb[*k^"), (4, "uab^-aqEH.-t@S}K{vb[*k^@4")]
)
def test_a_deletion_vector_is_identified_by_its_storage(offset: int | None, expected: str) -> None:
    assert DeletionVector.from_body(VECTOR | {"offset": offset}).unique_id == expected


def test_commit_info_has_time_operation_and_transaction() -> None:
    fields = {"timestamp": 1, "inCommitTimestamp": 2, "operation": "MERGE", "txnId": "t"}
    info = CommitInfo(extra=fields)
    assert (info.timestamp, info.in_commit_timestamp) == (1, 2)
    assert (info.operation, info.txn_id) == ("MERGE", "t")
    odd = CommitInfo(extra={"timestamp": "2020-01-01", "operation": 3})
    assert (odd.timestamp, odd.in_commit_timestamp, odd.operation) == (None, None, None)
