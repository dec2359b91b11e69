"""Which files of a table are written anew together: values and rules, without I/O.

Files of one group become one file, so that they are of one partition and together no larger than
files are meant to be. Groups of one batch are written by one task: they differ in their partitions,
by which the writer tells their rows apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from forklake.model.ids import DataFileId, PartitionId
from forklake.model.scans import ScanFile

Partition = tuple[PartitionId | None, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one partition that become one, in the order in which they were added."""

    partition: Partition
    files: tuple[ScanFile, ...]

    @property
    def size(self) -> int:
        """The bytes that their rows take, as far as that is known."""
        return sum(map(live_bytes, self.files))

    @property
    def rows(self) -> int:
        """How many rows they have."""
        return sum(one.live_rows for one in self.files)

    def rows_per_file(self, target: int) -> int:
        """How many rows go to a file: all of them, unless that would be too large."""
        return max(1, ceil(self.rows / max(1, ceil(self.size / target))))


Batch = tuple[Group, ...]


def live_bytes(file: ScanFile) -> int:
    """The share of a file's bytes that rows which are not deleted have."""
    return ceil(file.file.content_bytes * file.live_rows / max(1, file.file.record_count))


def grouped(
    files: Iterable[ScanFile],
    values: Mapping[DataFileId, tuple[str | None, ...]],
    target: int,
    *,
    least: int = 1,
) -> list[Group]:
    """Files in groups of one partition, at least so many of them, each of no more than the target.

    A file that is larger by itself is alone.
    """
    parts: dict[Partition, list[ScanFile]] = {}
    for file in files:
        number, partition_id = file.file.data_file_id, file.file.partition_id
        parts.setdefault((partition_id, values.get(number, ())), []).append(file)
    return [
        Group(partition, tuple(members))
        for partition, part in parts.items()
        for members in _filled(part, target)
        if len(members) >= least
    ]


def _filled(files: Sequence[ScanFile], target: int) -> Iterator[list[ScanFile]]:
    members: list[ScanFile] = []
    size = 0
    for file in files:
        if members and size + live_bytes(file) > target:
            yield members
            members, size = [], 0
        members.append(file)
        size += live_bytes(file)
    if members:
        yield members


def batched(
    groups: Iterable[Group], current: PartitionId | None, target: int
) -> Iterator[tuple[Group, ...]]:
    """Groups to be written together: together no larger than one file, each of another partition.

    Only files of the current partitioning can be told apart by the writer.
    """
    batch: list[Group] = []
    for group in groups:
        is_current = current is not None and group.partition[0] == current
        if not is_current:
            yield (group,)
            continue
        is_full = sum(one.size for one in batch) + group.size > target
        if batch and (is_full or any(one.partition == group.partition for one in batch)):
            yield tuple(batch)
            batch = []
        batch.append(group)
    if batch:
        yield tuple(batch)
