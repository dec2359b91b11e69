"""Checkpoints of a Delta log: the complete state of a table at a version, in Parquet files.

A checkpoint is one file, several parts, or (V2) a file that references sidecars; the first file of
a V2 checkpoint may also be JSON. Columns are read in bounded memory: first the few actions on the
table, then the file actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.delta.actions import (
    KINDS,
    Add,
    AnyAction,
    DomainMetadata,
    Metadata,
    Protocol,
    Remove,
    Sidecar,
    Txn,
    parse_action,
)
from forklake.delta.log.checkpoint_texts import INT96_UNIT, partition_texts, statistics_texts
from forklake.delta.log.commits import JsonActions, add_location
from forklake.delta.log.log_files import CheckpointFiles, LogFiles
from forklake.delta.log.paths import canonical_path
from forklake.errors import Corruption
from forklake.files.systems import file_system, is_storage_failure, translating

_ROWS = 8192  # read at once
_BUFFER = 1 << 20  # bytes of a column chunk to read at once, whatever the size of the row group
_MOMENTS = {"coerce_int96_timestamp_unit": INT96_UNIT}
_TABLE_ACTIONS = (Protocol.kind, Metadata.kind, Txn.kind, DomainMetadata.kind, Sidecar.kind)
_FILE_ACTIONS = (Add.kind, Remove.kind)
# Fields that may be stored as typed columns instead: (field, its typed column, conversion).
_TYPED_FIELDS = (
    ("stats", "stats_parsed", statistics_texts),
    ("partitionValues", "partitionValues_parsed", partition_texts),
)
_DAMAGE = (pa.ArrowException, OSError, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class StateActions:
    """The state in a checkpoint: table actions first, then file actions.

    Each iteration reads the files again.
    """

    version: int
    table_actions: tuple[AnyAction, ...]
    paths: tuple[str, ...]

    def __iter__(self) -> Iterator[AnyAction]:
        yield from self.table_actions
        for path in self.paths:
            yield from _read_actions(path, self.version, _FILE_ACTIONS)


def read_state(checkpoint: CheckpointFiles, files: LogFiles) -> StateActions:
    """Return the state in a checkpoint. Raise Corruption if the checkpoint is not usable."""
    version = checkpoint.version
    paths = tuple(file.path for file in checkpoint.files)
    found = [one for path in paths for one in _read_actions(path, version, _TABLE_ACTIONS)]
    sidecars = tuple(
        _find_sidecar(one, paths[0], files) for one in found if isinstance(one, Sidecar)
    )
    for path in sidecars:
        with _open_parquet(path, version):
            pass  # raises if the file is truncated
    others = (one for one in found if not isinstance(one, Sidecar))
    table_actions = tuple(sorted(others, key=lambda one: _TABLE_ACTIONS.index(one.kind)))
    require_kinds({Protocol.kind, Metadata.kind}, table_actions, paths[0], version)
    return StateActions(version, table_actions, paths + sidecars)


def require_kinds(
    kinds: Iterable[str], actions: Iterable[AnyAction], path: str, version: int
) -> None:
    """Raise Corruption if the first state of a table lacks one of these kinds of actions."""
    missing = set(kinds)
    for action in actions:
        missing.discard(action.kind)
        if not missing:
            return
    raise add_location(
        Corruption(
            f"The log begins here, and the action '{min(missing)}' is missing.",
            remedy="Restore the beginning of the log from a backup.",
        ),
        path,
        version,
    )


def _find_sidecar(sidecar: Sidecar, path: str, files: LogFiles) -> str:
    name = canonical_path(sidecar.path).rsplit("/", 1)[-1]
    if name not in files.sidecars:
        raise Corruption(
            f"The sidecar {name!r} of the checkpoint {path!r} is missing.",
            remedy="Restore it from a backup.",
            file=path,
        )
    return files.sidecars[name].path


# Parquet


def _read_actions(path: str, version: int, kinds: tuple[str, ...]) -> Iterator[AnyAction]:
    if path.endswith(".json"):
        yield from (one for one in JsonActions(path, version) if one.kind in kinds)
        return
    with _open_parquet(path, version) as file:
        columns = [name for kind in kinds for name in _columns_to_read(file, kind)]
        if columns:
            for batch in file.iter_batches(_ROWS, columns=columns):
                for kind in batch.schema.names:
                    yield from (parse_action(kind, one) for one in _to_bodies(batch.column(kind)))


@contextmanager
def _open_parquet(path: str, version: int) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file of the log. Errors inside of the block are reported as Corruption."""
    system, inside = file_system(path)
    with translating(path):
        source = system.open_input_file(inside)
    try:
        with source, pq.ParquetFile(source, buffer_size=_BUFFER, **_MOMENTS) as file:
            yield file
    except Corruption as reason:
        raise add_location(reason, path, version) from reason
    except _DAMAGE as reason:
        if is_storage_failure(reason):
            with translating(path):
                raise
        fault = Corruption(f"It cannot be read: {reason}.", remedy="Restore it from a backup.")
        raise add_location(fault, path, version) from reason


