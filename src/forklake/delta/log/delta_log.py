"""A Delta log: its versions in order, each with its actions.

A version is read from its commit file. Where commits are missing, because the log was cleaned up, a
checkpoint bridges the gap: it provides the complete state at its version, and reading continues
after it. A gap without such a checkpoint is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from forklake.delta.actions import AnyAction, CommitInfo, Metadata
from forklake.delta.log.checkpoints import StateActions, read_state, require_facts
from forklake.delta.log.commits import JsonActions
from forklake.delta.log.log_files import LogFiles, list_log
from forklake.errors import Corruption, NotFound
from forklake.files.systems import Listed, file_system, is_local

_SMALL = 1 << 22  # maximum bytes of a commit that is kept in memory; larger ones are streamed


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a table, whose actions can be iterated more than once.

    With `is_state` the actions are the complete state at the version, otherwise its changes.
    """

    number: int
    timestamp_ms: int
    commit_info: CommitInfo | None
    actions: Iterable[AnyAction]
    is_state: bool = False


class DeltaLog:
    """The log of the table at a location, as of the last listing."""

    def __init__(self, location: str) -> None:
        self.root = (file_system(location)[1] if is_local(location) else location).rstrip("/")
        self._files = LogFiles()

    def open(self) -> Self:
        """List the log. Call it again to see new versions. Raise NotFound if there is none."""
        self._files = list_log(f"{self.root}/_delta_log")
        if self._files.latest < 0:
            raise NotFound(
                f"{self.root!r} does not contain a Delta log.",
                remedy="Name the folder of a Delta table: the one that contains '_delta_log'.",
                location=self.root,
            )
        return self

    @property
    def latest_version(self) -> int:
        """The newest version."""
        return self._files.latest

    @property
    def first_version(self) -> int:
        """The oldest version whose state can be read."""
        return next(self._found(-1)).number

    def versions(self, after: int = -1, after_ms: int = -1) -> Iterator[Version]:
        """Yield the versions after `after`, in order, with strictly increasing timestamps.

        Args:
            after_ms: the timestamp of the version `after`.
        """
        latest = after_ms
        for version in self._found(after):
            latest = max(version.timestamp_ms, latest + 1)
            yield replace(version, timestamp_ms=latest)

    def _found(self, after: int) -> Iterator[Version]:
        position, latest = after, self._files.latest
        while position < latest:
            commit = self._files.commits.get(position + 1)
            if commit is None:
                found = self._state_beyond(position)
            else:
                found = _commit(commit, position + 1)
                if position < 0:  # old logs have no protocol, and can still be followed
                    require_facts({Metadata.kind}, found.actions, commit.path, found.number)
            yield found
            position = found.number

    def _state_beyond(self, position: int) -> Version:
        """Return the state after a gap: from the oldest checkpoint that later commits continue.

        Without later commits it is the newest checkpoint.
        """
        commits = [version for version in self._files.commits if version > position]
        first = min(commits) - 1 if commits else self._files.latest
        reasons = []
        for version in sorted(one for one in self._files.checkpoints if one >= first):
            for checkpoint in self._files.checkpoints[version]:
                try:
                    state = read_state(checkpoint, self._files)
                except Corruption as reason:
                    reasons.append(reason)
                else:
                    return self._state(state, checkpoint.files[0])
        raise _gap(self.root, position + 1, reasons)

    def _state(self, state: StateActions, file: Listed) -> Version:
        """Return a state with the time of its commit.

        If the commit is missing, the time is just before the next commit: the modification time of
        the checkpoint is far too late if the log was copied.
        """
        own, following = (self._files.commits.get(state.version + step) for step in (0, 1))
        written = _written_ms(file)
        if own is not None:
            return replace(_commit(own, state.version), actions=state, is_state=True)
        if following is not None:
            written = min(written, _commit(following, state.version + 1).timestamp_ms - 1)
        return Version(state.version, written, None, state, is_state=True)


def _commit(file: Listed, version: int) -> Version:
    stream = JsonActions(file.path, version)
    actions = tuple(stream) if file.size <= _SMALL else stream
    info = next((one for one in actions if isinstance(one, CommitInfo)), None)
    return Version(version, _made_ms(info, file), info, actions)


def _made_ms(info: CommitInfo | None, file: Listed) -> int:
    """Return the time of a commit: from its commit info, or the modification time of its file."""
    said = (info.in_commit_timestamp, info.timestamp) if info else ()
    return next((one for one in said if one is not None), _written_ms(file))


def _written_ms(file: Listed) -> int:
    return 0 if file.modified is None else int(file.modified.timestamp() * 1000)


def _gap(root: str, version: int, reasons: list[Corruption]) -> Corruption:
    causes = " ".join(reason.message for reason in reasons)
    return Corruption(
        f"The Delta log at {root!r} has no commit of version {version}, and no usable checkpoint"
        f" after it. {causes}".strip(),
        remedy="Restore the missing file from a backup.",
        version=version,
    )
