"""Listing of the files of a Delta log by name. Files with other names are ignored."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from forklake.files.systems import Listed, list_files

_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(
    r"(?P<version>\d{20})\.checkpoint(\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.[\da-f-]{36})?"
    r"\.(parquet|(?<=[\da-f]{12}\.)json)"
)
_SIDECARS = "_sidecars/"


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """A complete checkpoint."""

    version: int
    files: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The files in the folder of a log."""

    commits: dict[int, Listed] = field(default_factory=dict)
    checkpoints: dict[int, tuple[CheckpointFiles, ...]] = field(default_factory=dict)
    sidecars: dict[str, Listed] = field(default_factory=dict)

    @property
    def latest(self) -> int:
        """The newest version of all files, or -1."""
        return max((*self.commits, *self.checkpoints), default=-1)


def list_log(folder: str) -> LogFiles:
    """List the files of the log in a folder."""
    found = {file.path[len(folder) + 1 :]: file for file in list_files(folder)}
    return LogFiles(
        {int(match[1]): found[name] for name in found if (match := _COMMIT.fullmatch(name))},
        _group_checkpoints(found),
        {name[len(_SIDECARS) :]: found[name] for name in found if name.startswith(_SIDECARS)},
    )


def _group_checkpoints(found: dict[str, Listed]) -> dict[int, tuple[CheckpointFiles, ...]]:
    grouped: dict[int, list[CheckpointFiles]] = defaultdict(list)
    for checkpoint in _find_complete(found):
        grouped[checkpoint.version].append(checkpoint)
    return {version: tuple(those) for version, those in grouped.items()}


def _find_complete(found: dict[str, Listed]) -> Iterator[CheckpointFiles]:
    """Yield all checkpoints, without those of which a part is missing."""
    parts: dict[tuple[int, int], dict[int, Listed]] = defaultdict(dict)
    for name, file in found.items():
        if match := _CHECKPOINT.fullmatch(name):
            version = int(match["version"])
            if match["parts"] is None:
                yield CheckpointFiles(version, (file,))
            else:
                parts[version, int(match["parts"])][int(match["part"])] = file
    for (version, count), those in parts.items():
        if set(those) == set(range(1, count + 1)):
            yield CheckpointFiles(version, tuple(those.values()))
