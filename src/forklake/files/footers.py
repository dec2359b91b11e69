"""Parquet footers: row counts, sizes and column bounds, read without any row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.errors import Corruption, Forbidden
from forklake.files.bounds import column_bounds
from forklake.files.systems import for_each_file, is_storage_failure, open_input, translating
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds, NewDataFile

_MAGIC, _ENCRYPTED_MAGIC = b"PAR1", b"PARE"
_TRAILER = 8  # bytes at the end of a file: the length of the footer and the magic word


@dataclass(frozen=True, slots=True)
class Footer:
    """Row count, sizes and column bounds of one file."""

    record_count: int
    file_size_bytes: int
    footer_size: int
    bounds: tuple[ColumnBounds, ...]


# Paths of nodes


def node_paths(fields: Iterable[Field], prefix: str = "") -> Iterator[tuple[str, Field]]:
    """Yield every field with its path in the Parquet schema.

    Paths consist of physical names: `s.x`, `l.list.element`, `m.key_value.key`.
    """
    for field in fields:
        path = prefix + field.physical_name
        yield path, field
        match field.type, field.fields:
            case "list", (element,):
                yield from node_paths([_named(element, "element")], f"{path}.list.")
            case "map", (key, value):
                pair = [_named(key, "key"), _named(value, "value")]
                yield from node_paths(pair, f"{path}.key_value.")
            case _:
                yield from node_paths(field.fields, f"{path}.")


def leaf_fields(fields: Iterable[Field]) -> dict[str, Field]:
    """Return the fields that hold values, by path.

    A dot in a name can give two fields the same path; both are then left out.
    """
    found: dict[str, Field] = {}
    doubtful = set()
    for path, field in node_paths(fields):
        if field.fields:
            continue
        if path in found:
            doubtful.add(path)
        found[path] = field
    return {path: field for path, field in found.items() if path not in doubtful}


def _named(field: Field, physical_name: str) -> Field:
    return replace(field, physical_name=physical_name)


# Files


def read_footer(path: str, leaves: Mapping[str, Field], *, key: bytes | None = None) -> Footer:
    """Return the row count and sizes of one file, and the bounds of those leaves that it has."""
    with open_input(path) as file:
        with translating(path):
            size = file.size()
        try:
            metadata = pq.ParquetFile(file, decryption_properties=decryption(key)).metadata
            return Footer(
                record_count=metadata.num_rows,
                file_size_bytes=size,
                # An encrypted footer is longer than its serialized content.
                footer_size=metadata.serialized_size if key is None else _footer_size(file, size),
                bounds=tuple(column_bounds(metadata, leaves)),
            )
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(path, file, size, key, reason) from reason


def read_footers(
    paths: Sequence[str], leaves: Mapping[str, Field], *, keys: Mapping[str, bytes] | None = None
) -> list[Footer]:
    """Read the footers of many files; results are in the order of the paths."""
    known = keys or {}

    def read(path: str) -> Footer:
        return read_footer(path, leaves, key=known.get(path))

    return for_each_file(read, paths)


def new_data_file(footer: Footer, *, path: str, **further: Any) -> NewDataFile:
    """Return the file in the form that a transaction adds.

    Args:
        further: more fields of NewDataFile.
    """
    return NewDataFile(
        path=path,
        record_count=footer.record_count,
        file_size_bytes=footer.file_size_bytes,
        footer_size=footer.footer_size,
        bounds=footer.bounds,
        **further,
    )


def decryption(key: bytes | None) -> Any:
    """Return the pyarrow decryption properties of a key."""
    if key is None:
        return None
    from pyarrow.parquet.encryption import create_decryption_properties

    return create_decryption_properties(bytes(key))


def encryption(key: bytes | None) -> Any:
    """Return the pyarrow encryption properties of a key. The footer is encrypted as well."""
    if key is None:
        return None
    from pyarrow.parquet.encryption import create_encryption_properties

    return create_encryption_properties(bytes(key), plaintext_footer=False)


def footer_size_of(trailer: bytes) -> int:
    """Return the length of a footer from the last bytes of its file."""
    return int.from_bytes(trailer[-_TRAILER:-4], "little")


def _footer_size(file: Any, size: int) -> int:
    return footer_size_of(file.read_at(_TRAILER, size - _TRAILER))


def unreadable(
    path: str, file: Any, size: int, key: bytes | None, reason: BaseException
) -> Corruption | Forbidden:
    """Return the error for a file that cannot be read; raise the error of its storage instead if
    the storage failed."""
    with translating(path):
        if is_storage_failure(reason):
            raise reason
        magic = file.read_at(4, size - 4) if size >= _TRAILER else b""
    if magic == _ENCRYPTED_MAGIC:
        held = "no key for it is stored" if key is None else "the stored key does not match"
        return Forbidden(
            f"The file {path!r} is encrypted and {held}.",
            remedy="Attach the catalog that wrote it, with its key-encryption key.",
            path=path,
        )
    if magic != _MAGIC:
        fault = "is truncated, or not a Parquet file"
    else:
        fault = (
            "is damaged" if key is None else "is damaged, or not encrypted although it has a key"
        )
    return Corruption(
        f"The file {path!r} {fault}.", remedy="Restore it from a backup.", path=path, size=size
    )
