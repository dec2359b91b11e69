"""Tables for any Spark session: `spark.read.format("forklake")` and `df.write.format("forklake")`.

A Python data source works wherever PySpark does, also over Spark Connect. A process beside the
driver plans reads; tasks read and write files with Arrow, without access to the metastore. Sessions
of Forklake are faster where they can be used.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    Filter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from forklake.engines.local.feed import CHANGE_TYPE, COLUMNS, Part, read_rows
from forklake.engines.spark import conf
from forklake.engines.spark.streams import QUERY_ID
from forklake.engines.spark.types import logical_schema, spark_type
from forklake.errors import Conflict, InvalidInput
from forklake.files.keys import Key
from forklake.files.systems import remove
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.model.predicates import Predicate
from forklake.session import places
from forklake.session.places import SOURCE, Place, When, switch
from forklake.session.streams import batch_key, record_batch

_FEED_COLUMNS = [
    StructField(CHANGE_TYPE, StringType(), False),
    StructField("snapshot_id", LongType(), False),
    StructField("rowid", LongType(), False),
]
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession) -> None:
    """Register `format("forklake")` in a session of Spark, unless that is done.

    Spark finds the data source itself if this package is installed with it; then a session
    needs only the setting that passes filters to Python data sources.
    """
    spark.conf.set(_PUSHDOWN, conf.SESSION[_PUSHDOWN])
    try:
        spark.dataSource.register(ForklakeSource)
    except AnalysisException as reason:
        if reason.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise


class ForklakeSource(DataSource):
    """Table, given by the options `uri`, `catalog` and `table`.

    Options `version` or `timestamp` read an older snapshot; `versionAsOf`, `timestampAsOf`,
    `snapshot_version` and `snapshot_time` are other names of these. With `pushdown`, files that
    the filters of Spark exclude are not read: see PruningReader.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._place = Place.of(options)
        self._when = When.of(options)

    @classmethod
    def name(cls) -> str:
        return SOURCE

    @property
    def _is_feed(self) -> bool:
        return switch("readChangeFeed", self._option("readChangeFeed"))

    def _option(self, name: str) -> str | None:
        found = [value for key, value in self.options.items() if key.lower() == name.lower()]
        return found[0] if found else None

    def schema(self) -> StructType:
        """Return the columns of the table; later reads use the same snapshot."""
        with self._place.opened(self._when) as (session, name):
            seen = self._when.seen(name.attachment.catalog)
            fields = seen.state.fields(session.find_table(seen, name))
            self._when = When(version=seen.snapshot_id)
        return feed_schema(fields) if self._is_feed else logical_schema(fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        places.refuse_unknown(self.options, places.READING, "read a table")
        if self._is_feed:
            raise InvalidInput(
                "A change feed can be read only as a stream.",
                remedy="Use readStream, or session.table_changes.",
            )
        kind = PruningReader if switch("pushdown", self._option("pushdown")) else TableReader
        return kind(self._place, self._when, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        places.refuse_unknown(self.options, places.WRITING, "write a table")
        return TableWriter(self._place, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        from pyspark_forklake.streaming import StreamReader

        places.refuse_unknown(self.options, places.STREAMING, "read a stream")
        return StreamReader(self._place, self._when, schema, dict(self.options))

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamArrowWriter:
        places.refuse_unknown(self.options, places.STREAM_WRITING, "write a stream")
        return StreamWriter(self._place, overwrite)


# Reading


@dataclass
class ReadPart(InputPartition):
    """Input of one task."""

    part: Part


class TableReader(DataSourceReader):
    """Reader of a table at one snapshot."""

    def __init__(self, place: Place, when: When, schema: StructType) -> None:
        self._place = place
        self._when = when
        self._schema = schema
        self._filters: list[Filter] = []

    def partitions(self) -> Sequence[InputPartition]:
        from forklake.engines.local.arrow_plan import Planner

        with self._place.opened(self._when) as (session, name):
            seen = self._when.seen(name.attachment.catalog)
            table = session.find_table(seen, name)
            fields = seen.state.fields(table)
            wanted = self._build_predicate(fields) if self._filters else None
            planner = Planner(seen, table, shown_fields(fields, self._schema, name.table))
            parts = planner.whole_table(wanted)
        return [ReadPart(part) for part in parts]

    def _build_predicate(self, fields: Sequence[Field]) -> Predicate | None:
        from forklake.engines.pushdown import predicate_of
        from pyspark_forklake.filters import conditions

        return predicate_of(conditions(self._filters), fields)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, ReadPart):  # otherwise there is nothing to read
            yield from exactly(read_rows(partition.part), self._schema)


class PruningReader(TableReader):
    """Reader that leaves out files without rows that pass the filters of Spark.

    Spark plans a table once for each DataFrame that `load` returned, with the filters of its
    last query: another query over the same DataFrame would miss rows. So this is only for
    DataFrames that are used in one query, once.
    """

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:  # noqa: N802
        """Record the filters for pruning; Spark filters the rows too."""
        self._filters = filters
        return filters


def exactly(batches: Iterator[pa.RecordBatch], schema: StructType) -> Iterator[pa.RecordBatch]:
    """Yield batches in the schema that Spark requires, including nullability."""
    wanted = to_arrow_schema(schema, timezone="UTC")
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, schema=wanted)


def shown_fields(fields: Sequence[Field], schema: StructType, table: str) -> tuple[Field, ...]:
    """Return the fields that a schema selects, which must match the table in name and type."""
    known = {folded(field.name): field for field in fields}
    found = []
    for wanted in schema.fields:
        field = known.get(folded(wanted.name))
        if field is None or spark_type(field) != wanted.dataType:
            kind = wanted.dataType.simpleString()
            raise InvalidInput(
                f"Table '{table}' has no column '{wanted.name}' of type {kind}.",
                remedy="Its columns are: " + logical_schema(fields).simpleString(),
            )
        found.append(field)
    return tuple(found)


def feed_schema(fields: Sequence[Field]) -> StructType:
    """Return the columns of a change feed."""
    taken = {folded(field.name) for field in fields} & set(COLUMNS)
    if taken:
        raise InvalidInput(
            f"The table has a column '{taken.pop()}', which is also the name of a column of its"
            " change feed.",
            remedy="Rename the column of the table.",
        )
    return StructType([*logical_schema(fields).fields, *_FEED_COLUMNS])


# Writing


@dataclass
class Written(WriterCommitMessage):
    """Files that one task wrote, with the key of the job and the streaming query, if any."""

    paths: list[str]
    job_key: Key | None
    query_id: str | None


class _BaseWriter:
    """Writer of files in tasks, which are added to the table at the end."""

    def __init__(self, place: Place, overwrite: bool) -> None:
        from forklake.engines.local.arrow_writer import WritePlan
        from forklake.engines.targets import Target

        self._place = place
        self._overwrite = overwrite
        with place.opened() as (session, name):
            view = session.viewing(name.attachment)
            table = session.find_table(view, name)
            name.attachment.require_writable()
            self._table_id = table.table_id
            target = Target(name.attachment, view.state, table)
            target.refuse_unchecked("by the data source")
            self._plan = WritePlan.of(target)

    def _write(self, batches: Iterator[pa.RecordBatch]) -> Written:
        from forklake.engines.local.arrow_writer import FilesWriter

        context = TaskContext.get()
        query_id = context.getLocalProperty(QUERY_ID) if context is not None else None
        with FilesWriter(self._plan) as writer:
            for batch in batches:
                writer.add(batch)
        return Written(writer.paths, self._plan.job_key, query_id)

    def _commit(self, messages: Sequence[Any], batch: tuple[str, int] | None = None) -> None:
        """Add the files of all tasks to the table; with `overwrite`, in place of its rows.

        The files of a batch of a streaming query are added only once.
        """
        from forklake.engines.local.arrow_writer import add_files

        written = [message for message in messages if isinstance(message, Written)]
        paths = [path for message in written for path in message.paths]
        with self._place.opened() as (session, name):
            key = None if batch is None else batch_key(*batch, name)
            with session.changing(name.attachment, idempotency_key=key) as change:
                change.wrote(paths)
                table = session.find_table(change.transaction, name)
                self._require_same(table, change.transaction.state.fields(table))
                if self._overwrite:
                    change.transaction.truncate(table)
                if paths:
                    add_files(change, table, paths, written[0].job_key)
                if paths and batch is not None:
                    record_batch(change, table, *batch)
            change.remove_unused(table)

    def _require_same(self, table: Table, fields: Sequence[Field]) -> None:
        if table.table_id != self._table_id or tuple(fields) != self._plan.fields:
            raise Conflict(
                f"A concurrent commit changed the columns of table '{table.table_name}'.",
                remedy="Write the rows again.",
            )

    def _abort(self, messages: Sequence[Any]) -> None:
        """Remove the files of a failed job, unless all of its tasks succeeded.

        In that case the commit failed. It has removed the files, or its outcome is unknown.
        """
        if any(message is None for message in messages):
            remove(path for one in messages if isinstance(one, Written) for path in one.paths)


class TableWriter(_BaseWriter, DataSourceArrowWriter):
    """Writer of a DataFrame."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        return self._write(iterator)

    def commit(self, messages: Sequence[Any]) -> None:
        self._commit(messages)

    def abort(self, messages: Sequence[Any]) -> None:
        self._abort(messages)


class StreamWriter(_BaseWriter, DataSourceStreamArrowWriter):
    """Writer of the batches of a stream, each of them once."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        return self._write(iterator)

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        queries = {one.query_id for one in messages if isinstance(one, Written)}
        if queries:
            (query_id,) = queries
            self._commit(messages, (str(query_id), batchId))

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        self._abort(messages)
