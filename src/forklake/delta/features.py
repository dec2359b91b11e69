"""Table features: what a Delta table may require of its readers and writers, as one literal table.

A reader must refuse a table that requires an unknown reader feature, and may ignore features that
are required of writers only. A writer must support every feature that the table uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from forklake.delta.actions import Metadata, Protocol
from forklake.errors import Corruption, Unsupported


@dataclass(frozen=True, slots=True)
class Feature:
    """One table feature.

    `sign` is the prefix of a table property, or of a key in the schema, that shows that the table
    uses the feature. A feature without a sign counts as used wherever it is listed.
    """

    name: str
    meaning: str
    is_for_readers: bool = False
    is_read: bool = True
    is_written: bool = False
    sign: str = ""


def _reader(name: str, meaning: str, *, read: bool, write: bool = False, sign: str = "") -> Feature:
    return Feature(name, meaning, True, read, write, sign)


def _writer(name: str, meaning: str, *, write: bool = False, sign: str = "") -> Feature:
    return Feature(name, meaning, False, True, write, sign)


# Names that end in -preview are early names of the same feature.
FEATURES: dict[str, Feature] = {
    one.name: one
    for one in (
        _reader("columnMapping", "columns have physical names", read=True, write=True),
        _reader("deletionVectors", "deleted rows are marked, not rewritten", read=True, write=True),
        _reader("timestampNtz", "timestamps without a time zone", read=True, write=True),
        _reader("v2Checkpoint", "checkpoints have sidecar files", read=True),
        _reader("vacuumProtocolCheck", "vacuum must support all features", read=True, write=True),
        _reader("typeWidening", "older files have narrower types", read=True),
        _reader("typeWidening-preview", "older files have narrower types", read=True),
        _reader("variantType", "columns of type variant", read=True),
        _reader("variantType-preview", "columns of type variant", read=True),
        _reader("variantShredding", "variants are split into columns", read=False),
        _reader("variantShredding-preview", "variants are split into columns", read=False),
        # Commits that the catalog has not published yet are not read; published ones are final.
        _reader("catalogManaged", "a catalog decides on commits", read=True),
        _reader("catalogOwned", "a catalog decides on commits", read=True),
        _reader("catalogOwned-preview", "a catalog decides on commits", read=True),
        _reader("geospatial", "columns of type geometry and geography", read=False),
        _writer("appendOnly", "rows are never deleted", write=True),
        _writer("invariants", "column constraints", write=True),
        _writer("checkConstraints", "CHECK constraints", write=True),
        _writer("generatedColumns", "columns are computed", write=True),
        _writer("allowColumnDefaults", "columns have defaults", write=True),
        _writer("identityColumns", "columns with generated numbers", write=True),
        _writer("changeDataFeed", "changed rows are recorded", write=True),
        _writer("rowTracking", "rows have ids"),  # required as soon as it is listed, used or not
        _writer("domainMetadata", "settings of domains", write=True),
        _writer("inCommitTimestamp", "commits contain their time", write=True),
        _writer("inCommitTimestamp-preview", "commits contain their time", write=True),
        _writer("clustering", "rows are clustered"),
        _writer("liquid", "rows are clustered"),
        _writer("icebergCompatV1", "readable as Iceberg", sign="delta.enableIcebergCompatV1"),
        _writer("icebergCompatV2", "readable as Iceberg", sign="delta.enableIcebergCompatV2"),
        _writer("icebergCompatV3", "readable as Iceberg", sign="delta.enableIcebergCompatV3"),
        _writer("icebergWriterCompatV1", "Iceberg column names", sign="delta.enableIcebergWriter"),
        _writer("materializePartitionColumns", "partition columns are in the files"),
        _writer("collations", "texts have a collation"),
        _writer("collations-preview", "texts have a collation"),
    )
}

# Features implied by versions without a feature list; each version includes those before it.
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
    """Return the features that a reader of the table must support."""
    version, listed = protocol.min_reader_version, protocol.reader_features
    _require_version("reader", version, _LISTED_FOR_READERS)
    if version < _LISTED_FOR_READERS:
        return _features_until(_OF_READER_VERSION, version)
    return _require_list("readerFeatures", version, listed)


def writer_features(protocol: Protocol) -> frozenset[str]:
    """Return the features that a writer of the table must support."""
    version, listed = protocol.min_writer_version, protocol.writer_features
    _require_version("writer", version, _LISTED_FOR_WRITERS)
    if version < _LISTED_FOR_WRITERS:
        return _features_until(_OF_WRITER_VERSION, version)
    return _require_list("writerFeatures", version, listed)


def explain_unreadable(protocol: Protocol | None) -> str | None:
    """Return why rows cannot be read, or None. The log of such a table can still be followed."""
    if protocol is None:
        return f"Its Delta log has no protocol, so its requirements are unknown. {_AT_OWN_RISK}"
    try:
        require_readable(protocol)
    except (Unsupported, Corruption) as reason:
        return f"{reason.message} {_AT_OWN_RISK}"
    return None


def explain_unwritable(protocol: Protocol | None, metadata: Metadata | None) -> str | None:
    """Return why rows cannot be changed, in forks either, or None."""
    if protocol is None or metadata is None:
        return "Its Delta log has no protocol, so its requirements for writers are unknown."
    try:
        require_writable(protocol, metadata)
    except (Unsupported, Corruption) as reason:
        return reason.message
    return None


def require_readable(protocol: Protocol) -> None:
    """Raise Unsupported if the table requires a reader feature that Forklake does not support."""
    required = reader_features(protocol)
    missing = sorted(name for name in required if not _can_read(FEATURES.get(name)))
    if missing:
        raise _unsupported("read", missing)


def require_writable(protocol: Protocol, metadata: Metadata) -> None:
    """Raise Unsupported if the table requires a writer feature that Forklake does not support."""
    require_readable(protocol)
    required = writer_features(protocol)
    missing = sorted(name for name in required if not _can_write(FEATURES.get(name), metadata))
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


def _features_until(table: dict[int, tuple[str, ...]], version: int) -> frozenset[str]:
    return frozenset(name for since, names in table.items() if since <= version for name in names)


def _require_list(field: str, version: int, names: frozenset[str] | None) -> frozenset[str]:
    if names is None:
        raise Corruption(
            f"The protocol of the Delta table has version {version} without the list '{field}'.",
            remedy="The Delta log is damaged or was written incorrectly: restore it from a backup.",
        )
    return names


def _require_version(who: str, version: int, newest: int) -> None:
    if not 1 <= version <= newest:
        raise Unsupported(
            f"The Delta table requires {who} version {version}; supported are 1 to {newest}.",
            remedy="Use a newer version of Forklake that supports it, if there is one.",
            version=version,
        )


def _unsupported(done: str, missing: list[str]) -> Unsupported:
    named = ", ".join(_describe_feature(name) for name in missing)
    return Unsupported(
        f"The Delta table cannot be {done}: it requires {named}.",
        remedy="Drop the feature from the table with the engine that created the table.",
        features=tuple(missing),
    )


def _describe_feature(name: str) -> str:
    feature = FEATURES.get(name)
    return f"'{name}' ({feature.meaning})" if feature else f"'{name}' (unknown)"
