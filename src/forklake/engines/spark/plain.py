"""Routes that need only the public interface of Spark, for Spark Connect.

Spark takes the files of a folder from the log of a streaming sink, so a folder that contains only
such a log is a list of files. Values of constant columns are joined by the path of the file.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from posixpath import basename, dirname
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.remote import is_remote
from forklake.engines.spark.routes import (
    PARTITION_PREFIX,
    Deletes,
    IsDeleted,
    ListedFile,
    ListFiles,
    spark_path,
)
from forklake.errors import Unsupported
from forklake.files import systems

_PATH = "__path"
_BLOCK_SIZE = 128 * 2**20


class PlainRoutes:
    """Routes of any session; the driver of Spark must see our temporary folder."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def relation(
        self,
        schema: StructType,
        constants: StructType,
        list_files: ListFiles,
        size: int,
        options: Mapping[str, str],
    ) -> DataFrame:
        """Return the files as they are listed now, joined with their constants."""
        files = list(list_files([]))
        _refuse_encryption(any(file.key for file in files))
        _refuse_hidden(files)
        rows = self._read(schema, files, options).select("*", "_metadata")
        if not constants:
            return rows
        values = self._spark.createDataFrame(
            [(_uri(file.path), *file.constants) for file in files],
            StructType([StructField(_PATH, StringType()), *constants]),
        )
        path = rows["_metadata.file_path"]
        joined = rows.join(F.broadcast(values), path == values[_PATH], "left").where(
            F.when(values[_PATH].isNotNull(), True).otherwise(
                F.raise_error(F.concat(F.lit("A file has no constants: "), path))
            )
        )
        return joined.select(
            *(rows[quoted(name)] for name in schema.names),
            *(values[quoted(name)] for name in constants.names),
            "_metadata",
        )

    def _read(
        self, schema: StructType, files: Sequence[ListedFile], options: Mapping[str, str]
    ) -> DataFrame:
        """Return the rows of the files, listed in a log in a new folder."""
        folder = Path(tempfile.mkdtemp(prefix="forklake-"))
        log = folder / "_spark_metadata"
        log.mkdir()
        entries = [
            {
                "path": _uri(file.path),
                "size": file.size,
                "isDir": False,
                "modificationTime": 0,
                "blockReplication": 1,
                "blockSize": _BLOCK_SIZE,
                "action": "add",
            }
            for file in files
        ]
        (log / "0").write_text("\n".join(["v1", *map(json.dumps, entries)]))
        reader = self._spark.read.schema(schema).options(**options)
        rows = reader.option("recursiveFileLookup", "true").parquet(folder.as_uri())
        # A plan of Spark Connect is needed as long as any DataFrame is derived from it; a session
        # in this process has already read the log.
        user: Any = rows._plan if is_remote(rows) else rows
        weakref.finalize(user, shutil.rmtree, folder, ignore_errors=True)
        return rows

    def deleted(self, deletes: Deletes, keys: Mapping[str, bytes]) -> IsDeleted:
        """Return a Python function that reads delete files on the executors."""
        _refuse_encryption(bool(keys))
        return _build_deleted_function(
            {
                one.number: (basename(one.path), one.delete_path, list(one.positions))
                for one in deletes
            }
        )

    def write(
        self,
        df: DataFrame,
        folder: str,
        field_ids: Mapping[str, int],
        partition_by: Sequence[str],
        options: Mapping[str, str],
        job_key: bytes | None,
    ) -> list[str]:
        """Write to a staging folder with Spark, then move the files to their final names.

        Elements of lists, and keys and values of maps, get no field ids.
        """
        _refuse_encryption(job_key is not None)
        root = folder.rstrip("/")
        staging = f"{root}/.staging-{uuid.uuid4()}"
        system, inside = systems.file_system(staging)
        rows = df.to(_with_ids(df.schema, field_ids, ""))
        try:
            rows.write.partitionBy(*partition_by).options(**options).parquet(spark_path(staging))
            found = [one.path for one in systems.list_files(staging)]
            return systems.in_parallel(
                lambda path: _move_file(path, root + _final_folder(path[len(staging) :])),
                [path for path in found if path.endswith(".parquet")],
            )
        finally:
            with suppress(FileNotFoundError):
                system.delete_dir(inside)


