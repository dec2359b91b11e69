"""Layouts: names and types of the columns of a table, as some of its files store them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.files.paths import folder_value
from forklake.model.children import BY_STORED_VALUES, ColumnMapping, NameMapping
from forklake.model.entities import Table
from forklake.model.fields import Field, is_read_apart
from forklake.model.ids import ColumnId, SnapshotId
from forklake.model.scans import ScanFile


@dataclass(frozen=True, slots=True)
class Layout:
    """Names and types of columns in some files: the fields of the table as these files store them.

    `fields` has the columns that the files may have; `missing` those that they do not have;
    `folders` those that are not in the files but in the names of folders, each with its key;
    with `are_stored`, their values come from the metastore, not from folders.
    `tells_snapshots`: the snapshot ids in the files are ids of our catalog.
    """

    fields: tuple[Field, ...]
    missing: frozenset[ColumnId] = frozenset()
    folders: Mapping[ColumnId, str] = field(default_factory=dict)
    tells_snapshots: bool = True
    are_stored: bool = False

    @property
    def in_files(self) -> list[Field]:
        """Columns that are read from the files."""
        elsewhere = self.missing | self.folders.keys()
        return [one for one in self.fields if one.column_id not in elsewhere]


def mapped(layout: Layout, mapping: ColumnMapping, names: Iterable[NameMapping]) -> Layout:
    """Return the layout of files of other writers, whose column names are in a name mapping."""
    inside: dict[ColumnId, NameMapping] = {}
    folders: dict[ColumnId, str] = {}
    for one in names:
        if one.is_partition:
            folders[one.target_field_id] = one.source_name
        else:
            inside[one.target_field_id] = one

    def renamed(field: Field) -> Field:
        parts = tuple(renamed(part) for part in field.fields)
        source = inside.get(field.column_id)
        if source is None:
            return replace(field, fields=parts)
        held = source.source_type or field.type
        return replace(field, physical_name=source.source_name, type=held, fields=parts)

    missing = {one.column_id for one in layout.fields} - set(inside) - set(folders)
    fields = tuple(map(renamed, layout.fields))
    return Layout(
        fields,
        frozenset(missing),
        folders,
        tells_snapshots=False,
        are_stored=mapping.type == BY_STORED_VALUES,
    )


def folder_values(
    layout: Layout, seen: SnapshotReads, table: Table, files: Sequence[ScanFile]
) -> list[dict[ColumnId, str | None]]:
    """Return for each file the values, as text, of the columns that are not stored in it."""
    if not layout.are_stored:
        return [
            {column: folder_value(key, file.path) for column, key in layout.folders.items()}
            for file in files
        ]
    found = seen.values_by_column(table, (file.file for file in files))
    return [found.get(file.file.data_file_id, {}) for file in files]


def layout_at(fields: Sequence[Field], began: SnapshotId) -> tuple[Field, ...]:
    """Return the fields as Forklake stored them in files at a snapshot."""
    return tuple(_as_written(one, began) for one in fields)


def _as_written(one: Field, began: SnapshotId) -> Field:
    was = one.type_in(began)
    inside = tuple(_as_written(child, began) for child in one.fields)
    return replace(one, type=was if is_read_apart(was, one.type) else one.type, fields=inside)


def snapshots_read_apart(fields: Sequence[Field]) -> Iterator[SnapshotId]:
    """Yield the snapshots of type promotions before which files must be read separately."""
    for one in fields:
        yield from (at for at, was in one.promotions if is_read_apart(was, one.type))
        yield from snapshots_read_apart(one.fields)
