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
    parse,
)
from forklake.delta.log.checkpoint_texts import INT96_UNIT, partition_texts, statistics_texts
from forklake.delta.log.commits import JsonActions, located
from forklake.delta.log.log_files import Checkpoint, LogFiles
from forklake.delta.log.paths import canonical
from forklake.errors import Corruption
from forklake.files.systems import file_system, is_storage_failure, translating

_ROWS = 8192  # read at once
_BUFFER = 1 << 20  # bytes of a column chunk to read at once, whatever the size of the row group
_MOMENTS = {"coerce_int96_timestamp_unit": INT96_UNIT}
_FACTS = (Protocol.kind, Metadata.kind, Txn.kind, DomainMetadata.kind, Sidecar.kind)
_FILES = (Add.kind, Remove.kind)
# Fields that may be stored as typed columns instead: (field, its typed column, conversion).
_REBUILT = (
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
    facts: tuple[AnyAction, ...]
    paths: tuple[str, ...]

    def __iter__(self) -> Iterator[AnyAction]:
        yield from self.facts
        for path in self.paths:
            yield from _actions(path, self.version, _FILES)


def read_state(checkpoint: Checkpoint, files: LogFiles) -> StateActions:
    """Return the state in a checkpoint. Raise Corruption if the checkpoint is not usable."""
    version = checkpoint.version
    paths = tuple(file.path for file in checkpoint.files)
    found = [one for path in paths for one in _actions(path, version, _FACTS)]
    sidecars = tuple(
        _sidecar_path(one, paths[0], files) for one in found if isinstance(one, Sidecar)
    )
    for path in sidecars:
        with _opened(path, version):
            pass  # raises if the file is truncated
    told = (one for one in found if not isinstance(one, Sidecar))
    facts = tuple(sorted(told, key=lambda one: _FACTS.index(one.kind)))
    require_facts({Protocol.kind, Metadata.kind}, facts, paths[0], version)
    return StateActions(version, facts, paths + sidecars)


def require_facts(
    kinds: Iterable[str], actions: Iterable[AnyAction], path: str, version: int
) -> None:
    """Raise Corruption if the first state of a table lacks one of these kinds of actions."""
    missing = set(kinds)
    for action in actions:
        missing.discard(action.kind)
        if not missing:
            return
    raise located(
        Corruption(
            f"The log begins here, and the action '{min(missing)}' is missing.",
            remedy="Restore the beginning of the log from a backup.",
        ),
        path,
        version,
    )


def _sidecar_path(sidecar: Sidecar, path: str, files: LogFiles) -> str:
    name = canonical(sidecar.path).rsplit("/", 1)[-1]
    if name not in files.sidecars:
        raise Corruption(
            f"The sidecar {name!r} of the checkpoint {path!r} is missing.",
            remedy="Restore it from a backup.",
            file=path,
        )
    return files.sidecars[name].path


# Parquet


def _actions(path: str, version: int, kinds: tuple[str, ...]) -> Iterator[AnyAction]:
    if path.endswith(".json"):
        yield from (one for one in JsonActions(path, version) if one.kind in kinds)
        return
    with _opened(path, version) as file:
        columns = [name for kind in kinds for name in _columns(file, kind)]
        if columns:
            for batch in file.iter_batches(_ROWS, columns=columns):
                for kind in batch.schema.names:
                    yield from (parse(kind, one) for one in _bodies(batch.column(kind)))


@contextmanager
def _opened(path: str, version: int) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file of the log. Errors inside of the block are reported as Corruption."""
    system, inside = file_system(path)
    with translating(path):
        source = system.open_input_file(inside)
    try:
        with source, pq.ParquetFile(source, buffer_size=_BUFFER, **_MOMENTS) as file:
            yield file
    except Corruption as reason:
        raise located(reason, path, version) from reason
    except _DAMAGE as reason:
        if is_storage_failure(reason):
            with translating(path):
                raise
        fault = Corruption(f"It cannot be read: {reason}.", remedy="Restore it from a backup.")
        raise located(fault, path, version) from reason


def _columns(file: pq.ParquetFile, kind: str) -> Iterator[str]:
    """Yield the columns of an action to read: its fields, and typed columns for missing fields."""
    schema = file.schema_arrow
    if kind not in schema.names or not pa.types.is_struct(schema.field(kind).type):
        return
    there = {field.name for field in schema.field(kind).type}
    yield from (f"{kind}.{name}" for name in there & _known(kind))
    for name, parsed, _ in _REBUILT:
        if parsed in there and not (name in there and _is_full(file, kind, name)):
            yield f"{kind}.{parsed}"


def _known(kind: str) -> set[str]:
    return {field.metadata["name"] for field in fields(KINDS[kind]) if field.metadata}


def _is_full(file: pq.ParquetFile, kind: str, name: str) -> bool:
    """Return whether the footer shows that a field has a value in each action of its kind."""
    places = {file.schema.column(place).path: place for place in range(len(file.schema))}
    field, path = places.get(f"{kind}.{name}"), places[f"{kind}.path"]
    if field is None:
        return True  # it is a nested column, which has no single null count
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    counted = [(_nulls(group.column(field)), _nulls(group.column(path))) for group in groups]
    return all(one == other and one is not None for one, other in counted)


def _nulls(column: Any) -> int | None:
    known = column.statistics
    return known.null_count if known is not None and known.has_null_count else None


def _bodies(array: pa.StructArray) -> Iterator[dict[str, Any]]:
    """Yield the non-null rows of an action column, in the JSON form of the log."""
    present = array.drop_null()
    children = {
        field.name: child for field, child in zip(present.type, present.flatten(), strict=True)
    }
    parsed = [(name, children.pop(other, None), told) for name, other, told in _REBUILT]
    columns = {name: _values(child) for name, child in children.items()}
    for name, child, told in parsed:
        if child is not None:
            columns[name] = _filled(columns.get(name), told(child))
    names = tuple(columns)
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(names, row, strict=True))


def _values(array: pa.Array) -> list[Any]:
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


def _filled(said: list[Any] | None, rebuilt: list[Any]) -> list[Any]:
    if said is None:
        return rebuilt
    return [new if old is None else old for old, new in zip(said, rebuilt, strict=True)]
