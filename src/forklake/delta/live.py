"""Summary of a version of a Delta log, and the live files of the table after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from forklake.delta.actions import Add, AnyAction, CommitInfo, Metadata, Protocol, Remove
from forklake.delta.log.delta_log import LogVersion
from forklake.delta.log.paths import full_path

VectorId = str | None  # unique id of a deletion vector; None if the file has none


@dataclass(slots=True)
class VersionSummary:
    """Summary of the actions of one version.

    Of files only full paths and deletion vectors are kept, since there may be millions of them.
    With `is_state` it is the complete state at the version, otherwise the changes of the version.
    """

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    info: CommitInfo | None = None
    adds: dict[str, VectorId] = field(default_factory=dict)
    removes: dict[str, VectorId] = field(default_factory=dict)
    others: list[AnyAction] = field(default_factory=list)
    is_state: bool = False

    @classmethod
    def of(cls, version: LogVersion, location: str) -> VersionSummary:
        """Summarize a version of the table at a location."""
        summary = cls(is_state=version.is_state)
        for action in version.actions:
            summary.add(action, location)
        return summary

    def add(self, action: AnyAction, location: str) -> None:
        """Add one action of the version."""
        match action:
            case Add():
                self.adds[full_path(location, action.path)] = vector_id_of(action)
            case Remove():
                self.removes[full_path(location, action.path)] = vector_id_of(action)
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

    def table_actions(self) -> list[AnyAction]:
        """Return the actions on the table itself: protocol, metadata and commit info."""
        return [one for one in (self.protocol, self.metadata, self.info) if one is not None]


def vector_id_of(action: Add | Remove) -> VectorId:
    """Return the unique id of the deletion vector of an action, or None."""
    return None if action.deletion_vector is None else action.deletion_vector.unique_id


class LiveFiles:
    """The live files of a table by full path, each with the id of its deletion vector."""

    def __init__(self, vectors: Iterable[tuple[str, VectorId]] = ()) -> None:
        self.vectors = dict(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def find_changes(self, summary: VersionSummary) -> tuple[set[str], set[str]]:
        """Return the files that a version ends, and those that it keeps with other deleted rows.

        An add of a live file without a deletion vector replaces the file, so it counts as ended.
        """
        touched = summary.removes.keys() | summary.adds.keys()
        ended = {path for path in touched if self._is_ended(summary, path)}
        if summary.is_state:
            ended = set(self.vectors)
        kept = {path for path in ended & summary.adds.keys() if summary.adds[path] is not None}
        return ended - kept, kept

    def _is_ended(self, summary: VersionSummary, path: str) -> bool:
        """Return whether a version ends the current entry of a file.

        A remove with a deletion vector that the file no longer has changes nothing.
        """
        if path not in self.vectors:
            return False
        return path in summary.adds or summary.removes[path] == self.vectors[path]

    def apply(self, summary: VersionSummary) -> None:
        """Apply the changes of a version."""
        for path in self.find_changes(summary)[0]:
            del self.vectors[path]
        self.vectors.update(summary.adds)

    def matches(self, summary: VersionSummary) -> bool:
        """Return whether the files are those after this version, if it was the last one applied."""
        if summary.is_state:
            return summary.adds == self.vectors
        removed = summary.removes.items() - summary.adds.items()
        return (
            self.vectors.items().isdisjoint(removed)
            and summary.adds.items() <= self.vectors.items()
        )
