"""Table features: what a Delta table may demand of those who read and write it, in one table.

A reader must refuse a table that demands something unknown of readers, and may overlook what is
demanded of writers alone. A writer must know everything; what it knows but cannot do stops it
only where the table makes use of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from forklake.delta.actions import Metadata, Protocol
from forklake.errors import Corruption, Unsupported


@dataclass(frozen=True, slots=True)
class Feature:
    """One table feature.

    `sign` begins a table property, or a key in the schema, that shows that the table makes use of
    the feature; a feature without a sign is in use wherever it is listed.
    """

    name: str
    meaning: str
    is_for_readers: bool = False
    is_read: bool = True
    is_written: bool = False
    sign: str = ""


def _both(name: str, meaning: str, *, read: bool, write: bool = False, sign: str = "") -> Feature:
    return Feature(name, meaning, True, read, write, sign)


def _writers(name: str, meaning: str, *, write: bool = False, sign: str = "") -> Feature:
    return Feature(name, meaning, False, True, write, sign)


# Those that end in -preview are early names of the same feature.
FEATURES: dict[str, Feature] = {
    one.name: one
    for one in (
        _both("columnMapping", "columns have physical names", read=True, write=True),
        _both("deletionVectors", "rows are deleted beside their file", read=True, write=True),
        _both("timestampNtz", "timestamps without a time zone", read=True, write=True),
        _both("v2Checkpoint", "checkpoints have sidecar files", read=True),
        _both("vacuumProtocolCheck", "who cleans up must know all features", read=True, write=True),
        _both("typeWidening", "older files have narrower types", read=True),
        _both("typeWidening-preview", "older files have narrower types", read=True),
        _both("variantType", "columns of type variant", read=True),
        _both("variantType-preview", "columns of type variant", read=True),
        _both("variantShredding", "variants are cut into columns", read=False),
        _both("variantShredding-preview", "variants are cut into columns", read=False),
        # What their catalog has not published yet is not seen; what is published is final.
        _both("catalogManaged", "a catalog decides on commits", read=True),
        _both("catalogOwned", "a catalog decides on commits", read=True),
        _both("catalogOwned-preview", "a catalog decides on commits", read=True),
        _both("geospatial", "columns of type geometry and geography", read=False),
        _writers("appendOnly", "rows are never deleted", write=True),
        _writers("invariants", "columns have conditions", write=True),
        _writers("checkConstraints", "rows have conditions", write=True),
        _writers("generatedColumns", "columns are computed", write=True),
        _writers("allowColumnDefaults", "columns have defaults", write=True),
        _writers("identityColumns", "columns count", write=True),
        _writers("changeDataFeed", "changes are kept", write=True),
        _writers("rowTracking", "rows have ids"),  # as soon as it is listed, in use or not
        _writers("domainMetadata", "settings of domains", write=True),
        _writers("inCommitTimestamp", "commits say when they were made", write=True),
        _writers("inCommitTimestamp-preview", "commits say when they were made", write=True),
        _writers("clustering", "rows lie clustered"),
        _writers("liquid", "rows lie clustered"),
        _writers("icebergCompatV1", "readable as Iceberg", sign="delta.enableIcebergCompatV1"),
        _writers("icebergCompatV2", "readable as Iceberg", sign="delta.enableIcebergCompatV2"),
        _writers("icebergCompatV3", "readable as Iceberg", sign="delta.enableIcebergCompatV3"),
        _writers("icebergWriterCompatV1", "Iceberg's names", sign="delta.enableIcebergWriter"),
        _writers("materializePartitionColumns", "partition columns are in the files"),
        _writers("collations", "texts have an order of their own"),
        _writers("collations-preview", "texts have an order of their own"),
    )
}

# What the versions before the list of features stand for; each includes those before it.
_OF_READER_VERSION: dict[int, tuple[str, ...]] = {2: ("columnMapping",)}
_OF_WRITER_VERSION = {
    2: ("appendOnly", "invariants"),
    3: ("checkConstraints",),
    4: ("changeDataFeed", "generatedColumns"),
    5: ("columnMapping",),
    6: ("identityColumns",),
}
_LISTED_FOR_READERS = 3
_LISTED_FOR_WRITERS = 7
_AT_OWN_RISK = "To read it at your own risk, import it with ignore_features=True."


def reader_features(protocol: Protocol) -> frozenset[str]:
    """The features that a reader of the table must know."""
    version, listed = protocol.min_reader_version, protocol.reader_features
    _require_version("reader", version, _LISTED_FOR_READERS)
    if version < _LISTED_FOR_READERS:
        return _until(_OF_READER_VERSION, version)
    return _listed("readerFeatures", version, listed)


def writer_features(protocol: Protocol) -> frozenset[str]:
    """The features that a writer of the table must know."""
    version, listed = protocol.min_writer_version, protocol.writer_features
    _require_version("writer", version, _LISTED_FOR_WRITERS)
    if version < _LISTED_FOR_WRITERS:
        return _until(_OF_WRITER_VERSION, version)
    return _listed("writerFeatures", version, listed)


def why_unreadable(protocol: Protocol | None) -> str | None:
    """What keeps rows from being read, if anything does: a log can be followed all the same."""
    if protocol is None:
        return f"Its Delta log does not say what it demands of readers. {_AT_OWN_RISK}"
    try:
        require_readable(protocol)
    except (Unsupported, Corruption) as reason:
        return f"{reason.message} {_AT_OWN_RISK}"
    return None


def why_unwritable(protocol: Protocol | None, metadata: Metadata | None) -> str | None:
    """What keeps rows from being changed here, also in a fork, if anything does."""
    if protocol is None or metadata is None:
        return "Its Delta log does not say what it demands of writers."
    try:
        require_writable(protocol, metadata)
    except (Unsupported, Corruption) as reason:
        return reason.message
    return None


def require_readable(protocol: Protocol) -> None:
    """Unsupported if the table demands something of its readers that is not done here."""
    demanded = reader_features(protocol)
    missing = sorted(name for name in demanded if not _can_read(FEATURES.get(name)))
    if missing:
        raise _unsupported("read", missing)


def require_writable(protocol: Protocol, metadata: Metadata) -> None:
    """Unsupported if the table demands something of its writers that is not done here."""
    require_readable(protocol)
    demanded = writer_features(protocol)
    missing = sorted(name for name in demanded if not _can_write(FEATURES.get(name), metadata))
    if missing:
        raise _unsupported("written", missing)


def _can_read(feature: Feature | None) -> bool:
    return feature is not None and feature.is_read


def _can_write(feature: Feature | None, metadata: Metadata) -> bool:
    return feature is not None and (feature.is_written or not _is_used(feature, metadata))


def _is_used(feature: Feature, metadata: Metadata) -> bool:
    if not feature.sign or f'"{feature.sign}' in metadata.schema_string:
        return True
    properties = metadata.configuration.items()
    return any(
        name.startswith(feature.sign) and (value or "").lower() != "false"
        for name, value in properties
    )


def _until(table: dict[int, tuple[str, ...]], version: int) -> frozenset[str]:
    return frozenset(name for since, names in table.items() if since <= version for name in names)


def _listed(field: str, version: int, names: frozenset[str] | None) -> frozenset[str]:
    if names is None:
        raise Corruption(
            f"The table's protocol has version {version} without the list '{field}'.",
            remedy="The Delta log was written wrongly or damaged.",
        )
    return names


def _require_version(who: str, version: int, newest: int) -> None:
    if not 1 <= version <= newest:
        raise Unsupported(
            f"The Delta table demands {who} version {version}; known are 1 to {newest}.",
            remedy="Use a newer version of Forklake, if there is one that knows it.",
            version=version,
        )


def _unsupported(done: str, missing: list[str]) -> Unsupported:
    named = ", ".join(_described(name) for name in missing)
    return Unsupported(
        f"The Delta table cannot be {done}: it demands {named}.",
        remedy="Drop the feature from the table with the engine that made it.",
        features=tuple(missing),
    )


def _described(name: str) -> str:
    known = FEATURES.get(name)
    return f"'{name}' ({known.meaning})" if known else f"'{name}' (not known)"
