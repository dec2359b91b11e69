"""Summary of a version of a Delta log, and the live files of the table after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, CommitInfo, Metadata, Protocol, Remove
from forklake.delta.log.delta_log import Version
from forklake.delta.log.paths import full_path

Vector = str | None  # unique id of a deletion vector; None if the file has none


@dataclass(slots=True)
class Told:
    """Summary of the actions of one version.

    Of files only full paths and deletion vectors are kept, since there may be millions of them.
    With `is_state` it is the complete state at the version, otherwise the changes of the version.
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
        """Summarize a version of the table at a location."""
        told = cls(is_state=version.is_state)
        for action in version.actions:
            told.note(action, location)
        return told

    def note(self, action: AnyAction, location: str) -> None:
        """Add one action of the version."""
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
        """The name of the operation in the log, or UNKNOWN."""
        return (self.info.operation if self.info else None) or "UNKNOWN"

    def about_table(self) -> list[AnyAction]:
        """Return the actions on the table itself: protocol, metadata and commit info."""
        return [one for one in (self.protocol, self.metadata, self.info) if one is not None]


def vector_of(action: Add | Remove) -> Vector:
    """Return the unique id of the deletion vector of an action, or None."""
    return None if action.deletion_vector is None else action.deletion_vector.unique_id


class LiveFiles:
    """The live files of a table by full path, each with the id of its deletion vector."""

    def __init__(self, vectors: Iterable[tuple[str, Vector]] = ()) -> None:
        self.vectors = dict(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def changes(self, told: Told) -> tuple[set[str], set[str]]:
        """Return the files that a version ends, and those that it keeps with other deleted rows.

        An add of a live file without a deletion vector replaces the file, so it counts as ended.
        """
        named = told.removes.keys() | told.adds.keys()
        meant = {path for path in named if self._ends(told, path)}
        if told.is_state:
            meant = set(self.vectors)
        kept = {path for path in meant & told.adds.keys() if told.adds[path] is not None}
        return meant - kept, kept

    def _ends(self, told: Told, path: str) -> bool:
        """Return whether a version ends the current entry of a file.

        A remove with a deletion vector that the file no longer has changes nothing.
        """
        if path not in self.vectors:
            return False
        return path in told.adds or told.removes[path] == self.vectors[path]

    def apply(self, told: Told) -> None:
        """Apply the changes of a version."""
        for path in self.changes(told)[0]:
            del self.vectors[path]
        self.vectors.update(told.adds)

    def agrees(self, told: Told) -> bool:
        """Return whether the files are those after this version, if it was the last one applied."""
        if told.is_state:
            return told.adds == self.vectors
        removed = told.removes.items() - told.adds.items()
        return (
            self.vectors.items().isdisjoint(removed) and told.adds.items() <= self.vectors.items()
        )
