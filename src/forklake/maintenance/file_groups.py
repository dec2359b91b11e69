"""Rules that decide which files of a table are compacted together. No I/O.

The files of a group become one file: they have one partition, and their total size is at most the
target size. The groups of a batch are written by one Spark task: they have different partitions,
by which the writer separates their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from forklake.model.ids import DataFileId, PartitionId
from forklake.model.scans import ScanFile

Partition = tuple[PartitionId | None, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of one partition that are merged into one, in the order in which they were added."""

    partition: Partition
    files: tuple[ScanFile, ...]

    @property
    def size(self) -> int:
        """Estimated bytes of their live rows."""
        return sum(map(estimate_live_bytes, self.files))

    @property
    def rows(self) -> int:
        """Number of their live rows."""
        return sum(one.live_rows for one in self.files)

    def rows_per_file(self, target: int) -> int:
        """Return the number of rows for each new file: all of them, if that is not too large."""
        return max(1, ceil(self.rows / max(1, ceil(self.size / target))))


Batch = tuple[FileGroup, ...]


def estimate_live_bytes(file: ScanFile) -> int:
    """Return the estimated bytes of the live rows of a file."""
    return ceil(file.file.content_bytes * file.live_rows / max(1, file.file.record_count))


def group_files(
    files: Iterable[ScanFile],
    values: Mapping[DataFileId, tuple[str | None, ...]],
    target: int,
    *,
    minimum: int = 1,
) -> list[FileGroup]:
    """Group files by partition, in groups of at least `minimum` files and at most `target` bytes.

    A file that exceeds the target size forms its own group.
    """
    parts: dict[Partition, list[ScanFile]] = {}
    for file in files:
        number, partition_id = file.file.data_file_id, file.file.partition_id
        parts.setdefault((partition_id, values.get(number, ())), []).append(file)
    return [
        FileGroup(partition, tuple(members))
        for partition, part in parts.items()
        for members in _fill_groups(part, target)
        if len(members) >= minimum
    ]


def _fill_groups(files: Sequence[ScanFile], target: int) -> Iterator[list[ScanFile]]:
    members: list[ScanFile] = []
    size = 0
    for file in files:
        if members and size + estimate_live_bytes(file) > target:
            yield members
            members, size = [], 0
        members.append(file)
        size += estimate_live_bytes(file)
    if members:
        yield members


def batch_groups(
    groups: Iterable[FileGroup], current: PartitionId | None, target: int
) -> Iterator[tuple[FileGroup, ...]]:
    """Combine groups into batches of at most `target` bytes, with at most one group per partition.

    Only groups of the current partitioning are combined: the writer can separate only these.
    """
    batch: list[FileGroup] = []
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
