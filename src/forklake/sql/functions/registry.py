"""Registry of lake functions: names, arguments, result columns and implementations.

Each can be called as `ducklake_<name>('lake', …)`, and as `lake.<name>(…)` for an attached catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.session.attachments import Attachment
from forklake.sql.functions import (
    catalogs,
    feeds,
    fork_merges,
    maintenance,
    options,
    snapshots,
    tables,
)
from forklake.sql.functions.signatures import (
    ANY_VALUE,
    ATTACHED_CATALOG,
    BOOLEAN,
    FRACTION,
    NUMBER,
    SIZE,
    SNAPSHOT_OR_TIME,
    TABLE_NAME,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    TIMESTAMP,
    TIMESTAMP_OR_AGE,
    VERSIONS,
    Parameter,
    Signature,
    named_parameter,
    optional_parameter,
    required_parameter,
)

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session

Implementation: TypeAlias = "Callable[..., Iterable[tuple[Any, ...]] | DataFrame]"

PREFIX = "ducklake_"
_LONG, _STRING, _BOOL = pa.int64(), pa.string(), pa.bool_()


@dataclass(frozen=True, slots=True)
class LakeFunction:
    """SQL function: its overloads, its result columns and its implementation.

    Without `columns` it returns a DataFrame, whose columns depend on the table. `changes` is
    whether it changes data; `reads_now`, whether its result depends on the newest commits to the
    catalog. Columns in `hidden` are not part of `*`.
    """

    name: str
    signatures: tuple[Signature, ...]
    columns: pa.Schema | None
    run: Implementation
    changes_data: bool
    reads_newest_state: bool = False
    hidden_columns: tuple[str, ...] = ()


def _columns(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


def _signature(*parameters: Parameter) -> tuple[Signature, ...]:
    return (Signature(parameters),)


_CATALOG = required_parameter("catalog", ATTACHED_CATALOG)
_TABLE, _SCHEMA = required_parameter("table_name", TABLE_NAME), named_parameter("schema", TEXT)
_TABLE_OR_ALL = (_CATALOG, optional_parameter("table_name", TABLE_NAME), _SCHEMA)
_FEED_BOUNDS = (
    required_parameter("start_snapshot", SNAPSHOT_OR_TIME),
    required_parameter("end_snapshot", SNAPSHOT_OR_TIME),
)
_FEED = (
    Signature((_CATALOG, _TABLE, *_FEED_BOUNDS)),
    Signature((_CATALOG, required_parameter("schema_name", TEXT), _TABLE, *_FEED_BOUNDS)),
)
_ROW_ORIGIN = ("snapshot_id", "rowid")  # of a row in a change feed
_CLEANUP = _signature(
    _CATALOG,
    named_parameter("older_than", TIMESTAMP_OR_AGE),
    named_parameter("cleanup_all", BOOLEAN),
    named_parameter("dry_run", BOOLEAN),
)
_SNAPSHOT_COLUMNS = _columns(
    snapshot_id=_LONG,
    snapshot_time=pa.timestamp("us", "UTC"),
    schema_version=_LONG,
    changes=pa.map_(_STRING, pa.list_(_STRING)),
    author=_STRING,
    commit_message=_STRING,
    commit_extra_info=_STRING,
)
_ID_COLUMN, _SUCCESS_COLUMN = _columns(id=_LONG), _columns(Success=_BOOL)
_COMPACTION_COLUMNS = _columns(
    schema_name=_STRING, table_name=_STRING, files_processed=_LONG, files_created=_LONG
)
_QUERIES = (
    LakeFunction(
        "diff",
        _signature(
            required_parameter("first", TEXT),
            required_parameter("second", TEXT),
            named_parameter("tables", TEXTS),
        ),
        _columns(
            name=_STRING,
            change=_STRING,
            columns=pa.list_(_STRING),
            rows_added=_LONG,
            rows_removed=_LONG,
            rows_changed=_LONG,
        ),
        fork_merges.list_differences,
        changes_data=False,
        reads_newest_state=True,
    ),
    LakeFunction(
        "snapshots",
        _signature(_CATALOG),
        _SNAPSHOT_COLUMNS,
        snapshots.list_snapshots,
        changes_data=False,
        reads_newest_state=True,
    ),
    LakeFunction(
        "current_snapshot",
        _signature(_CATALOG),
        _ID_COLUMN,
        snapshots.current_snapshot,
        changes_data=False,
    ),
    LakeFunction(
        "last_committed_snapshot",
        _signature(_CATALOG),
        _ID_COLUMN,
        snapshots.last_committed_snapshot,
        changes_data=False,
    ),
    LakeFunction(
        "options",
        _signature(_CATALOG),
        _columns(
            option_name=_STRING,
            description=_STRING,
            value=_STRING,
            scope=_STRING,
            scope_entry=_STRING,
        ),
        options.list_options,
        changes_data=False,
        reads_newest_state=True,
    ),
    LakeFunction(
        "list_files",
        _signature(
            _CATALOG,
            _TABLE,
            _SCHEMA,
            named_parameter("snapshot_version", NUMBER),
            named_parameter("snapshot_time", TIMESTAMP),
        ),
        _columns(
            data_file=_STRING,
            data_file_size_bytes=_LONG,
            data_file_footer_size=_LONG,
            data_file_encryption_key=_STRING,
            delete_file=_STRING,
            delete_file_size_bytes=_LONG,
            delete_file_footer_size=_LONG,
            delete_file_encryption_key=_STRING,
        ),
        tables.list_files,
        changes_data=False,
        reads_newest_state=True,
    ),
    LakeFunction(
        "table_info",
        _signature(*_TABLE_OR_ALL),
        _columns(
            table_name=_STRING,
            schema_id=_LONG,
            table_id=_LONG,
            table_uuid=_STRING,
            file_count=_LONG,
            file_size_bytes=_LONG,
            delete_file_count=_LONG,
            delete_file_size_bytes=_LONG,
        ),
        tables.table_info,
        changes_data=False,
        reads_newest_state=True,
    ),
    LakeFunction("table_changes", _FEED, None, feeds.table_changes, changes_data=False),
    LakeFunction(
        "table_insertions",
        _FEED,
        None,
        feeds.table_insertions,
        changes_data=False,
        hidden_columns=_ROW_ORIGIN,
    ),
    LakeFunction(
        "table_deletions",
        _FEED,
        None,
        feeds.table_deletions,
        changes_data=False,
        hidden_columns=_ROW_ORIGIN,
    ),
    LakeFunction(
        "catalogs",
        _signature(optional_parameter("catalog", ATTACHED_CATALOG)),
        _columns(
            catalog_id=_LONG,
            catalog_name=_STRING,
            catalog_uuid=_STRING,
            parent_catalog_id=_LONG,
            begin_snapshot=_LONG,
            end_snapshot=_LONG,
        ),
        catalogs.list_catalogs,
        changes_data=False,
    ),
    LakeFunction(
        "settings",
        _signature(_CATALOG),
        _columns(
            catalog_type=_STRING,
            extension_version=_STRING,
            data_path=_STRING,
            catalog_id=_LONG,
            catalog_name=_STRING,
            catalog_uuid=_STRING,
            metadata_path=_STRING,
            metadata_catalog=_STRING,
            read_only=_BOOL,
        ),
        catalogs.list_settings,
        changes_data=False,
    ),
)
_PROCEDURES = (
    LakeFunction(
        "fork_catalog",
        _signature(
            required_parameter("parent", TEXT),
            required_parameter("new_name", TEXT),
            optional_parameter("data_path", TEXT),
            named_parameter("if_not_exists", BOOLEAN),
            named_parameter("mode", TEXT),
            named_parameter("at", NUMBER),
            named_parameter("ttl", TEXT),
        ),
        _columns(catalog_id=_LONG, catalog_name=_STRING, created=_BOOL),
        catalogs.fork_catalog,
        changes_data=True,
    ),
    LakeFunction(
        "merge",
        _signature(
            required_parameter("fork", TEXT),
            named_parameter("into", TEXT),
            named_parameter("tables", TEXTS),
            named_parameter("on_conflict", TEXT),
            named_parameter("dry_run", BOOLEAN),
        ),
        _columns(
            name=_STRING,
            rows_appended=_LONG,
            files_appended=_LONG,
            rows_updated=_LONG,
            rows_deleted=_LONG,
            conflicts=_LONG,
            snapshot_id=_LONG,
        ),
        fork_merges.merge_catalog,
        changes_data=True,
    ),
    LakeFunction(
        "set_option",
        _signature(
            _CATALOG,
            required_parameter("option", TEXT),
            required_parameter("value", ANY_VALUE),
            _SCHEMA,
            named_parameter("table_name", TABLE_NAME),
        ),
        _SUCCESS_COLUMN,
        options.set_option,
        changes_data=True,
    ),
    LakeFunction(
        "set_commit_message",
        _signature(
            _CATALOG,
            required_parameter("author", TEXT_OR_NULL),
            required_parameter("commit_message", TEXT_OR_NULL),
            named_parameter("extra_info", TEXT_OR_NULL),
        ),
        _SUCCESS_COLUMN,
        snapshots.set_commit_message,
        changes_data=True,
    ),
    LakeFunction(
        "expire_snapshots",
        _signature(
            _CATALOG,
            named_parameter("versions", VERSIONS),
            named_parameter("older_than", TIMESTAMP_OR_AGE),
            named_parameter("dry_run", BOOLEAN),
        ),
        _SNAPSHOT_COLUMNS,
        maintenance.expire_snapshots,
        changes_data=True,
    ),
    LakeFunction(
        "merge_adjacent_files",
        _signature(
            *_TABLE_OR_ALL,
            named_parameter("max_compacted_files", SIZE),
            named_parameter("min_file_size", SIZE),
            named_parameter("max_file_size", SIZE),
        ),
        _COMPACTION_COLUMNS,
        maintenance.merge_adjacent_files,
        changes_data=True,
    ),
    LakeFunction(
        "rewrite_data_files",
        _signature(
            *_TABLE_OR_ALL,
            named_parameter("delete_threshold", FRACTION),
            named_parameter("max_compacted_files", SIZE),
        ),
        _COMPACTION_COLUMNS,
        maintenance.rewrite_data_files,
        changes_data=True,
    ),
    LakeFunction(
        "flush_inlined_data",
        _signature(
            _CATALOG,
            named_parameter("schema_name", TEXT),
            named_parameter("table_name", TABLE_NAME),
        ),
        _columns(schema_name=_STRING, table_name=_STRING, rows_flushed=_LONG),
        maintenance.flush_inlined_data,
        changes_data=True,
    ),
    LakeFunction(
        "add_data_files",
        _signature(
            _CATALOG,
            _TABLE,
            required_parameter("path", TEXTS),
            _SCHEMA,
            named_parameter("allow_missing", BOOLEAN),
            named_parameter("ignore_extra_columns", BOOLEAN),
            named_parameter("hive_partitioning", BOOLEAN),
            named_parameter("take_ownership", BOOLEAN),
        ),
        _columns(filename=_STRING),
        maintenance.add_data_files,
        changes_data=True,
    ),
    LakeFunction(
        "cleanup_old_files",
        _CLEANUP,
        _columns(path=_STRING),
        maintenance.cleanup_old_files,
        changes_data=True,
    ),
    LakeFunction(
        "delete_orphaned_files",
        _CLEANUP,
        _columns(path=_STRING),
        maintenance.delete_orphaned_files,
        changes_data=True,
    ),
)
FUNCTIONS: dict[str, LakeFunction] = {one.name: one for one in (*_QUERIES, *_PROCEDURES)}


@dataclass(frozen=True, slots=True)
class QualifiedFunction:
    """Function with the alias of the catalog that qualifies it, if any."""

    function: LakeFunction
    alias: str | None = None

    def __str__(self) -> str:
        return f"{self.alias}.{self.function.name}" if self.alias else PREFIX + self.function.name

    @property
    def signatures(self) -> list[Signature]:
        """Signatures without the catalog if the alias of the function names it."""
        signatures = self.function.signatures
        return [one.without_catalog for one in signatures] if self.alias else list(signatures)

    def call(
        self, session: Session, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> pa.Table | DataFrame:
        """Call the function with Python values and return its rows."""
        with session.guard.authorize_function(self.function.name):
            return self._run(session, positional, named)

    def _run(
        self, session: Session, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> pa.Table | DataFrame:
        by_name = {name.lower(): value for name, value in named.items()}
        matching = (one for one in self.signatures if one.accepts(positional, by_name))
        signature = next(matching, self.signatures[0])
        try:
            arguments = signature.convert_arguments(session, positional, by_name)
        except ValueError as reason:
            usage = " or ".join(f"{self}{one}" for one in self.signatures)
            raise InvalidInput(f"The function {self} {reason}.", remedy=f"Write {usage}.") from None
        if self.alias:
            first = self.function.signatures[0].catalog_parameter
            arguments[first.name] = first.type.convert(session, self.alias)
        if self.function.reads_newest_state:
            for attachment in self._attachments(session, arguments):
                session.record_everything(attachment)
        rows = self.function.run(session, **arguments)
        columns = self.function.columns
        return rows if columns is None else _build_table(columns, rows)

    def _attachments(self, session: Session, arguments: Mapping[str, Any]) -> list[Attachment]:
        """Return the catalog that a call names, or all where it names catalogs by text."""
        attachments = [one for one in arguments.values() if isinstance(one, Attachment)]
        return attachments or session.attachments()


def find_function(session: Session, parts: Sequence[str]) -> QualifiedFunction | None:
    """Return the function of a dotted name, such as `ducklake_snapshots` or `lake.snapshots`."""
    *where, name = map(folded, parts)
    if not where:
        function = FUNCTIONS.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
        return QualifiedFunction(function) if function else None
    aliases = {folded(one.alias): one.alias for one in session.attachments()}
    function = FUNCTIONS.get(name)
    if function is None or where[0] not in aliases or where[1:] not in ([], ["main"]):
        return None
    return QualifiedFunction(function, aliases[where[0]])


def list_function_names(parts: Sequence[str]) -> list[str]:
    """Return the names of all functions, with the qualifier or prefix of the given name."""
    *where, _ = parts
    return [".".join([*where, name]) if where else PREFIX + name for name in FUNCTIONS]


def _build_table(columns: pa.Schema, rows: Any) -> pa.Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array(list(one), kind) for one, kind in zip(values, columns.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=columns)


def find_hidden_columns(session: Session, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table function that `*` does not show."""
    function = find_function(session, parts)
    return function.function.hidden_columns if function is not None else ()
