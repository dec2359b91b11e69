"""Manifests and manifest lists, built in memory by pyiceberg and then written to the lake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import Final, NamedTuple

from pyiceberg.io import InputFile, OutputFile, OutputStream
from pyiceberg.manifest import (
    ManifestContent,
    ManifestEntry,
    ManifestFile,
    ManifestWriterV2,
    construct_partition_summaries,
    write_manifest_list,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

from forklake.errors import Unsupported
from forklake.files.conditional_put import put
from forklake.files.systems import exists, size

_CODEC: Final = "deflate"


class _KeptBytes(BytesIO):
    """A buffer whose content is still available after it was closed."""

    content = b""

    def close(self) -> None:
        self.content = self.getvalue()
        super().close()


class _BufferedOutput(OutputFile):
    """A file that is written to its location once it is complete."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._stream = _KeptBytes()

    def __len__(self) -> int:
        return len(self._stream.content)

    def exists(self) -> bool:
        return False

    def to_input_file(self) -> InputFile:
        raise Unsupported(
            "A manifest cannot be read while it is written.", remedy="Open its location instead."
        )

    def create(self, overwrite: bool = False) -> OutputStream:
        return self._stream

    def put(self) -> None:
        """Write the content to the location."""
        put(self.location, self._stream.content)


class _DeletesWriter(ManifestWriterV2):
    """Writer of delete manifests: pyiceberg only reads these."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class FileSummary(NamedTuple):
    """A file as a manifest list summarizes it: begin snapshot, row count and partition."""

    began: int
    rows: int
    partition: Record


def write_manifest(
    path: str,
    spec: PartitionSpec,
    schema: Schema,
    files: Sequence[FileSummary],
    entries: Callable[[], Iterable[ManifestEntry]],
    *,
    of_deletes: bool,
) -> ManifestFile:
    """Write a manifest of files with one partition spec, unless it exists, and describe it."""
    newest = max(file.began for file in files)
    if not exists(path):
        # Compute the entries first: if that fails inside the writer, the writer raises an error
        # about a missing entry that hides the cause.
        given = list(entries())
        output = _BufferedOutput(path)
        kind = _DeletesWriter if of_deletes else ManifestWriterV2
        with kind(spec, schema, output, newest, _CODEC) as writer:
            for entry in given:
                writer.add_entry(entry)
        output.put()
    return ManifestFile.from_args(
        manifest_path=path,
        manifest_length=size(path),
        partition_spec_id=spec.spec_id,
        content=ManifestContent.DELETES if of_deletes else ManifestContent.DATA,
        sequence_number=newest,
        min_sequence_number=min(file.began for file in files),
        added_snapshot_id=newest,
        added_files_count=0,
        existing_files_count=len(files),
        deleted_files_count=0,
        added_rows_count=0,
        existing_rows_count=sum(file.rows for file in files),
        deleted_rows_count=0,
        partitions=construct_partition_summaries(spec, schema, [one.partition for one in files]),
        key_metadata=None,
    )


def write_list(location: str, snapshot_id: int, manifests: Sequence[ManifestFile]) -> None:
    """Write the manifest list of a snapshot."""
    output = _BufferedOutput(location)
    with write_manifest_list(2, output, snapshot_id, None, snapshot_id, _CODEC) as writer:
        if manifests:
            writer.add_manifests(list(manifests))
    output.put()
