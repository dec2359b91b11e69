"""Delta tables with rules for writers: handwritten logs, imported and taken over into a lake."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from forklake import Catalog, Session
from forklake.delta.table_import import import_delta
from forklake.delta.takeover import take_over
from forklake.model.rules import Rules
from tests.delta.hand_written import HandWrittenLog

ALL = (
    "appendOnly",
    "invariants",
    "checkConstraints",
    "generatedColumns",
    "allowColumnDefaults",
    "identityColumns",
    "changeDataFeed",
)
Column = tuple[str, Any, Mapping[str, Any]]  # name, type, metadata


def write_rules(
    written: HandWrittenLog,
    columns: Sequence[Column],
    configuration: Mapping[str, str] | None = None,
    *,
    features: Sequence[str] = ALL,
    partition_by: Sequence[str] = (),
    reader: int = 1,
) -> None:
    """Write the first version of a table, which defines its columns and properties."""
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": dict(metadata)}
        for name, kind, metadata in columns
    ]
    protocol = {"minReaderVersion": reader, "minWriterVersion": 7, "writerFeatures": list(features)}
    metadata = {
        "id": "one",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": list(partition_by),
        "configuration": dict(configuration or {}),
    }
    written.commit(0, {"protocol": protocol}, {"metaData": metadata})


def import_rules(catalog: Catalog, written: HandWrittenLog) -> Rules:
    """Import a log, and return the rules of the table."""
    import_delta(catalog, str(written.root), "t")
    state = catalog.now().state
    return state.rules(state.table("t"))


def import_and_take_over(lake: Session, location: str, name: str = "t") -> None:
    """Import a Delta table and take it over, so that the lake owns it."""
    catalog = lake.attachment("lake").catalog
    import_delta(catalog, location, name)
    take_over(catalog, catalog.now().state.table(name))
