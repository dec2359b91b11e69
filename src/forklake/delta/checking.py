"""Checking a Delta log before anything of it is loaded, so that a log that is not right changes
nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from forklake.delta.actions import Add, Metadata
from forklake.delta.files import key_values, read_deleted, vector_file
from forklake.delta.live import LiveFiles, Told
from forklake.delta.log.reading import DeltaLog, Version
from forklake.delta.log.replay import FileKey, State, require_columns
from forklake.delta.schema import DeltaColumnMapping, DeltaField, parse_schema
from forklake.delta.shaping import partition_columns
from forklake.errors import Corruption


@dataclass(slots=True)
class _Keys(State):
    """A state that of files knows only which there are."""

    keys: set[FileKey] = field(default_factory=set)

    def add(self, key: FileKey, action: Add) -> None:
        self.keys.add(key)

    def remove(self, key: FileKey) -> None:
        self.keys.discard(key)

    def forget(self) -> None:
        State.forget(self)
        self.keys = set()


class LogCheck:
    """Goes through versions of a log as the loader will.

    Args:
        metadata: what the table is before the first of them, and `live` the files it has then.
    """

    def __init__(
        self, location: str, metadata: Metadata | None = None, live: LiveFiles | None = None
    ) -> None:
        self._location = location
        self._state = _Keys(metadata=metadata)
        self._live = live or LiveFiles()
        self._is_whole = metadata is None
        self._keys = () if metadata is None else _partition_fields(metadata)

    def run(self, log: DeltaLog, after: int, checked: Callable[[int], None]) -> None:
        """Check all versions after one; Corruption or Unsupported says what is wrong.

        Args:
            checked: is told after each version how many files it adds.
        """
        for version in log.versions(after):
            checked(self._check(version))
        require_columns(self._state)
        if self._is_whole and len(self._live) != len(self._state.keys):
            raise Corruption(
                f"The Delta log at {self._location!r} has a file twice, with different rows"
                " deleted.",
                remedy="Restore the log from a backup.",
            )

    def _check(self, version: Version) -> int:
        told = Told(is_state=version.is_state)
        self._state.begin(version)
        for action in version.actions:
            self._state.note(action)
            told.note(action, self._location)
        if told.metadata is not None:
            self._keys = _partition_fields(told.metadata)
        for action in version.actions:
            if isinstance(action, Add):
                self._check_file(action)
        self._live.apply(told)
        return len(told.adds)

    def _check_file(self, add: Add) -> None:
        key_values(self._keys, add)
        if add.size < 0:
            raise Corruption(
                f"The file {add.path!r} has the size {add.size}.",
                remedy="Restore the log from a backup.",
            )
        vector = add.deletion_vector
        if vector is not None and vector_file(vector, self._location) is None:
            read_deleted(vector, self._location)  # what is in the log itself must be right


def _partition_fields(metadata: Metadata) -> tuple[DeltaField, ...]:
    """The partition columns; Unsupported if a column has a type that the lake has not."""
    mapping = DeltaColumnMapping.of(metadata.configuration)
    fields = parse_schema(metadata.schema_string, mapping)
    by_name = {one.name: one for one in fields}
    return tuple(by_name[name] for name in partition_columns(metadata, fields))
