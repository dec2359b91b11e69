"""Table to which files are written: its folder, its options, and the metadata of new files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow.parquet as pq

from forklake.catalog.delta_tables import find_face
from forklake.engines.changes import Storage
from forklake.engines.partitions import Partitioning, partitioning_of
from forklake.errors import InvalidInput, Unsupported
from forklake.files import keys
from forklake.files.footers import decryption, leaf_fields, new_data_file, read_footers
from forklake.files.systems import open_input
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.files import NewDataFile
from forklake.model.options import Scope, checked_option
from forklake.model.rules import Rules
from forklake.model.sort_keys import SortKey
from forklake.model.state import CatalogState

LEVELS = {"zstd": range(1, 23), "gzip": range(1, 10)}


@dataclass(frozen=True, slots=True)
class ParquetOptions:
    """Settings for writing Parquet files."""

    codec: str
    level: int | None
    version: int
    row_group_rows: int | None
    row_group_bytes: int | None


@dataclass(frozen=True)
class Target:
    """Table, as a change sees it, to which files are added."""

    attachment: Storage
    state: CatalogState
    table: Table
    is_flat: bool = False  # files are not partitioned, whatever keys the table has

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the table."""
        return self.state.fields(self.table)

    @cached_property
    def partitioning(self) -> Partitioning | None:
        """Partition keys for new files; None without partitioning."""
        return None if self.is_flat else partitioning_of(self.state, self.table)

    @cached_property
    def rules(self) -> Rules:
        """Rules that each row must satisfy."""
        return self.state.rules(self.table)

    @cached_property
    def sort_order(self) -> list[tuple[str, SortKey]]:
        """Sort order of rows in a file: keys with the physical names of their columns."""
        names = {field.column_id: field.physical_name for field in self.fields}
        return [(names[key.column_id], key) for key in self.state.sort_order(self.table)]

    @cached_property
    def folder(self) -> str:
        """Full path of the table folder, with a trailing slash."""
        return self.attachment.located(self.attachment.folder(self.state, self.table))

    def refuse_unchecked(self, how: str) -> None:
        """Raise Unsupported if the table has rules that this way of adding rows cannot check."""
        if self.rules.concern_rows:
            raise Unsupported(
                f"Table '{self.table.table_name}' has constraints or generated columns. They are"
                f" not checked for rows that come {how}.",
                remedy="Write the rows with a session: write, write_stream, or INSERT.",
            )

    def stored(self, path: str) -> str:
        """Return the form in which the metastore stores the path of a file below the folder."""
        return self.attachment.folder(self.state, self.table) + path.removeprefix(self.folder)

    # Options

    def option(self, name: str) -> str | None:
        """Return the value of an option in its stored form."""
        value = self.attachment.option(self.state, name, self.table)
        return None if value is None else checked_option(name, value, Scope.CATALOG)[1]

    def number(self, name: str) -> int | None:
        """Return the value of a numeric option."""
        value = self.option(name)
        return None if value is None else int(value)

    @property
    def inlined_rows(self) -> int:
        """Largest number of rows to inline; 0 for a Delta table, whose readers read only files."""
        if find_face(self.state, self.table) is not None:
            return 0
        return self.number("data_inlining_row_limit") or 0

    @property
    def is_encrypted(self) -> bool:
        """Whether files are encrypted."""
        return self.option("encrypted") == "true"

    @property
    def has_folders(self) -> bool:
        """Whether partitions have folders whose names contain their values."""
        return self.option("hive_file_pattern") == "true" and not self.is_encrypted

    def parquet(self) -> ParquetOptions:
        """Return the Parquet options, checked against each other."""
        codec = self.option("parquet_compression") or "snappy"
        level = self.number("parquet_compression_level") if codec in LEVELS else None
        if codec == "brotli":
            raise Unsupported(
                f"Table '{self.table.table_name}' has parquet_compression = brotli, which Spark"
                " can neither write nor read.",
                remedy="Set parquet_compression to zstd, gzip, lz4 or snappy.",
            )
        if level is not None and level not in LEVELS[codec]:
            raise InvalidInput(
                f"The compression {codec} has no level {level}.",
                remedy=f"Set parquet_compression_level to {LEVELS[codec][0]} to"
                f" {LEVELS[codec][-1]}.",
            )
        return ParquetOptions(
            # The codec that Spark names lz4 has a framing that other readers do not support.
            codec="lz4_raw" if codec == "lz4" else codec,
            level=level,
            # Arrow cannot decrypt data pages of version 2 that Spark wrote.
            version=1 if self.is_encrypted else self.number("parquet_version") or 2,
            row_group_rows=self.number("parquet_row_group_size") or None,
            row_group_bytes=self.number("parquet_row_group_size_bytes") or None,
        )


def described(
    target: Target, paths: Sequence[str], job_key: keys.Key | None, *, row_ids: bool = True
) -> list[NewDataFile]:
    """Return the metadata of new files: statistics from their footers, partition values, keys."""
    file_keys = {path: keys.derived_key(job_key, path) for path in paths} if job_key else {}
    key_key = keys.load_key_encryption_key() if job_key else None
    footers = read_footers(paths, leaf_fields(target.fields), keys=file_keys)
    partitioning = target.partitioning
    found = []
    for path, footer in zip(paths, footers, strict=True):
        key = file_keys.get(path)
        further: dict[str, Any] = {"row_ids": row_ids}
        if partitioning is not None and footer.record_count:
            bounds = {one.column_id: one for one in footer.bounds}
            further["partition_id"] = partitioning.partition_id
            further["partition_values"] = partitioning.values(bounds, _first_value(path, key))
        if key is not None:
            further["encryption_key"] = keys.wrap(key, key_key)
        found.append(new_data_file(footer, path=target.stored(path), **further))
    return found


def _first_value(path: str, key: bytes | None) -> Callable[[Field], Any]:
    def read(field: Field) -> Any:
        with open_input(path) as opened:
            file = pq.ParquetFile(opened, decryption_properties=decryption(key))
            batch = next(file.iter_batches(1, columns=[field.physical_name]))
        return batch.column(0)[0].as_py()

    return read
