"""Fast routes, by our Java classes inside the JVM of Spark.

Whole listings are passed from Python to Java as one JSON text: a call for each file would take
longer than reading it.
"""

from __future__ import annotations

import base64
import datetime
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from posixpath import basename
from typing import Any
from weakref import WeakKeyDictionary

from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from forklake.engines.spark import jar
from forklake.engines.spark.failures import as_text
from forklake.engines.spark.routes import Deletes, IsDeleted, ListedFile, ListFiles, spark_path
from forklake.errors import ForklakeError

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class _Java:
    """Our classes in a JVM, and those of Spark that they work with.

    Py4J resolves a Java name package by package, with a call for each, so the classes are
    cached here.
    """

    def __init__(self, spark: SparkSession) -> None:
        jar.load(spark)
        ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
        jvm: Any = spark._jvm
        self.classes = jvm.forklake
        self.hadoop_relation = jvm.org.apache.spark.sql.execution.datasources.HadoopFsRelation
        self.dataset = jvm.org.apache.spark.sql.classic.Dataset
        self.data_type = jvm.org.apache.spark.sql.types.DataType
        self.to_scala_map = jvm.PythonUtils.toScalaMap
        self.to_seq = jvm.PythonUtils.toSeq
        self.none = jvm.scala.Option.empty()


_known: WeakKeyDictionary[SparkContext, _Java] = WeakKeyDictionary()


def is_loaded(spark: SparkSession) -> bool:
    """Return whether the JVM of a session has our classes."""
    return spark.sparkContext in _known


def _java_of(spark: SparkSession) -> _Java:
    """Return the classes, which are resolved once per Spark."""
    context = spark.sparkContext
    if context not in _known:
        _known[context] = _Java(spark)
    return _known[context]


class NativeRoutes:
    """Routes of a session whose JVM has our classes."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java = _java_of(spark)
        self._java.classes.ForeignTables.refuse(spark._jsparkSession)

    def relation(
        self,
        schema: StructType,
        constants: StructType,
        list_files: ListFiles,
        size: int,
        options: Mapping[str, str],
    ) -> DataFrame:
        """Return a relation that lists its files when Spark plans a query."""
        constant_columns = self._java.data_type.fromJson(constants.json())
        relation = self._java.hadoop_relation(
            self._java.classes.LakeFileIndex(constant_columns, str(size), _Listing(list_files)),
            constant_columns,
            self._java.data_type.fromJson(schema.json()),
            self._java.none,
            self._java.classes.ParquetFormat(),
            self._java.to_scala_map(dict(options)),
            self._spark._jsparkSession,
        )
        frame = self._spark._jsparkSession.baseRelationToDataFrame(relation)
        return DataFrame(frame, self._spark)

    def deleted(self, deletes: Deletes, keys: Mapping[str, bytes]) -> IsDeleted:
        """Return a Java function that looks up positions in bitmaps on the executors."""
        text = json.dumps(
            [
                (
                    one.number,
                    one.delete_path and spark_path(one.delete_path),
                    _base64(keys.get(one.delete_path or "")),
                    list(one.positions),
                    basename(one.path),
                )
                for one in deletes
            ]
        )
        context: Any = self._spark.sparkContext
        configuration = context._jvm.org.apache.spark.util.SerializableConfiguration(
            context._jsc.hadoopConfiguration()
        )
        function = self._java.classes.Deleted.function(text, context._jsc.broadcast(configuration))

        def is_deleted(number: Column, position: Column) -> Column:
            arguments: list[Any] = [number, position]
            return Column(function.apply(self._java.to_seq([one._jc for one in arguments])))

        return is_deleted

    def write(
        self,
        df: DataFrame,
        folder: str,
        field_ids: Mapping[str, int],
        partition_by: Sequence[str],
        options: Mapping[str, str],
        job_key: bytes | None,
    ) -> list[str]:
        """Write the final files in tasks, and return their names."""
        job = uuid.uuid4().hex
        writer = (
            self._for_writing(df)
            .write.format("forklake.ParquetFormat")
            .mode("append")
            .partitionBy(*partition_by)
            .options(**options)
            .option("forklake.field.ids", json.dumps(dict(field_ids)))
            .option("forklake.job", job)
        )
        self._java.classes.WriteJob.open(job, job_key)
        try:
            writer.save(spark_path(folder))
        finally:
            written = str(self._java.classes.WriteJob.close(job))
        return [f"{folder.rstrip('/')}/{path}" for path in written.splitlines()]

    def _for_writing(self, df: DataFrame) -> DataFrame:
        """Return the rows in a cloned session, as the commit protocol is a setting of the session.

        They may come from any session of the user, with settings that must not affect the
        files.
        """
        session: Any = self._spark._jsparkSession.cloneSession()
        session.conf().set("spark.sql.sources.commitProtocolClass", "forklake.DirectCommit")
        rows: Any = df
        plan = rows._jdf.queryExecution().analyzed()
        return DataFrame(self._java.dataset.ofRows(session, plan), self._spark)


class _Listing:
    """Listing of files that Java can call, from any thread."""

    def __init__(self, list_files: ListFiles) -> None:
        self._list_files = list_files

    def apply(self, filters: str) -> str:
        try:
            return _listing_text(self._list_files(json.loads(filters)))
        except ForklakeError as error:
            return json.dumps({"error": as_text(error)})

    class Java:
        implements = ("java.util.function.Function",)


def _listing_text(files: Iterable[ListedFile]) -> str:
    rows = [(spark_path(f.path), f.size, _base64(f.key), *f.constants) for f in files]
    return json.dumps(rows, default=_constant_text, ensure_ascii=False, separators=(",", ":"))


def _constant_text(value: object) -> object:
    """Return constants of types that JSON does not have, in the internal form of Spark."""
    match value:
        case datetime.datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return (moment - _EPOCH) // _MICROSECOND
        case datetime.date():
            return value.toordinal() - _EPOCH.toordinal()
        case Decimal():
            return str(value)
        case bytes():
            return _base64(value)
    raise TypeError(f"a constant of a file cannot be a {type(value).__name__}")


def _base64(key: bytes | None) -> str | None:
    return None if key is None else base64.b64encode(key).decode()
