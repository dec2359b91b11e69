"""Table features: those that are refused, and those that are allowed."""

from __future__ import annotations

from typing import Any

import pytest

from forklake.delta.actions import Metadata, Protocol
from forklake.delta.features import (
    FEATURES,
    reader_features,
    require_readable,
    require_writable,
    writer_features,
)
from forklake.errors import Corruption, Unsupported
from tests.delta.hand_written import COLUMNS


def protocol(
    reader: int, writer: int, reads: set[str] | None = None, writes: set[str] | None = None
) -> Protocol:
    return Protocol(
        min_reader_version=reader,
        min_writer_version=writer,
        reader_features=None if reads is None else frozenset(reads),
        writer_features=None if writes is None else frozenset(writes),
    )


def listed(*names: str) -> Protocol:
    """Return a protocol that lists features, for readers where they concern readers."""
    reads = {name for name in names if name not in FEATURES or FEATURES[name].is_for_readers}
    return protocol(3, 7, reads, set(names))


def metadata(schema: str = COLUMNS, **configuration: Any) -> Metadata:
    return Metadata(id="m", schema_string=schema, configuration=configuration)


@pytest.mark.parametrize(
    ("reader", "writer", "reads", "writes"),
    [
        (1, 1, set(), set()),
        (1, 2, set(), {"appendOnly", "invariants"}),
        (2, 5, {"columnMapping"}, {"appendOnly", "columnMapping", "generatedColumns"}),
        (1, 6, set(), {"identityColumns", "changeDataFeed", "checkConstraints"}),
    ],
)
def test_older_versions_imply_features(
    reader: int, writer: int, reads: set[str], writes: set[str]
) -> None:
    assert reader_features(protocol(reader, writer)) == reads
    assert writer_features(protocol(reader, writer)) >= writes


@pytest.mark.parametrize("name", FEATURES)
def test_a_table_is_readable_exactly_if_its_features_are(name: str) -> None:
    if FEATURES[name].is_read:
        require_readable(listed(name))
    else:
        with pytest.raises(Unsupported, match=name):
            require_readable(listed(name))


def test_unknown_features_stop_readers_only_if_they_concern_readers() -> None:
    require_readable(protocol(1, 7, None, {"fromTheFuture"}))
    with pytest.raises(Unsupported, match="'fromTheFuture' \\(unknown\\)"):
        require_readable(listed("deletionVectors", "fromTheFuture"))


def test_unknown_features_stop_writers() -> None:
    with pytest.raises(Unsupported, match="fromTheFuture") as error:
        require_writable(protocol(1, 7, None, {"appendOnly", "fromTheFuture"}), metadata())
    assert error.value.details["features"] == ("fromTheFuture",)


@pytest.mark.parametrize("version", [0, 4, 99])
def test_unknown_reader_versions_are_refused(version: int) -> None:
    with pytest.raises(Unsupported, match=f"reader version {version}"):
        require_readable(protocol(version, 7, set(), set()))


def test_unknown_writer_versions_stop_writers_alone() -> None:
    require_readable(protocol(1, 8))
    with pytest.raises(Unsupported, match="writer version 8"):
        require_writable(protocol(1, 8), metadata())


def test_a_protocol_without_its_feature_list_is_corrupt() -> None:
    with pytest.raises(Corruption, match="readerFeatures"):
        require_readable(protocol(3, 7, None, set()))
    with pytest.raises(Corruption, match="writerFeatures"):
        require_writable(protocol(1, 7), metadata())


def test_unused_features_do_not_stop_writers() -> None:
    unused = metadata(**{"delta.enableIcebergCompatV2": "false"})
    require_writable(listed("icebergCompatV2"), unused)


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("rowTracking", metadata(**{"delta.enableRowTracking": "false"})),
        ("icebergCompatV2", metadata(**{"delta.enableIcebergCompatV2": "TRUE"})),
        ("icebergWriterCompatV1", metadata(**{"delta.enableIcebergWriterCompatV1": "true"})),
        ("clustering", metadata()),
    ],
)
def test_used_but_unsupported_features_stop_writers(name: str, used: Metadata) -> None:
    with pytest.raises(Unsupported, match=name):
        require_writable(listed(name), used)


def test_tables_with_supported_features_are_writable() -> None:
    require_writable(listed("deletionVectors", "columnMapping", "domainMetadata"), metadata())
    require_writable(protocol(1, 6), metadata(**{"delta.enableChangeDataFeed": "true"}))
