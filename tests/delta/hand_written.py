"""Delta logs written by hand, file by file, with any fault that a test needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Body = dict[str, Any]

COLUMNS = '{"type":"struct","fields":[{"name":"c","type":"long","nullable":true,"metadata":{}}]}'
PROTOCOL: Body = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
METADATA: Body = {
    "metaData": {
        "id": "one",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": COLUMNS,
        "partitionColumns": [],
        "configuration": {},
    }
}
FIRST = (PROTOCOL, METADATA)

_TEXTS = pa.map_(pa.string(), pa.string())
_VECTOR = pa.struct(
    {
        "storageType": pa.string(),
        "pathOrInlineDv": pa.string(),
        "offset": pa.int32(),
        "sizeInBytes": pa.int32(),
        "cardinality": pa.int64(),
        "maxRowIndex": pa.int64(),
    }
)
_ADD = {
    "path": pa.string(),
    "partitionValues": _TEXTS,
    "size": pa.int64(),
    "modificationTime": pa.int64(),
    "dataChange": pa.bool_(),
    "stats": pa.string(),
    "deletionVector": _VECTOR,
}
_KINDS = {
    "protocol": {
        "minReaderVersion": pa.int32(),
        "minWriterVersion": pa.int32(),
        "readerFeatures": pa.list_(pa.string()),
        "writerFeatures": pa.list_(pa.string()),
    },
    "metaData": {
        "id": pa.string(),
        "format": pa.struct({"provider": pa.string(), "options": _TEXTS}),
        "schemaString": pa.string(),
        "partitionColumns": pa.list_(pa.string()),
        "configuration": _TEXTS,
    },
    "txn": {"appId": pa.string(), "version": pa.int64()},
    "domainMetadata": {
        "domain": pa.string(),
        "configuration": pa.string(),
        "removed": pa.bool_(),
    },
    "add": _ADD,
    "remove": {"path": pa.string(), "deletionTimestamp": pa.int64(), "dataChange": pa.bool_()},
    "sidecar": {"path": pa.string(), "sizeInBytes": pa.int64(), "modificationTime": pa.int64()},
}


def add(path: str, **more: Any) -> Body:
    """Return an add with all required fields."""
    fixed = {"partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    return {"add": {"path": path, **fixed, **more}}


def remove(path: str, **more: Any) -> Body:
    """Return a remove with all required fields."""
    return {"remove": {"path": path, "dataChange": True, **more}}


def vector(name: str) -> Body:
    """Return a deletion vector, as part of an add or a remove."""
    fixed = {"storageType": "u", "offset": 1, "sizeInBytes": 36, "cardinality": 2}
    return {"deletionVector": fixed | {"pathOrInlineDv": name}}


def commit_info(timestamp: int, **more: Any) -> Body:
    """Return a commitInfo."""
    return {"commitInfo": {"timestamp": timestamp, "operation": "WRITE", **more}}


class HandWrittenLog:
    """The folder of a table, with a log that is written file by file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "_delta_log"
        (self.folder / "_sidecars").mkdir(parents=True)

    def commit(self, version: int, *actions: Body) -> Path:
        """Write a commit with one action per line, and return its path."""
        return self.file(f"{version:020d}.json", "".join(json.dumps(one) + "\n" for one in actions))

    def file(self, name: str, text: str) -> Path:
        """Write a file into the folder of the log, and return its path."""
        path = self.folder / name
        path.write_text(text)
        return path

    def checkpoint(
        self, version: int, *actions: Body, infix: str = "", more: Body | None = None
    ) -> Path:
        """Write a checkpoint or a part of one, and return its path."""
        return self.parquet(f"{version:020d}.checkpoint{infix}.parquet", actions, more)

    def parquet(self, name: str, actions: tuple[Body, ...], more: Body | None = None) -> Path:
        """Write actions as Parquet, and return its path.

        `more` replaces the types of fields of adds; with None a field is left out.
        """
        adds = {key: kind for key, kind in (_ADD | (more or {})).items() if kind is not None}
        schema = pa.schema([(kind, pa.struct(of)) for kind, of in (_KINDS | {"add": adds}).items()])
        path = self.folder / name
        pq.write_table(pa.Table.from_pylist([_as_arrow(one) for one in actions], schema), path)
        return path


def _as_arrow(value: Any) -> Any:
    """Convert objects of texts into lists of pairs, which Arrow accepts as maps."""
    if not isinstance(value, dict):
        return value
    return {
        key: list(one.items()) if key in _MAPS and isinstance(one, dict) else _as_arrow(one)
        for key, one in value.items()
    }


_MAPS = {"partitionValues", "options", "configuration"}