def _refuse_encryption(is_needed: bool) -> None:
    if is_needed:
        raise Unsupported(
            "Encrypted files need the Java classes of Forklake, which this Spark session lacks.",
            remedy="Use a Spark session with a driver in this process.",
        )


def _refuse_hidden(files: Sequence[ListedFile]) -> None:
    for file in files:
        if basename(file.path).startswith(("_", ".")):
            raise Unsupported(
                f"Spark Connect cannot read a file whose name begins with _ or .: {file.path!r}.",
                remedy="Use a Spark session with a driver in this process.",
            )


def _uri(path: str) -> str:
    """Return a path as in `_metadata.file_path` of Spark: Java quotes only ASCII characters."""
    scheme, _, rest = spark_path(path).partition("://")
    quoted = re.sub(r"[\x00-\x7f]+", lambda match: quote(match[0], safe=_UNQUOTED), rest)
    return f"file:{quoted}" if scheme == "file" else f"{scheme}://{quoted}"


_UNQUOTED = "/!$&'()*+,;=:@~"  # characters that Java does not quote in the path of a URI


def _build_deleted_function(deletes: dict[int, tuple[str, str | None, list[int]]]) -> IsDeleted:
    """Return the function, which uses nothing of this package: executors may not have it."""
    known: dict[int, pa.Array] = {}  # positions read by a task

    def gone(number: int) -> pa.Array:
        name, path, more = deletes.get(number, ("", None, []))
        parts = [pa.array(more, pa.int64())]
        if path is not None:
            # Messages are built on lines of their own: traces show the line that raises.
            try:
                rows = pq.read_table(path, columns=["file_path", "pos"])
            except (OSError, pa.ArrowException) as reason:
                is_missing = isinstance(reason, FileNotFoundError)
                text = (
                    f"The delete file {path} {'does not exist' if is_missing else 'cannot be read'}"
                )
                raise ValueError(text) from None
            for found in pc.unique(rows["file_path"]).to_pylist():
                if found.rsplit("/", 1)[-1] != name:
                    text = f"The delete file {path} belongs to {found}, not to {name}"
                    raise ValueError(text)
            parts += rows["pos"].chunks
        return pa.chunked_array(parts).combine_chunks()

    def deleted(numbers: pa.Array, positions: pa.Array) -> pa.Array:
        result = pa.repeat(False, len(numbers))
        for number in pc.unique(numbers).to_pylist():
            if number not in known:
                known[number] = gone(number)
            is_gone = pc.is_in(positions, known[number])
            result = pc.or_(result, pc.and_(pc.equal(numbers, number), is_gone))
        return result

    make: Any = arrow_udf
    function: IsDeleted = make(deleted, "boolean")
    return function


def _with_ids(schema: StructType, ids: Mapping[str, int], path: str) -> StructType:
    """Return the schema with field ids where Spark writes them: on fields of structs."""
    fields = []
    for field in schema:
        place = path + field.name
        metadata = {"parquet.field.id": ids[place]} if place in ids else {}
        kind = _type_with_ids(field.dataType, ids, place)
        fields.append(StructField(field.name, kind, field.nullable, metadata))
    return StructType(fields)


def _type_with_ids(kind: DataType, ids: Mapping[str, int], place: str) -> DataType:
    match kind:
        case StructType():
            return _with_ids(kind, ids, f"{place}.")
        case ArrayType():
            element = _type_with_ids(kind.elementType, ids, f"{place}.list.element")
            return ArrayType(element, kind.containsNull)
        case MapType():
            key = _type_with_ids(kind.keyType, ids, f"{place}.key_value.key")
            value = _type_with_ids(kind.valueType, ids, f"{place}.key_value.value")
            return MapType(key, value, kind.valueContainsNull)
    return kind


def _final_folder(path: str) -> str:
    """Return `/year=2024` for `/__partition_year=2024/part-0.parquet`."""
    parts = dirname(path).split("/")
    return "/".join(part.removeprefix(PARTITION_PREFIX) for part in parts).rstrip("/")


def _move_file(path: str, folder: str) -> str:
    """Move a file into a folder, and return its new path."""
    target = f"{folder}/ducklake-{uuid.uuid4()}.parquet"
    systems.make_folder(folder)
    system, inside = systems.file_system(path)
    with systems.translating(path):
        system.move(inside, systems.file_system(target)[1])
    return target
