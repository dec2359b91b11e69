"""Interface of the two routes by which Spark reads and writes files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from forklake.files.systems import file_system, is_local

# A column `__partition_year` creates folders `year=2024`; such columns are not stored in files.
PARTITION_PREFIX = "__partition_"


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file of a relation, with its values of the constant columns."""

    path: str  # full path or URI
    size: int
    constants: tuple[object, ...]
    key: bytes | None = None  # of an encrypted file


@dataclass(frozen=True, slots=True)
class FileDeletes:
    """The deleted rows of one data file, under a number for it."""

    number: int
    path: str  # of the data file
    delete_path: str | None  # of its delete file
    positions: Sequence[int] = ()  # of further rows


ListFiles = Callable[[list[str]], Iterable[ListedFile]]
IsDeleted = Callable[[Column, Column], Column]
Deletes = Iterable[FileDeletes]


class Routes(Protocol):
    """Route to read files, skip deleted rows and write files; see Engine for the contracts."""

    def relation(
        self,
        schema: StructType,
        constants: StructType,
        list_files: ListFiles,
        size: int,
        options: Mapping[str, str],
    ) -> DataFrame: ...

    def deleted(self, deletes: Deletes, keys: Mapping[str, bytes]) -> IsDeleted: ...

    def write(
        self,
        df: DataFrame,
        folder: str,
        field_ids: Mapping[str, int],
        partition_by: Sequence[str],
        options: Mapping[str, str],
        job_key: bytes | None,
    ) -> list[str]: ...


def spark_path(path: str) -> str:
    """Return a path or URI as Spark takes it: not percent-encoded, local ones as `file://`."""
    if path.startswith("/"):
        return f"file://{path}"
    return f"file://{os.path.abspath(file_system(path)[1])}" if is_local(path) else path
