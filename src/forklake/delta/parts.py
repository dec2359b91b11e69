"""A version of a Delta log as it is loaded: in parts, of which each fits into memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, Cdc, DomainMetadata, Remove, Txn
from forklake.delta.files import text_of
from forklake.delta.held import Held
from forklake.delta.live import Told, vector_of
from forklake.delta.log.paths import full_path
from forklake.delta.log.reading import Version
from forklake.model.faces import FaceAction, FaceCommit

MOST_FILES = 5000  # adds and removes of a part


@dataclass(slots=True)
class Part:
    """Some of the files that a version adds and removes, by full path."""

    is_first: bool = False
    is_last: bool = False
    adds: dict[str, Add] = field(default_factory=dict)
    removes: dict[str, Remove] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """What a version does to a table.

    Args:
        leaving: the files that end with it, by full path; `kept` are those that go on with other
            rows deleted.
    """

    version: Version
    told: Told
    kept: set[str]
    leaving: Mapping[str, Held]

    @property
    def message(self) -> str:
        """What the snapshot is called."""
        return f"Delta version {self.version.number}"

    def parts(self, location: str) -> Iterator[Part]:
        """The files of the version, some at a time; there is one part at least."""
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
        """Adds, the last one where there are several of a file, and removes that end a file."""
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
        """What the log says in a part, beyond what becomes rows of files."""
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
