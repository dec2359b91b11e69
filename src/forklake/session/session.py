"""Session: tables as DataFrames, and changes of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from forklake.errors import ForklakeError, InvalidInput, Unavailable
from forklake.model.closeable import Closing
from forklake.session.attachments import Attachments
from forklake.session.change_feed import find_changes
from forklake.session.definitions import Definitions
from forklake.session.name_resolution import Naming
from forklake.session.read_records import record_read, record_virtual

if TYPE_CHECKING:
    from forklake.engines.local.conform import Rows
    from forklake.engines.merge_clauses import MergeCounts
    from forklake.engines.spark.engine import Engine
    from forklake.engines.spark.public_types import (
        Column,
        DataFrame,
        SparkSession,
        StreamingQuery,
    )
    from forklake.session.changing.merge_into import MergeClause


class Session(Closing, Naming, Definitions):
    """Session with tables as DataFrames: `attach`, `use`, `table`, `write`, `transaction`.

    A session is used by one thread at a time; `cursor()` returns a session for another thread.
    """

    def __init__(
        self, spark: SparkSession | None = None, *, attachments: Attachments | None = None
    ) -> None:
        self._spark = spark
        self._engine: Engine | None = None
        self._is_closed = False
        super().__init__(attachments or Attachments())

    def __repr__(self) -> str:
        if self._is_closed:
            return "<Session, closed>"
        return f"<Session with {', '.join(self._attachments.aliases()) or 'nothing attached'}>"

    # Lifecycle

    @property
    def engine(self) -> Engine:
        """Spark engine of this session; a new one after its JVM has died."""
        self._require_open()
        if self._engine is None or self._engine.has_died:
            self._engine = self._start_engine()
        return self._engine

    def _start_engine(self) -> Engine:
        from forklake.engines.spark.engine import Engine

        return Engine.start(self._spark)

    @contextmanager
    def noticing_death(self) -> Iterator[None]:
        """Raise Unavailable for errors in the block that come from the death of the JVM."""
        try:
            yield
        except ForklakeError:
            raise
        except Exception as reason:
            if self._engine is None or not self._engine.has_died_of(reason):
                raise
            raise Unavailable(
                "The JVM of Spark has died.",
                remedy="Try again: a new JVM is started. Temporary views are lost.",
            ) from reason

    def cursor(self) -> Self:
        """Return a second session with the same attachments and a separate transaction."""
        self._require_open()
        twin = type(self)(self._spark, attachments=self._attachments)
        twin._current = self._current
        return twin

    def close(self) -> None:
        """Roll back the open transaction and detach all. Our Spark stops with its last session."""
        if self._is_closed:
            return
        try:
            if self._work is not None:
                self.rollback()
        finally:
            self._is_closed = True
            self._attachments.leave()
            if self._engine is not None:
                self._engine.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise InvalidInput(
                "The session is closed.", remedy="Open a new one with forklake.connect()."
            )

    # Reading

    def table(
        self,
        name: str | Sequence[str],
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        where: str | None = None,
        virtual: Sequence[str] = (),
    ) -> DataFrame:
        """Return the rows of a table, in the current or an older snapshot.

        The DataFrame returns the same rows whenever it is used: those of the snapshot at
        this call.

        Args:
            where: a condition in Spark SQL; files that cannot contain such rows are not read.
            virtual: columns to add: rowid, snapshot_id, filename, file_row_number, file_index.
        """
        found = self.resolve(name, version=version, timestamp=timestamp)
        view = self.viewing(found.attachment, version=version, timestamp=timestamp)
        table = self.find_table(view, found)
        record_read(view, table, [] if where is None else [where])
        record_virtual(view, table, virtual)
        return self.engine.tables.scan(view, table, where=where, virtual=virtual)

    def write(
        self,
        df: DataFrame,
        name: str | Sequence[str],
        *,
        mode: str = "append",
        by_name: bool = False,
        partition_by: Sequence[str | tuple[str, str]] = (),
        replace_schema: bool = False,
        where: str | None = None,
    ) -> int:
        """Write a DataFrame to a table, and return the number of rows.

        Args:
            mode: `append`, `overwrite`, `error` or `ignore`: what to do if the table exists.
            by_name: match columns by name; missing ones get their defaults.
            partition_by: for a new table: columns, or `year(column)` and so on.
            replace_schema: `overwrite` creates a new table with the columns of the DataFrame.
            where: `overwrite` replaces only the rows for which this condition in Spark SQL is
                true; it must be true for all rows of the DataFrame.
        """
        from forklake.session.write import write

        with self._progress("Writing", name):
            return write(
                self,
                df,
                name,
                mode=mode,
                by_name=by_name,
                partition_by=partition_by,
                replace_schema=replace_schema,
                where=where,
            )

    def read_stream(self, name: str | Sequence[str], **options: object) -> DataFrame:
        """Return a streaming DataFrame: the rows of a table, then those inserted later.

        Args:
            options: `startingVersion` (a snapshot to begin with, or `latest`), `readChangeFeed`
                to include deletes and updates, else `ignoreDeletes` or `ignoreChanges` to skip
                them, `maxSnapshotsPerTrigger`.
        """
        from forklake.session.streams import read_stream

        return read_stream(self, name, options)

    def stream_writer(
        self, name: str | Sequence[str], *, by_name: bool = False
    ) -> Callable[[DataFrame, int], None]:
        """Return a function for `foreachBatch` that appends each batch of a stream once."""
        from forklake.session.streams import append_batches

        return append_batches(self, name, by_name=by_name)

    def write_stream(
        self,
        df: DataFrame,
        name: str | Sequence[str],
        *,
        checkpoint: str,
        by_name: bool = False,
        trigger: Mapping[str, Any] | None = None,
        query_name: str | None = None,
    ) -> StreamingQuery:
        """Start to append the rows of a stream to a table, each of them exactly once.

        Args:
            checkpoint: the folder in which Spark stores the progress of the query.
            trigger: when batches run, as arguments of the Spark method: `{"availableNow": True}`.
        """
        from forklake.session.streams import write_stream

        return write_stream(
            self,
            df,
            name,
            checkpoint=checkpoint,
            by_name=by_name,
            trigger=trigger,
            query_name=query_name,
        )

    def insert(self, name: str | Sequence[str], rows: Rows) -> int:
        """Insert a few rows, and return their number. Neither Spark nor Java is needed.

        Args:
            rows: mappings by column name, where missing columns get their defaults; or sequences
                of values in the order of the columns; or an Arrow table.
        """
        from forklake.session.insert import insert_rows

        return insert_rows(self, name, rows)

    def delete(
        self,
        name: str | Sequence[str],
        where: str | Column | None = None,
        *,
        using: DataFrame | None = None,
        target_alias: str = "target",
        source_alias: str | None = "source",
    ) -> int:
        """Delete the rows for which a condition is true, and return their number.

        Args:
            where: a condition in Spark SQL; without one, all rows are deleted.
            using: rows to join with, referred to by `source_alias`, or by their own aliases if it
                is None; a row is deleted if the condition is true with one of them.
        """
        from forklake.session.changing.delete import delete

        with self._progress("Deleting from", name):
            return delete(
                self,
                name,
                where,
                using=using,
                target_alias=target_alias,
                source_alias=source_alias,
            )

    def truncate(self, name: str | Sequence[str]) -> int:
        """Delete all rows of a table without reading them, and return their number."""
        from forklake.session.changing.delete import truncate

        return truncate(self, name)

    def update(
        self,
        name: str | Sequence[str],
        set: Mapping[str, str | Column],
        where: str | Column | None = None,
        *,
        source: DataFrame | None = None,
        on: str | Column | None = None,
        target_alias: str = "target",
        source_alias: str | None = "source",
    ) -> int:
        """Set columns of the rows for which a condition is true, and return their number.

        Args:
            set: expressions in Spark SQL over the old values, by column or field (`s.x`).
            source: rows to join with, `on` a condition; no row of the table may match two.
        """
        from forklake.session.changing.update import update

        with self._progress("Updating", name):
            return update(
                self,
                name,
                set,
                where,
                source=source,
                on=on,
                target_alias=target_alias,
                source_alias=source_alias,
            )

    def merge(
        self,
        target: str | Sequence[str],
        source: DataFrame,
        on: str | Column,
        when: Sequence[MergeClause],
        *,
        target_alias: str = "target",
        source_alias: str = "source",
    ) -> MergeCounts:
        """Run MERGE INTO: update, delete and insert rows of a table by those of a source.

        Args:
            on: which rows match, as in `target.id = source.id`.
            when: clauses, made by `when_matched` and the like; the first that applies is used.
        """
        from forklake.session.changing.merge_into import merge

        with self._progress("Merging into", target):
            return merge(
                self,
                target,
                source,
                on,
                when,
                target_alias=target_alias,
                source_alias=source_alias,
            )

    def table_insertions(
        self, name: str | Sequence[str], start: int | datetime | str, end: int | datetime | str
    ) -> DataFrame:
        """Return the rows inserted from one snapshot or timestamp to another, both included.

        Columns are snapshot_id, rowid and those that the table has at the end.
        """
        changes = find_changes(self, name, start, end)
        return self.engine.tables.inserted_rows(changes)

    def table_deletions(
        self, name: str | Sequence[str], start: int | datetime | str, end: int | datetime | str
    ) -> DataFrame:
        """Return the deleted rows with their last values: see `table_insertions`."""
        changes = find_changes(self, name, start, end)
        return self.engine.tables.deleted_rows(changes)

    def table_changes(
        self, name: str | Sequence[str], start: int | datetime | str, end: int | datetime | str
    ) -> DataFrame:
        """Return insertions and deletions, with a column change_type.

        It is insert, delete, update_preimage or update_postimage.
        """
        changes = find_changes(self, name, start, end)
        return self.engine.tables.changed_rows(changes)

    def _progress(self, doing: str, name: str | Sequence[str]) -> AbstractContextManager[None]:
        from forklake.engines.spark.progress import progress

        return progress(f"{doing} {name if isinstance(name, str) else '.'.join(name)}")
