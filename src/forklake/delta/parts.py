"""Parts of a version of a Delta log, each of which fits into memory while it is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, Cdc, DomainMetadata, Remove, Txn
from forklake.delta.files import format_body
from forklake.delta.live import VersionSummary, vector_id_of
from forklake.delta.live_files import StoredFile
from forklake.delta.log.delta_log import LogVersion
from forklake.delta.log.paths import full_path
from forklake.model.delta_tables import FaceAction, FaceCommit

MOST_FILES = 5000  # maximum number of adds and removes in a part


@dataclass(slots=True)
class VersionPart:
    """A part of the files that a version adds and removes, by full path."""

    is_first: bool = False
    is_last: bool = False
    adds: dict[str, Add] = field(default_factory=dict)
    removes: dict[str, Remove] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VersionChange:
    """The changes of a version to a table.

    Args:
        kept: full paths of files that stay live with other deleted rows.
        ended: files that the version ends, by full path.
    """

    version: LogVersion
    summary: VersionSummary
    kept: set[str]
    ended: Mapping[str, StoredFile]

    @property
    def message(self) -> str:
        """The commit message of the snapshot."""
        return f"Delta version {self.version.number}"

    def split(self, location: str) -> Iterator[VersionPart]:
        """Yield the files of the version in parts. There is at least one part."""
        part = VersionPart(is_first=True)
        for path, action in self._file_actions(location):
            if len(part.adds) + len(part.removes) >= MOST_FILES:
                yield part
                part = VersionPart()
            if isinstance(action, Add):
                part.adds[path] = action
            else:
                part.removes[path] = action
        part.is_last = True
        yield part

    def _file_actions(self, location: str) -> Iterator[tuple[str, Add | Remove]]:
        """Yield the last add of each file, and the removes that end a file."""
        for action in self.version.actions:
            if not isinstance(action, Add | Remove):
                continue
            path = full_path(location, action.path)
            if isinstance(action, Add):
                is_effective = self.summary.adds[path] == vector_id_of(action)
            else:
                is_effective = path in self.ended
            if is_effective:
                yield path, action

    def to_commit(self, part: VersionPart) -> FaceCommit:
        """Return the actions of a part to store: all that do not become rows of files."""
        actions = [
            _stored_action(action, str(int(self.ended[path].number)))
            for path, action in part.removes.items()
        ]
        if part.is_first:
            actions += [_stored_action(one, "") for one in self.summary.table_actions()]
            actions += [
                _stored_action(one, _action_key(one, number))
                for number, one in enumerate(self.summary.others)
            ]
        return FaceCommit(
            self.summary.operation,
            tuple(actions),
            version=self.version.number,
            timestamp=self.version.timestamp_ms,
        )


def _stored_action(action: AnyAction, key: str) -> FaceAction:
    return FaceAction(action.kind, key, format_body(action))


def _action_key(action: AnyAction, number: int) -> str:
    match action:
        case Txn():
            return action.app_id
        case DomainMetadata():
            return action.domain
        case Cdc():
            return action.path
    return str(number)
