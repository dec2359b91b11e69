"""What a version of a Delta log says, and which files of the table are live after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, CommitInfo, Metadata, Protocol, Remove
from forklake.delta.log.paths import full_path
from forklake.delta.log.reading import Version


@dataclass(slots=True)
class Told:
    """What one version says, sorted by kind; adds and removes by the full path of the file.

    With `is_state` that is all that is true at the version, otherwise what it changes.
    """

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    info: CommitInfo | None = None
    adds: dict[str, Add] = field(default_factory=dict)
    removes: dict[str, Remove] = field(default_factory=dict)
    others: list[AnyAction] = field(default_factory=list)
    is_state: bool = False

    @classmethod
    def of(cls, version: Version, location: str) -> Told:
        """Sort the actions of a version."""
        told = cls(is_state=version.is_state)
        for action in version.actions:
            match action:
                case Add():
                    told.adds[full_path(location, action.path)] = action
                case Remove():
                    told.removes[full_path(location, action.path)] = action
                case Protocol():
                    told.protocol = action
                case Metadata():
                    told.metadata = action
                case CommitInfo():
                    told.info = action
                case _:
                    told.others.append(action)
        return told

    @property
    def operation(self) -> str:
        """What was done, as the log calls it."""
        return (self.info.operation if self.info else None) or "UNKNOWN"

    def about_table(self) -> list[AnyAction]:
        """What is said of the table itself."""
        return [one for one in (self.protocol, self.metadata, self.info) if one is not None]


def vector_of(action: Add | Remove) -> str | None:
    """What tells a deletion vector of a file from others; None if there is none."""
    return None if action.deletion_vector is None else action.deletion_vector.unique_id


class LiveFiles:
    """The files of a table by full path, each with the deletion vector it is read with."""

    def __init__(self, vectors: Iterable[tuple[str, str | None]] = ()) -> None:
        self.vectors = dict(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def changes(self, told: Told) -> tuple[set[str], set[str]]:
        """The files that end with a version, and those that go on with other rows deleted; an add
        without deleted rows says something new of its file."""
        named = told.removes.keys() | told.adds.keys()
        meant = {path for path in named if self._ends(told, path)}
        if told.is_state:
            meant = set(self.vectors)
        kept = {path for path in meant & told.adds.keys() if told.adds[path].deletion_vector}
        return meant - kept, kept

    def _ends(self, told: Told, path: str) -> bool:
        """Whether a version ends what is said of a live file. To remove it with a vector that it
        has no more changes nothing."""
        if path not in self.vectors:
            return False
        return path in told.adds or vector_of(told.removes[path]) == self.vectors[path]

    def apply(self, told: Told) -> None:
        """Go on to what a version says."""
        for path in self.changes(told)[0]:
            del self.vectors[path]
        self.vectors.update((path, vector_of(add)) for path, add in told.adds.items())

    def agrees(self, told: Told) -> bool:
        """Whether the files are those after a version that was applied last."""
        added = {path: vector_of(add) for path, add in told.adds.items()}
        if told.is_state:
            return added == self.vectors
        removed = {(path, vector_of(remove)) for path, remove in told.removes.items()}
        is_gone = self.vectors.items().isdisjoint(removed - added.items())
        return is_gone and added.items() <= self.vectors.items()
