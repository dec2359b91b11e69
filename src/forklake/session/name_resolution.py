"""Name resolution: attached catalogs, the current one, and the objects that names refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Unpack

from forklake.catalog.catalog import Catalog
from forklake.catalog.catalog_view import CatalogView
from forklake.catalog.metastore import Metastore
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import InvalidInput, NotFound
from forklake.model.entities import Table
from forklake.model.names import folded
from forklake.model.requests import ForkOptions
from forklake.model.snapshots import Snapshot
from forklake.model.state import CatalogState
from forklake.session.attachments import Attachment, Attachments, AttachOptions, moment
from forklake.session.names import perhaps, split_name
from forklake.session.transactions import Transactions

MAIN = "main"


@dataclass(frozen=True, slots=True)
class TableName:
    """Resolved table name: the attached catalog, the schema and the table; it need not exist."""

    attachment: Attachment
    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.attachment.alias}.{self.schema}.{self.table}"


class Naming(Transactions):
    """Part of a session that attaches catalogs and resolves names in them."""

    def __init__(self, attachments: Attachments) -> None:
        super().__init__()
        self._attachments = attachments
        self._attachments.join()
        self._current: tuple[str, str] | None = None
        self._is_stored = False

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
        """Attach a catalog under an alias, or under its name.

        Args:
            uri: location of the metastore: `ducklake:<path>` or `ducklake:postgres:<dsn>`.
            data_path: folder of its files; must be the data path of the catalog.
            metadata_schema: the schema of the database that contains the metastore.
            metadata_catalog: the name under which SQL reads the tables of the metastore itself.
            snapshot_version: attach this snapshot, read-only.
            snapshot_time: attach the snapshot of this time, read-only.
            encrypted: whether files are encrypted; fixed when the catalog is created.
            data_inlining_row_limit: the option of that name, where it is not set.
            create_if_not_exists: create the metastore and the catalog if they do not exist.
            migrate_if_required: accepted; metastores of older versions are refused.
            override_data_path: use the given data path although the catalog has another one.
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
        """Detach a catalog; the current one, or one in the open transaction, is refused."""
        attachment = self.attachment(alias)
        if self._work is not None and self._work.uses(attachment):
            raise InvalidInput(
                f"The catalog '{attachment.alias}' is part of the open transaction.",
                remedy="Commit or roll back the transaction first.",
            )
        if self._current is not None and self._current[0] == attachment.alias:
            raise InvalidInput(
                f"The catalog '{attachment.alias}' is the current catalog.",
                remedy="Make another catalog the current one first (USE).",
            )
        self._attachments.detach(alias)

    def attachments(self) -> list[Attachment]:
        """Return all attached catalogs."""
        self._require_open()
        return self._attachments.all()

    def attachment(self, alias: str) -> Attachment:
        """Return the catalog attached under an alias."""
        self._require_open()
        return self._attachments.get(alias)

    def use(self, name: str) -> None:
        """Make a catalog, or a schema of one, the default for names without catalog or schema."""
        self._require_open()
        parts = split_name(name)
        attachment = self._attachments.find(parts[0])
        schema: str | None = MAIN
        if len(parts) == 1 and attachment is None:  # a schema of the current catalog
            attachment, schema = self._current_attachment(name), parts[0]
        elif len(parts) == 2:
            attachment, schema = self.attachment(parts[0]), parts[1]
        if attachment is None or len(parts) > 2:
            raise InvalidInput(
                f"{name!r} is not a schema name.", remedy="Use schema or catalog.schema."
            )
        state = self.viewing(attachment).state
        with self._recording_missing_names():
            self._current = (attachment.alias, _schema_of(state, schema, attachment))

    @property
    def current(self) -> tuple[str, str] | None:
        """Alias of the current catalog, and the current schema."""
        return self._current

    @contextmanager
    def in_home(self, attachment: Attachment, schema: str) -> Iterator[None]:
        """Resolve names as the body of a stored view or macro does: in its own catalog.

        Names without a schema refer to its own schema, or else to `main`.
        """
        before = self._current, self._is_stored
        self._current, self._is_stored = (attachment.alias, schema), True
        try:
            yield
        finally:
            self._current, self._is_stored = before

    def _current_attachment(self, looking_for: str) -> Attachment:
        self._require_open()
        if self._current is None:
            raise NotFound(
                f"No catalog is current, so '{looking_for}' cannot be resolved.",
                remedy="Use a full name (catalog.schema.table), or choose a catalog with USE. "
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
        """Return the table name that a name refers to; the table need not exist."""
        self._require_open()

        def state_of(attachment: Attachment) -> CatalogState:
            return self.viewing(attachment, version=version, timestamp=timestamp).state

        return self.resolve_in(name, state_of)

    def resolve_in(
        self, name: str | Sequence[str], state_of: Callable[[Attachment], CatalogState]
    ) -> TableName:
        """Resolve a name among the schemas that `state_of` returns for each catalog."""
        with self._recording_missing_names():
            return self._resolve_parts(name, state_of)

    def _resolve_parts(
        self, name: str | Sequence[str], state_of: Callable[[Attachment], CatalogState]
    ) -> TableName:
        parts = split_name(name)
        match parts:
            case (table,):
                attachment = self._current_attachment(table)
                return TableName(attachment, self._schema_for(table, attachment, state_of), table)
            case (first, table):
                return TableName(*self._schema_or_catalog(first, state_of), table)
            case (alias, schema, table):
                attachment = self.attachment(alias)
                return TableName(
                    attachment, _schema_of(state_of(attachment), schema, attachment), table
                )
        raise InvalidInput(
            f"The name {'.'.join(parts)!r} has {len(parts)} parts, at most 3 are possible.",
            remedy="Write table, schema.table or catalog.schema.table.",
        )

    def _schema_for(
        self, table: str, attachment: Attachment, state_of: Callable[[Attachment], CatalogState]
    ) -> str:
        assert self._current is not None
        _, schema = self._current
        if not self._is_stored or folded(schema) == MAIN:
            return schema
        state = state_of(attachment)
        is_own = state.find_schema(schema) and state.find_relation(table, schema)
        is_in_main = state.find_schema(MAIN) and state.find_relation(table, MAIN)
        return MAIN if is_in_main and not is_own else schema

    def _schema_or_catalog(
        self, name: str, state_of: Callable[[Attachment], CatalogState]
    ) -> tuple[Attachment, str]:
        """Resolve the first of two parts: a schema of the current catalog, or a catalog."""
        catalog = self._attachments.find(name)
        current = self._attachments.find(self._current[0]) if self._current else None
        try:
            schema = state_of(current).find_schema(name) if current is not None else None
        except (NotFound, InvalidInput):
            if catalog is None:
                raise
            schema = None  # the current catalog did not exist at the requested time
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

    def find_table(self, view: CatalogView, name: TableName) -> Table:
        """Return a table; raise NotFound with similar names if it does not exist."""
        with self._recording_missing_names():
            return self._find_table(view, name)

    def _find_table(self, view: CatalogView, name: TableName) -> Table:
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

    @contextmanager
    def _recording_missing_names(self) -> Iterator[None]:
        """Record that the open transaction depends on a name that was not in use."""
        try:
            yield
        except NotFound:
            self.record_definitions()
            raise

    def viewing(
        self,
        attachment: Attachment,
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
    ) -> CatalogView:
        """Return the view of a catalog: its head, that of the transaction, or an older snapshot."""
        self._require_open()
        if version is not None or timestamp is not None:
            when = None if timestamp is None else moment(timestamp)
            try:
                seen = attachment.catalog.at(version=version, timestamp=when)
            except NotFound:
                self.record_everything(attachment)  # a later commit can become that snapshot
                raise
            self._record_travel(attachment, seen, is_moment=when is not None)
            return seen
        if attachment.pinned is not None:
            return attachment.pinned
        if self._work is not None:
            return self._work.on(attachment).transaction
        return attachment.catalog.now()

    def _record_travel(
        self, attachment: Attachment, seen: SnapshotReads, *, is_moment: bool
    ) -> None:
        """Record time travel that later commits can change: to a time after the last snapshot."""
        if self._work is None or attachment.pinned is not None:
            return
        start = self._work.on(attachment).transaction.start_snapshot
        if seen.snapshot_id > start or (is_moment and seen.snapshot_id == start):
            self.record_everything(attachment)

    def snapshots(self, alias: str) -> list[Snapshot]:
        """Return the history of a catalog, oldest first."""
        attachment = self.attachment(alias)
        self.record_everything(attachment)
        return attachment.catalog.snapshots()

    def fork(
        self,
        parent: str,
        new_name: str,
        *,
        attach_as: str | None = None,
        **options: Unpack[ForkOptions],
    ) -> Catalog:
        """Fork a catalog, given by its alias or, in the same metastore, by its name.

        For the options see `ForkRequest`.
        """
        metastore, name = self.find_catalog(parent)
        fork = metastore.fork(name, new_name, **options)
        if attach_as is not None:
            self._attachments.attach_beside(metastore, fork, attach_as)
        return fork

    def find_catalog(self, name: str) -> tuple[Metastore, str]:
        """Return the metastore and name of a catalog, given by alias, or in the only metastore."""
        self._require_open()
        attached = self._attachments.find(name)
        metastores = {id(one.metastore): one.metastore for one in self._attachments.all()}
        if attached is None and len(metastores) == 1:
            return next(iter(metastores.values())), name
        attached = self._attachments.get(name)  # raises an error that lists the attached catalogs
        return attached.metastore, attached.catalog.name


def _schema_of(state: CatalogState, name: str | None, attachment: Attachment) -> str:
    """Return the exact name of a schema; raise NotFound with similar names if it does not exist."""
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