def _columns_to_read(file: pq.ParquetFile, kind: str) -> Iterator[str]:
    """Yield the columns of an action to read: its fields, and typed columns for missing fields."""
    schema = file.schema_arrow
    if kind not in schema.names or not pa.types.is_struct(schema.field(kind).type):
        return
    present = {field.name for field in schema.field(kind).type}
    yield from (f"{kind}.{name}" for name in present & _field_names(kind))
    for name, parsed, _ in _TYPED_FIELDS:
        if parsed in present and not (name in present and _is_full(file, kind, name)):
            yield f"{kind}.{parsed}"


def _field_names(kind: str) -> set[str]:
    return {field.metadata["name"] for field in fields(KINDS[kind]) if field.metadata}


def _is_full(file: pq.ParquetFile, kind: str, name: str) -> bool:
    """Return whether the footer shows that a field has a value in each action of its kind."""
    places = {file.schema.column(place).path: place for place in range(len(file.schema))}
    field, path = places.get(f"{kind}.{name}"), places[f"{kind}.path"]
    if field is None:
        return True  # it is a nested column, which has no single null count
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    counted = [
        (_null_count(group.column(field)), _null_count(group.column(path))) for group in groups
    ]
    return all(one == other and one is not None for one, other in counted)


def _null_count(column: Any) -> int | None:
    known = column.statistics
    return known.null_count if known is not None and known.has_null_count else None


def _to_bodies(array: pa.StructArray) -> Iterator[dict[str, Any]]:
    """Yield the non-null rows of an action column, in the JSON form of the log."""
    present = array.drop_null()
    children = {
        field.name: child for field, child in zip(present.type, present.flatten(), strict=True)
    }
    parsed = [(name, children.pop(other, None), convert) for name, other, convert in _TYPED_FIELDS]
    columns = {name: _to_values(child) for name, child in children.items()}
    for name, child, convert in parsed:
        if child is not None:
            columns[name] = _fill_missing(columns.get(name), convert(child))
    names = tuple(columns)
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(names, row, strict=True))


def _to_values(array: pa.Array) -> list[Any]:
    """Return Python values. Maps, which every file has, are converted several times faster."""
    if not pa.types.is_map(array.type):
        values: list[Any] = array.to_pylist(maps_as_pydicts="strict")
        return values
    keys, items, offsets = (one.to_pylist() for one in (array.keys, array.items, array.offsets))
    return [
        dict(zip(keys[start:end], items[start:end], strict=True)) if is_there else None
        for start, end, is_there in zip(
            offsets[:-1], offsets[1:], array.is_valid().to_pylist(), strict=True
        )
    ]


def _fill_missing(stored: list[Any] | None, rebuilt: list[Any]) -> list[Any]:
    if stored is None:
        return rebuilt
    return [new if old is None else old for old, new in zip(stored, rebuilt, strict=True)]
