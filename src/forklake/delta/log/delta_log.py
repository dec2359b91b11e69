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
from forklake.delta.log.checkpoints import StateActions, read_state, require_kinds
from forklake.delta.log.commits import JsonActions
from forklake.delta.log.log_files import LogFiles, list_log
from forklake.errors import Corruption, NotFound
from forklake.files.systems import Listed, file_system, is_local

_MOST_BYTES = 1 << 22  # maximum bytes of a commit that is kept in memory; larger ones are streamed


@dataclass(frozen=True, slots=True)
class LogVersion:
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
        return next(self._read_versions(-1)).number

    def versions(self, after: int = -1, after_ms: int = -1) -> Iterator[LogVersion]:
        """Yield the versions after `after`, in order, with strictly increasing timestamps.

        Args:
            after_ms: the timestamp of the version `after`.
        """
        latest = after_ms
        for version in self._read_versions(after):
            latest = max(version.timestamp_ms, latest + 1)
            yield replace(version, timestamp_ms=latest)

    def _read_versions(self, after: int) -> Iterator[LogVersion]:
        position, latest = after, self._files.latest
        while position < latest:
            commit = self._files.commits.get(position + 1)
            if commit is None:
                found = self._read_state_after_gap(position)
            else:
                found = _read_commit(commit, position + 1)
                if position < 0:  # old logs have no protocol, and can still be followed
                    require_kinds({Metadata.kind}, found.actions, commit.path, found.number)
            yield found
            position = found.number

    def _read_state_after_gap(self, position: int) -> LogVersion:
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
                    return self._to_version(state, checkpoint.files[0])
        raise _missing_commit(self.root, position + 1, reasons)

    def _to_version(self, state: StateActions, file: Listed) -> LogVersion:
        """Return a state with the time of its commit.

        If the commit is missing, the time is just before the next commit: the modification time of
        the checkpoint is far too late if the log was copied.
        """
        own, following = (self._files.commits.get(state.version + step) for step in (0, 1))
        written = _modified_ms(file)
        if own is not None:
            return replace(_read_commit(own, state.version), actions=state, is_state=True)
        if following is not None:
            written = min(written, _read_commit(following, state.version + 1).timestamp_ms - 1)
        return LogVersion(state.version, written, None, state, is_state=True)


def _read_commit(file: Listed, version: int) -> LogVersion:
    stream = JsonActions(file.path, version)
    actions = tuple(stream) if file.size <= _MOST_BYTES else stream
    info = next((one for one in actions if isinstance(one, CommitInfo)), None)
    return LogVersion(version, _commit_time_ms(info, file), info, actions)


def _commit_time_ms(info: CommitInfo | None, file: Listed) -> int:
    """Return the time of a commit: from its commit info, or the modification time of its file."""
    times = (info.in_commit_timestamp, info.timestamp) if info else ()
    return next((one for one in times if one is not None), _modified_ms(file))


def _modified_ms(file: Listed) -> int:
    return 0 if file.modified is None else int(file.modified.timestamp() * 1000)


def _missing_commit(root: str, version: int, reasons: list[Corruption]) -> Corruption:
    causes = " ".join(reason.message for reason in reasons)
    return Corruption(
        f"The Delta log at {root!r} has no commit of version {version}, and no usable checkpoint"
        f" after it. {causes}".strip(),
        remedy="Restore the missing file from a backup.",
        version=version,
    )
