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
    ANYTHING,
    ATTACHED,
    BOOLEAN,
    BOUND,
    FRACTION,
    MOMENT,
    MOMENT_OR_AGE,
    NUMBER,
    SIZE,
    TABLE_NAME,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    VERSIONS,
    Parameter,
    Signature,
    named,
    optional,
    required,
)

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session

Run: TypeAlias = "Callable[..., Iterable[tuple[Any, ...]] | DataFrame]"

PREFIX = "ducklake_"
_LONG, _STRING, _BOOL = pa.int64(), pa.string(), pa.bool_()


@dataclass(frozen=True, slots=True)
class Function:
    """SQL function: its overloads, its result columns and its implementation.

    Without `columns` it returns a DataFrame, whose columns depend on the table. `changes` is
    whether it changes data; `reads_now`, whether its result depends on the newest commits to the
    catalog. Columns in `hidden` are not part of `*`.
    """

    name: str
    signatures: tuple[Signature, ...]
    columns: pa.Schema | None
    run: Run
    changes: bool
    reads_now: bool = False
    hidden: tuple[str, ...] = ()


def _columns(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


def _signature(*parameters: Parameter) -> tuple[Signature, ...]:
    return (Signature(parameters),)


_CATALOG = required("catalog", ATTACHED)
_TABLE, _SCHEMA = required("table_name", TABLE_NAME), named("schema", TEXT)
_ONE_OR_ALL = (_CATALOG, optional("table_name", TABLE_NAME), _SCHEMA)
_BOUNDS = (required("start_snapshot", BOUND), required("end_snapshot", BOUND))
_FEED = (
    Signature((_CATALOG, _TABLE, *_BOUNDS)),
    Signature((_CATALOG, required("schema_name", TEXT), _TABLE, *_BOUNDS)),
)
_ORIGIN = ("snapshot_id", "rowid")  # of a row in a change feed
_CLEANING = _signature(
    _CATALOG,
    named("older_than", MOMENT_OR_AGE),
    named("cleanup_all", BOOLEAN),
    named("dry_run", BOOLEAN),
)
_SNAPSHOTS = _columns(
    snapshot_id=_LONG,
    snapshot_time=pa.timestamp("us", "UTC"),
    schema_version=_LONG,
    changes=pa.map_(_STRING, pa.list_(_STRING)),
    author=_STRING,
    commit_message=_STRING,
    commit_extra_info=_STRING,
)
_ID, _SUCCESS = _columns(id=_LONG), _columns(Success=_BOOL)
_REWRITTEN = _columns(
    schema_name=_STRING, table_name=_STRING, files_processed=_LONG, files_created=_LONG
)
_QUERIES = (
    Function(
        "diff",
        _signature(required("first", TEXT), required("second", TEXT), named("tables", TEXTS)),
        _columns(
            name=_STRING,
            change=_STRING,
            columns=pa.list_(_STRING),
            rows_added=_LONG,
            rows_removed=_LONG,
            rows_changed=_LONG,
        ),
        fork_merges.list_differences,
        changes=False,
        reads_now=True,
    ),
    Function(
        "snapshots",
        _signature(_CATALOG),
        _SNAPSHOTS,
        snapshots.list_snapshots,
        changes=False,
        reads_now=True,
    ),
    Function(
        "current_snapshot", _signature(_CATALOG), _ID, snapshots.current_snapshot, changes=False
    ),
    Function(
        "last_committed_snapshot",
        _signature(_CATALOG),
        _ID,
        snapshots.last_committed_snapshot,
        changes=False,
    ),
    Function(
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
        changes=False,
        reads_now=True,
    ),
    Function(
        "list_files",
        _signature(
            _CATALOG,
            _TABLE,
            _SCHEMA,
            named("snapshot_version", NUMBER),
            named("snapshot_time", MOMENT),
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
        changes=False,
        reads_now=True,
    ),
    Function(
        "table_info",
        _signature(*_ONE_OR_ALL),
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
        changes=False,
        reads_now=True,
    ),
    Function("table_changes", _FEED, None, feeds.table_changes, changes=False),
    Function(
        "table_insertions", _FEED, None, feeds.table_insertions, changes=False, hidden=_ORIGIN
    ),
    Function("table_deletions", _FEED, None, feeds.table_deletions, changes=False, hidden=_ORIGIN),
    Function(
        "catalogs",
        _signature(optional("catalog", ATTACHED)),
        _columns(
            catalog_id=_LONG,
            catalog_name=_STRING,
            catalog_uuid=_STRING,
            parent_catalog_id=_LONG,
            begin_snapshot=_LONG,
            end_snapshot=_LONG,
        ),
        catalogs.list_catalogs,
        changes=False,
    ),
    Function(
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
        changes=False,
    ),
)
_PROCEDURES = (
    Function(
        "fork_catalog",
        _signature(
            required("parent", TEXT),
            required("new_name", TEXT),
            optional("data_path", TEXT),
            named("if_not_exists", BOOLEAN),
            named("mode", TEXT),
            named("at", NUMBER),
            named("ttl", TEXT),
        ),
        _columns(catalog_id=_LONG, catalog_name=_STRING, created=_BOOL),
        catalogs.fork_catalog,
        changes=True,
    ),
    Function(
        "merge",
        _signature(
            required("fork", TEXT),
            named("into", TEXT),
            named("tables", TEXTS),
            named("on_conflict", TEXT),
            named("dry_run", BOOLEAN),
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
        changes=True,
    ),
    Function(
        "set_option",
        _signature(
            _CATALOG,
            required("option", TEXT),
            required("value", ANYTHING),
            _SCHEMA,
            named("table_name", TABLE_NAME),
        ),
        _SUCCESS,
        options.set_option,
        changes=True,
    ),
    Function(
        "set_commit_message",
        _signature(
            _CATALOG,
            required("author", TEXT_OR_NULL),
            required("commit_message", TEXT_OR_NULL),
            named("extra_info", TEXT_OR_NULL),
        ),
        _SUCCESS,
        snapshots.set_commit_message,
        changes=True,
    ),
    Function(
        "expire_snapshots",
        _signature(
            _CATALOG,
            named("versions", VERSIONS),
            named("older_than", MOMENT_OR_AGE),
            named("dry_run", BOOLEAN),
        ),
        _SNAPSHOTS,
        maintenance.expire_snapshots,
        changes=True,
    ),
    Function(
        "merge_adjacent_files",
        _signature(
            *_ONE_OR_ALL,
            named("max_compacted_files", SIZE),
            named("min_file_size", SIZE),
            named("max_file_size", SIZE),
        ),
        _REWRITTEN,
        maintenance.merge_adjacent_files,
        changes=True,
    ),
    Function(
        "rewrite_data_files",
        _signature(
            *_ONE_OR_ALL,
            named("delete_threshold", FRACTION),
            named("max_compacted_files", SIZE),
        ),
        _REWRITTEN,
        maintenance.rewrite_data_files,
        changes=True,
    ),
    Function(
        "flush_inlined_data",
        _signature(_CATALOG, named("schema_name", TEXT), named("table_name", TABLE_NAME)),
        _columns(schema_name=_STRING, table_name=_STRING, rows_flushed=_LONG),
        maintenance.flush_inlined_data,
        changes=True,
    ),
    Function(
        "add_data_files",
        _signature(
            _CATALOG,
            _TABLE,
            required("path", TEXTS),
            _SCHEMA,
            named("allow_missing", BOOLEAN),
            named("ignore_extra_columns", BOOLEAN),
            named("hive_partitioning", BOOLEAN),
            named("take_ownership", BOOLEAN),
        ),
        _columns(filename=_STRING),
        maintenance.add_data_files,
        changes=True,
    ),
    Function(
        "cleanup_old_files",
        _CLEANING,
        _columns(path=_STRING),
        maintenance.cleanup_old_files,
        changes=True,
    ),
    Function(
        "delete_orphaned_files",
        _CLEANING,
        _columns(path=_STRING),
        maintenance.delete_orphaned_files,
        changes=True,
    ),
)
FUNCTIONS: dict[str, Function] = {one.name: one for one in (*_QUERIES, *_PROCEDURES)}


@dataclass(frozen=True, slots=True)
class Bound:
    """Function with the alias of the catalog that qualifies it, if any."""

    function: Function
    alias: str | None = None

    def __str__(self) -> str:
        return f"{self.alias}.{self.function.name}" if self.alias else PREFIX + self.function.name

    @property
    def signatures(self) -> list[Signature]:
        """Signatures without the catalog if the alias of the function names it."""
        whole = self.function.signatures
        return [one.rest for one in whole] if self.alias else list(whole)

    def call(
        self, session: Session, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> pa.Table | DataFrame:
        """Call the function with Python values and return its rows."""
        with session.guard.authorize_function(self.function.name):
            return self._called(session, positional, named)

    def _called(
        self, session: Session, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> pa.Table | DataFrame:
        by_name = {name.lower(): value for name, value in named.items()}
        fitting = (one for one in self.signatures if one.fits(positional, by_name))
        chosen = next(fitting, self.signatures[0])
        try:
            arguments = chosen.bound(session, positional, by_name)
        except ValueError as reason:
            usage = " or ".join(f"{self}{one}" for one in self.signatures)
            raise InvalidInput(f"The function {self} {reason}.", remedy=f"Write {usage}.") from None
        if self.alias:
            first = self.function.signatures[0].first
            arguments[first.name] = first.kind.convert(session, self.alias)
        if self.function.reads_now:
            for attachment in self._attachments(session, arguments):
                session.record_everything(attachment)
        found = self.function.run(session, **arguments)
        columns = self.function.columns
        return found if columns is None else _table(columns, found)

    def _attachments(self, session: Session, arguments: Mapping[str, Any]) -> list[Attachment]:
        """Return the catalog that a call names, or all where it names catalogs by text."""
        named = [one for one in arguments.values() if isinstance(one, Attachment)]
        return named or session.attachments()


def find(session: Session, parts: Sequence[str]) -> Bound | None:
    """Return the function of a dotted name, such as `ducklake_snapshots` or `lake.snapshots`."""
    *where, name = map(folded, parts)
    if not where:
        function = FUNCTIONS.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
        return Bound(function) if function else None
    aliases = {folded(one.alias): one.alias for one in session.attachments()}
    function = FUNCTIONS.get(name)
    if function is None or where[0] not in aliases or where[1:] not in ([], ["main"]):
        return None
    return Bound(function, aliases[where[0]])


def known_names(parts: Sequence[str]) -> list[str]:
    """Return the names of all functions, with the qualifier or prefix of the given name."""
    *where, _ = parts
    return [".".join([*where, name]) if where else PREFIX + name for name in FUNCTIONS]


def _table(columns: pa.Schema, rows: Any) -> pa.Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array(list(one), kind) for one, kind in zip(values, columns.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=columns)


def hidden_columns(session: Session, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table function that `*` does not show."""
    found = find(session, parts)
    return found.function.hidden if found is not None else ()
