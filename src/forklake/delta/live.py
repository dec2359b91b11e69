"""What a version of a Delta log says, and which files of the table are live after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, CommitInfo, Metadata, Protocol, Remove
from forklake.delta.log.paths import full_path
from forklake.delta.log.reading import Version

Vector = str | None  # what tells a deletion vector of a file from others; None if there is none


@dataclass(slots=True)
class Told:
    """What one version says, in brief: of files only their full paths and deletion vectors, since
    there may be very many of them.

    With `is_state` that is all that is true at the version, otherwise what it changes.
    """

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    info: CommitInfo | None = None
    adds: dict[str, Vector] = field(default_factory=dict)
    removes: dict[str, Vector] = field(default_factory=dict)
    others: list[AnyAction] = field(default_factory=list)
    is_state: bool = False

    @classmethod
    def of(cls, version: Version, location: str) -> Told:
        """What a version of the table at a location says."""
        told = cls(is_state=version.is_state)
        for action in version.actions:
            told.note(action, location)
        return told

    def note(self, action: AnyAction, location: str) -> None:
        """One action of the version."""
        match action:
            case Add():
                self.adds[full_path(location, action.path)] = vector_of(action)
            case Remove():
                self.removes[full_path(location, action.path)] = vector_of(action)
            case Protocol():
                self.protocol = action
            case Metadata():
                self.metadata = action
            case CommitInfo():
                self.info = action
            case _:
                self.others.append(action)

    @property
    def operation(self) -> str:
        """What was done, as the log calls it."""
        return (self.info.operation if self.info else None) or "UNKNOWN"

    def about_table(self) -> list[AnyAction]:
        """What is said of the table itself."""
        return [one for one in (self.protocol, self.metadata, self.info) if one is not None]


def vector_of(action: Add | Remove) -> Vector:
    """The deletion vector of an action."""
    return None if action.deletion_vector is None else action.deletion_vector.unique_id


class LiveFiles:
    """The files of a table by full path, each with the deletion vector it is read with."""

    def __init__(self, vectors: Iterable[tuple[str, Vector]] = ()) -> None:
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
        kept = {path for path in meant & told.adds.keys() if told.adds[path] is not None}
        return meant - kept, kept

    def _ends(self, told: Told, path: str) -> bool:
        """Whether a version ends what is said of a live file. To remove it with a vector that it
        has no more changes nothing."""
        if path not in self.vectors:
            return False
        return path in told.adds or told.removes[path] == self.vectors[path]

    def apply(self, told: Told) -> None:
        """Go on to what a version says."""
        for path in self.changes(told)[0]:
            del self.vectors[path]
        self.vectors.update(told.adds)

    def agrees(self, told: Told) -> bool:
        """Whether the files are those after a version that was applied last."""
        if told.is_state:
            return told.adds == self.vectors
        removed = told.removes.items() - told.adds.items()
        return (
            self.vectors.items().isdisjoint(removed) and told.adds.items() <= self.vectors.items()
        )
