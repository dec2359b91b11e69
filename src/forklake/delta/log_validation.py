"""Validation of a Delta log before any of it is loaded, so that an invalid log changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from forklake.delta.actions import Add, Metadata
from forklake.delta.files import parse_partition_values, read_deleted_positions, vector_file_path
from forklake.delta.live import LiveFiles, VersionSummary
from forklake.delta.log.delta_log import DeltaLog, LogVersion
from forklake.delta.log.replay import FileKey, LogState, require_columns
from forklake.delta.schema import DeltaColumnMapping, DeltaField, parse_schema
from forklake.delta.table_shape import partition_columns
from forklake.errors import Corruption


@dataclass(slots=True)
class _KeyState(LogState):
    """A replayed state that keeps only the keys of files, to save memory."""

    keys: set[FileKey] = field(default_factory=set)

    def add_file(self, key: FileKey, action: Add) -> None:
        self.keys.add(key)

    def remove_file(self, key: FileKey) -> None:
        self.keys.discard(key)

    def clear(self) -> None:
        LogState.clear(self)
        self.keys = set()


class LogCheck:
    """Check of the versions of a log, in the order in which the loader will load them.

    Args:
        metadata: the metadata of the table before the first of them.
        live: the files of the table before the first of them.
    """

    def __init__(
        self, location: str, metadata: Metadata | None = None, live: LiveFiles | None = None
    ) -> None:
        self._location = location
        self._state = _KeyState(metadata=metadata)
        self._live = live or LiveFiles()
        self._is_whole = metadata is None
        self._keys = () if metadata is None else _partition_fields(metadata)

    def run(self, log: DeltaLog, after: int, on_checked: Callable[[int], None]) -> None:
        """Check all versions after `after`. Raise Corruption or Unsupported if one is invalid.

        Args:
            on_checked: is called after each version with the number of files that it adds.
        """
        for version in log.versions(after):
            on_checked(self._check_version(version))
        require_columns(self._state)
        if self._is_whole and len(self._live) != len(self._state.keys):
            raise Corruption(
                f"The Delta log at {self._location!r} adds a file twice, with different deletion"
                " vectors.",
                remedy="Restore the log from a backup.",
            )

    def _check_version(self, version: LogVersion) -> int:
        summary = VersionSummary(is_state=version.is_state)
        self._state.begin_version(version)
        for action in version.actions:
            self._state.apply_action(action)
            summary.add(action, self._location)
        if summary.metadata is not None:
            self._keys = _partition_fields(summary.metadata)
        for action in version.actions:
            if isinstance(action, Add):
                self._check_file(action)
        self._live.apply(summary)
        return len(summary.adds)

    def _check_file(self, add: Add) -> None:
        parse_partition_values(self._keys, add)
        if add.size < 0:
            raise Corruption(
                f"The file {add.path!r} has the invalid size {add.size}.",
                remedy="Restore the log from a backup.",
            )
        vector = add.deletion_vector
        if vector is not None and vector_file_path(vector, self._location) is None:
            read_deleted_positions(vector, self._location)  # raises if an inline vector is damaged


def _partition_fields(metadata: Metadata) -> tuple[DeltaField, ...]:
    """Return the partition columns. Raise Unsupported if the lake lacks the type of a column."""
    mapping = DeltaColumnMapping.of(metadata.configuration)
    fields = parse_schema(metadata.schema_string, mapping)
    by_name = {one.name: one for one in fields}
    return tuple(by_name[name] for name in partition_columns(metadata, fields))
