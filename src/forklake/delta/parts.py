"""Parts of a version of a Delta log, each of which fits into memory while it is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, Cdc, DomainMetadata, Remove, Txn
from forklake.delta.files import text_of
from forklake.delta.live import Told, vector_of
from forklake.delta.live_files import Held
from forklake.delta.log.delta_log import Version
from forklake.delta.log.paths import full_path
from forklake.model.delta_tables import FaceAction, FaceCommit

MOST_FILES = 5000  # maximum number of adds and removes in a part


@dataclass(slots=True)
class Part:
    """A part of the files that a version adds and removes, by full path."""

    is_first: bool = False
    is_last: bool = False
    adds: dict[str, Add] = field(default_factory=dict)
    removes: dict[str, Remove] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """The changes of a version to a table.

    Args:
        kept: full paths of files that stay live with other deleted rows.
        leaving: files that the version ends, by full path.
    """

    version: Version
    told: Told
    kept: set[str]
    leaving: Mapping[str, Held]

    @property
    def message(self) -> str:
        """The commit message of the snapshot."""
        return f"Delta version {self.version.number}"

    def parts(self, location: str) -> Iterator[Part]:
        """Yield the files of the version in parts. There is at least one part."""
        part = Part(is_first=True)
        for path, action in self._files(location):
            if len(part.adds) + len(part.removes) >= MOST_FILES:
                yield part
                part = Part()
            if isinstance(action, Add):
                part.adds[path] = action
            else:
                part.removes[path] = action
        part.is_last = True
        yield part

    def _files(self, location: str) -> Iterator[tuple[str, Add | Remove]]:
        """Yield the last add of each file, and the removes that end a file."""
        for action in self.version.actions:
            if not isinstance(action, Add | Remove):
                continue
            path = full_path(location, action.path)
            if isinstance(action, Add):
                is_meant = self.told.adds[path] == vector_of(action)
            else:
                is_meant = path in self.leaving
            if is_meant:
                yield path, action

    def said(self, part: Part) -> FaceCommit:
        """Return the actions of a part to store: all that do not become rows of files."""
        said = [
            _said(action, str(int(self.leaving[path].number)))
            for path, action in part.removes.items()
        ]
        if part.is_first:
            said += [_said(one, "") for one in self.told.about_table()]
            said += [_said(one, _key(one, number)) for number, one in enumerate(self.told.others)]
        return FaceCommit(
            self.told.operation,
            tuple(said),
            version=self.version.number,
            timestamp=self.version.timestamp_ms,
        )


def _said(action: AnyAction, key: str) -> FaceAction:
    return FaceAction(action.kind, key, text_of(action))


def _key(action: AnyAction, number: int) -> str:
    match action:
        case Txn():
            return action.app_id
        case DomainMetadata():
            return action.domain
        case Cdc():
            return action.path
    return str(number)
