"""A session: attached catalogs, a current one, tables as DataFrames, and transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.catalog.reading import Snapshotted
from forklake.catalog.transaction import Transaction
from forklake.errors import ForklakeError, InvalidInput, NotFound, Unavailable
from forklake.model.closing import Closing
from forklake.model.entities import Table
from forklake.model.snapshots import Snapshot
from forklake.model.state import CatalogState
from forklake.spark.attachments import Attachment, Attachments, AttachOptions, moment
from forklake.spark.definitions import Definitions
from forklake.spark.names import perhaps, split_name
from forklake.spark.transactions import Transactions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from forklake.spark.changing.merging import MergeClause, MergeCounts
    from forklake.spark.engine.engine import Engine
    from forklake.spark.writing.conform import Rows

MAIN = "main"
View = Snapshotted | Transaction


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's place: the attached catalog, the schema and its own name."""

    attachment: Attachment
    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.attachment.alias}.{self.schema}.{self.table}"


class Session(Closing, Transactions, Definitions):
    """Tables as DataFrames: `attach`, `use`, `table`, `write`, `transaction`.

    A session is used by one thread at a time; `cursor()` gives each thread its own.
    """

    def __init__(
        self, spark: SparkSession | None = None, *, attachments: Attachments | None = None
    ) -> None:
        self._spark = spark
        self._engine: Engine | None = None
        self._attachments = attachments or Attachments()
        self._attachments.join()
        self._current: tuple[str, str] | None = None
        self._is_closed = False
        super().__init__()

    def __repr__(self) -> str:
        if self._is_closed:
            return "<Session, closed>"
        return f"<Session with {', '.join(self._attachments.aliases()) or 'nothing attached'}>"

    # Its life

    @property
    def engine(self) -> Engine:
        """Spark, as this session uses it; after its Java machine has died, another one."""
        self._require_open()
        if self._engine is None or self._engine.has_died:
            self._engine = self._start_engine()
        return self._engine

    def _start_engine(self) -> Engine:
        from forklake.spark.engine.engine import Engine

        return Engine.start(self._spark)

    @contextmanager
    def noticing_death(self) -> Iterator[None]:
        """Whatever fails because Spark's Java machine has died is Unavailable."""
        try:
            yield
        except ForklakeError:
            raise
        except Exception as reason:
            if self._engine is None or not self._engine.has_died_of(reason):
                raise
            raise Unavailable(
                "Spark's Java machine has died.",
                remedy="Try again: another one is started. Temporary views are gone.",
            ) from reason

    def cursor(self) -> Self:
        """A second session with the same attachments and a transaction of its own."""
        self._require_open()
        twin = type(self)(self._spark, attachments=self._attachments)
        twin._current = self._current
        return twin

    def close(self) -> None:
        """Roll back what is open and detach everything. Our Spark stops with its last session."""
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
            raise InvalidInput("The session is closed.", remedy="Connect again.")

    # Catalogs

    def attach(
        self,
        uri: str,
        alias: str | None = None,
        *,
        catalog: str | None = None,
        data_path: str | None = None,
        metadata_schema: str | None = None,
        metadata_catalog: str | None = None,
        snapshot_version: int | None = None,
        snapshot_time: datetime | str | None = None,
        encrypted: bool | str | None = None,
        data_inlining_row_limit: int | None = None,
        create_if_not_exists: bool = False,
        migrate_if_required: bool = True,
        override_data_path: bool = False,
        read_only: bool = False,
    ) -> None:
        """Make a catalog known under an alias, else under its own name.

        Args:
            uri: where the metastore is: `ducklake:<path>` or `ducklake:postgres:<dsn>`.
            data_path: where its files are; must be what the catalog says itself.
            metadata_schema: the schema of the database that holds the metastore.
            metadata_catalog: the name under which SQL reads the tables of the metastore itself.
            snapshot_version, snapshot_time: attach it as it was then, read-only.
            encrypted: whether files are encrypted; fixed when the catalog is created.
            data_inlining_row_limit: the option of that name, where it is not set.
            create_if_not_exists: make the metastore and the catalog if need be.
            migrate_if_required: accepted; metastores of older versions are refused.
            override_data_path: use the data path given although the catalog says another.
        """
        self._require_open()
        options = AttachOptions(
            catalog=catalog,
            data_path=data_path,
            metadata_schema=metadata_schema,
            metadata_catalog=metadata_catalog,
            snapshot_version=snapshot_version,
            snapshot_time=snapshot_time,
            encrypted=encrypted,
            data_inlining_row_limit=data_inlining_row_limit,
            create_if_not_exists=create_if_not_exists,
            migrate_if_required=migrate_if_required,
            override_data_path=override_data_path,
            read_only=read_only,
        )
        self._attachments.attach(uri, alias, options)

    def detach(self, alias: str) -> None:
        """Forget a catalog; neither the current one nor one of the open transaction."""
        attachment = self.attachment(alias)
        if self._work is not None and self._work.uses(attachment):
            raise InvalidInput(
                f"The catalog '{attachment.alias}' is part of the open transaction.",
                remedy="Commit or roll back first.",
            )
        if self._current is not None and self._current[0] == attachment.alias:
            raise InvalidInput(
                f"The catalog '{attachment.alias}' is in use.", remedy="Use another one first."
            )
        self._attachments.detach(alias)

    def attachments(self) -> list[Attachment]:
        """All attached catalogs."""
        self._require_open()
        return self._attachments.all()

    def attachment(self, alias: str) -> Attachment:
        """The catalog attached under an alias."""
        self._require_open()
        return self._attachments.get(alias)

    def use(self, name: str) -> None:
        """Make a catalog, or a schema of one, the place of names that do not say theirs."""
        self._require_open()
        parts = split_name(name)
        attachment = self._attachments.find(parts[0])
        schema: str | None = MAIN
        if len(parts) == 1 and attachment is None:  # a schema of the current catalog
            attachment, schema = self._current_attachment(name), parts[0]
        elif len(parts) == 2:
            attachment, schema = self.attachment(parts[0]), parts[1]
        if attachment is None or len(parts) > 2:
            raise InvalidInput(f"The name {name!r} is no schema.", remedy="Use catalog.schema.")
        state = self.viewing(attachment).state
        self._current = (attachment.alias, _schema_of(state, schema, attachment))

    @property
    def current(self) -> tuple[str, str] | None:
        """The alias of the catalog in use, and the schema."""
        return self._current

    def _current_attachment(self, looking_for: str) -> Attachment:
        self._require_open()
        if self._current is None:
            raise NotFound(
                f"No catalog is in use in which '{looking_for}' could be.",
                remedy="Name it in full, or use a catalog first. "
                + perhaps(looking_for, self._attachments.aliases(), what="attached catalogs"),
            )
        return self._attachments.get(self._current[0])

    # Names

    def resolve(
        self,
        name: str | Sequence[str],
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
    ) -> TableName:
        """The place that a name means, whether or not a table is there."""
        self._require_open()

        def state_of(attachment: Attachment) -> CatalogState:
            return self.viewing(attachment, version=version, timestamp=timestamp).state

        return self.resolve_in(name, state_of)

    def resolve_in(
        self, name: str | Sequence[str], state_of: Callable[[Attachment], CatalogState]
    ) -> TableName:
        """The same among the schemas that the caller sees in each catalog."""
        parts = split_name(name)
        match parts:
            case (table,):
                attachment = self._current_attachment(table)
                assert self._current is not None
                return TableName(attachment, self._current[1], table)
            case (first, table):
                return TableName(*self._schema_or_catalog(first, state_of), table)
            case (alias, schema, table):
                attachment = self.attachment(alias)
                return TableName(
                    attachment, _schema_of(state_of(attachment), schema, attachment), table
                )
        raise InvalidInput(
            f"The name {'.'.join(parts)!r} has {len(parts)} parts.",
            remedy="Write table, schema.table or catalog.schema.table.",
        )

    def _schema_or_catalog(
        self, name: str, state_of: Callable[[Attachment], CatalogState]
    ) -> tuple[Attachment, str]:
        """What the first of two parts means: a schema of the current catalog, or a catalog."""
        catalog = self._attachments.find(name)
        current = self._attachments.find(self._current[0]) if self._current else None
        schema = state_of(current).find_schema(name) if current is not None else None
        if catalog is not None and schema is not None:
            assert current is not None
            raise InvalidInput(
                f'Ambiguous reference to catalog or schema "{name}".',
                remedy=f'Use a fully qualified path like "{current.alias}.{schema.schema_name}".',
            )
        if catalog is not None:
            return catalog, MAIN
        if schema is not None and current is not None:
            return current, schema.schema_name
        known = [one.schema_name for one in state_of(current).schemas()] if current else []
        raise NotFound(
            f"There is neither a schema nor an attached catalog '{name}'.",
            remedy=perhaps(
                name, known + self._attachments.aliases(), what="schemas and attached catalogs"
            ),
        )

    def find_table(self, view: View, name: TableName) -> Table:
        """The table at a place, or NotFound with the names that are near."""
        try:
            return view.state.table(name.table, name.schema)
        except NotFound as reason:
            if view.state.find_schema(name.schema) is None:
                raise
            there = [table.table_name for table in view.state.tables(name.schema)]
            raise NotFound(
                f"Table '{name}' does not exist"
                + (": it is a view." if "view" in reason.message else ""),
                remedy=perhaps(name.table, there, what=f"tables of '{name.schema}'"),
                table=name.table,
            ) from None

    # Reading

    def viewing(
        self,
        attachment: Attachment,
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
    ) -> View:
        """A catalog as this session sees it now, in its transaction, or as it was."""
        self._require_open()
        if version is not None or timestamp is not None:
            when = None if timestamp is None else moment(timestamp)
            return attachment.catalog.at(version=version, timestamp=when)
        if attachment.pinned is not None:
            return attachment.pinned
        if self._work is not None:
            return self._work.on(attachment).transaction
        return attachment.catalog.now()

    def table(
        self,
        name: str | Sequence[str],
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        where: str | None = None,
        virtual: Sequence[str] = (),
    ) -> DataFrame:
        """The rows of a table, as they are or as they were.

        The DataFrame shows the same rows whenever it is used: those of now.

        Args:
            where: a condition in Spark SQL; files that cannot hold such rows are not read.
            virtual: columns to add: rowid, snapshot_id, filename, file_row_number, file_index.
        """
        from forklake.spark.reading.scan import scan

        found = self.resolve(name, version=version, timestamp=timestamp)
        view = self.viewing(found.attachment, version=version, timestamp=timestamp)
        table = self.find_table(view, found)
        return scan(self.engine, view, table, where=where, virtual=virtual)

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
        """Write a DataFrame to a table; how many rows there were.

        Args:
            mode: `append`, `overwrite`, `error` or `ignore`: what if the table is there.
            by_name: columns are found by name, and those that are missing get their defaults.
            partition_by: for a table that is made: columns, or `year(column)` and so on.
            replace_schema: `overwrite` makes the table anew, with the columns of the DataFrame.
            where: `overwrite` replaces only the rows for which this condition in Spark SQL is
                true; it must be true for all rows of the DataFrame.
        """
        from forklake.spark.writing.write import write

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
        """A streaming DataFrame: the rows of a table, then those that are inserted.

        Args:
            options: `startingVersion` (a snapshot to begin with, or `latest`), `readChangeFeed`
                for deletes and updates too, else `ignoreDeletes` or `ignoreChanges` if there are
                some, `maxSnapshotsPerTrigger`.
        """
        from forklake.spark.source.streaming import read_stream

        return read_stream(self, name, options)

    def stream_writer(
        self, name: str | Sequence[str], *, by_name: bool = False
    ) -> Callable[[DataFrame, int], None]:
        """A function for `foreachBatch` that appends each batch of a stream to a table once."""
        from forklake.spark.source.streaming import append_batches

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
            checkpoint: the folder in which Spark keeps how far the query is.
            trigger: when batches run, in the words of Spark: `{"availableNow": True}`.
        """
        from forklake.spark.source.streaming import write_stream

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
        """Add a few rows; how many there were. Neither Spark nor Java is needed for it.

        Args:
            rows: mappings by column name, where missing columns get their defaults; or sequences
                of values in the order of the columns; or an Arrow table.
        """
        from forklake.spark.writing.inline import insert_rows

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
        """Delete the rows for which a condition is true; how many there were.

        Args:
            where: a condition in Spark SQL; without one, all rows are deleted.
            using: rows of which one must make it true, named by `source_alias`; with None, by
                the aliases that they have.
        """
        from forklake.spark.changing.deleting import delete

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
        """Delete all rows of a table without looking at them; how many there were."""
        from forklake.spark.changing.deleting import truncate

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
        """Set columns of the rows for which a condition is true; how many there were.

        Args:
            set: expressions in Spark SQL over the old values, by column or field (`s.x`).
            source: rows to join with, `on` a condition; no row of the table may match two.
        """
        from forklake.spark.changing.updating import update

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
        """Update, delete and insert rows of a table by those of a source.

        Args:
            on: which rows match, as in `target.id = source.id`.
            when: clauses, made by `when_matched` and the like; the first that applies counts.
        """
        from forklake.spark.changing.merging import merge

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
        """The rows that came to a table from one snapshot or moment to another, both included.

        Columns are snapshot_id, rowid and those that the table has at the end.
        """
        from forklake.spark.reading.changes import table_insertions

        return table_insertions(self, name, start, end)

    def table_deletions(
        self, name: str | Sequence[str], start: int | datetime | str, end: int | datetime | str
    ) -> DataFrame:
        """The rows that went from a table, as they were: see `table_insertions`."""
        from forklake.spark.reading.changes import table_deletions

        return table_deletions(self, name, start, end)

    def table_changes(
        self, name: str | Sequence[str], start: int | datetime | str, end: int | datetime | str
    ) -> DataFrame:
        """Both, with a column change_type: insert, delete, update_preimage, update_postimage."""
        from forklake.spark.reading.changes import table_changes

        return table_changes(self, name, start, end)

    def _progress(self, doing: str, name: str | Sequence[str]) -> AbstractContextManager[None]:
        from forklake.spark.engine.progress import progress

        return progress(f"{doing} {name if isinstance(name, str) else '.'.join(name)}")

    def snapshots(self, alias: str) -> list[Snapshot]:
        """The history of a catalog, oldest first."""
        return self.attachment(alias).catalog.snapshots()

    def fork(
        self,
        parent: str,
        new_name: str,
        *,
        at: int | None = None,
        data_path: str | None = None,
        if_not_exists: bool = False,
        attach_as: str | None = None,
    ) -> Catalog:
        """A fork of a catalog, named by its alias or, in the same metastore, by its own name."""
        metastore, name = self.find_catalog(parent)
        fork = metastore.fork(
            name,
            new_name,
            at=at,
            data_path=data_path,
            if_not_exists=if_not_exists,
        )
        if attach_as is not None:
            self._attachments.attach_beside(metastore, fork, attach_as)
        return fork

    def find_catalog(self, name: str) -> tuple[Metastore, str]:
        """The metastore and the own name of a catalog: of the alias, or in the one metastore."""
        self._require_open()
        attached = self._attachments.find(name)
        metastores = {id(one.metastore): one.metastore for one in self._attachments.all()}
        if attached is None and len(metastores) == 1:
            return next(iter(metastores.values())), name
        attached = self._attachments.get(name)  # or says what is attached
        return attached.metastore, attached.catalog.name


def _schema_of(state: CatalogState, name: str | None, attachment: Attachment) -> str:
    """A schema's name as it is written, or NotFound with the names that are near."""
    assert name is not None
    schema = state.find_schema(name)
    if schema is None:
        known = [one.schema_name for one in state.schemas()]
        raise NotFound(
            f"Schema '{attachment.alias}.{name}' does not exist",
            remedy=perhaps(name, known, what=f"schemas of '{attachment.alias}'"),
            schema=name,
        )
    return schema.schema_name
