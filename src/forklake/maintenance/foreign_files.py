"""Register Parquet files of other programs as data files of a table, without copying them.

The commit stores their paths, the statistics of their footers, and a mapping from their columns to
the columns of the table. A path below the folder of the table is stored relative, and the lake then
owns the file. Any other file is never deleted, unless the caller hands over ownership.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from forklake.engines.partitions import IDENTITY, PartitionKey
from forklake.engines.targets import Target
from forklake.errors import InvalidInput
from forklake.files.contents import Node, read_contents
from forklake.files.file_search import found_files
from forklake.files.footers import new_data_file
from forklake.files.paths import NO_VALUE
from forklake.files.systems import file_system, for_each_file, is_local
from forklake.maintenance.file_values import needs_value_check, require_finite, require_values
from forklake.maintenance.foreign_types import require_fit, source_type
from forklake.model.fields import Field
from forklake.model.files import LINEAGE, ColumnBounds, MappedName, NewDataFile
from forklake.model.ids import ColumnId
from forklake.model.names import folded
from forklake.model.values import from_text, has_text, to_text
from forklake.session.names import split_name

if TYPE_CHECKING:
    from forklake.session.name_resolution import TableName
    from forklake.session.session import Session

# Valid values of the parts of a date or time.
_PARTS = {"year": range(1, 10_000), "month": range(1, 13), "day": range(1, 32), "hour": range(24)}


@dataclass(frozen=True, slots=True)
class AllowedDifferences:
    """Allowed differences between the files and the table.

    Args:
        allow_missing: files may lack columns, which then have their defaults.
        ignore_extra_columns: files may have columns that the table does not have.
        hive_partitioning: whether folder names `key=value` give values of columns. None: only of
            columns that are not in the file; True: also of columns that are in the file.
    """

    allow_missing: bool = False
    ignore_extra_columns: bool = False
    hive_partitioning: bool | None = None


def add_data_files(
    session: Session,
    alias: str,
    table: str | Sequence[str],
    paths: str | Sequence[str],
    schema: str | None = None,
    *,
    allow_missing: bool = False,
    ignore_extra_columns: bool = False,
    hive_partitioning: bool | None = None,
    take_ownership: bool = False,
) -> list[str]:
    """Add Parquet files to a table, and return their paths.

    Args:
        paths: files, folders or patterns such as `s3://bucket/year=*/*.parquet`. A file that is
            named twice is added once.
        allow_missing, ignore_extra_columns, hive_partitioning: see `AllowedDifferences`.
        take_ownership: the lake owns the files, and deletes them when no snapshot needs them.
    """
    patterns = [paths] if isinstance(paths, str) else list(paths)
    if not patterns:
        raise InvalidInput(
            "No file to add was given.", remedy="Pass at least one file, folder or pattern."
        )
    allowed = AllowedDifferences(allow_missing, ignore_extra_columns, hive_partitioning)
    place = _resolve_table(session, alias, table, schema)
    with session.changing(place.attachment) as change:
        found = session.find_table(change.transaction, place)
        target = Target(place.attachment, change.transaction.state, found)
        target.refuse_unchecked("with files")
        if target.is_encrypted:
            raise InvalidInput(
                f"Cannot add files to table '{place}': its files are encrypted, and the files to"
                " add are not.",
                remedy="Insert the rows of the files with INSERT INTO … SELECT.",
            )
        files = list(dict.fromkeys(map(_canonical_path, found_files(patterns))))
        matches = for_each_file(lambda path: _FileMatch(target, path, allowed).match(), files)
        mappings = {
            names: change.transaction.add_name_mapping(found, names, is_owned=take_ownership)
            for names in dict.fromkeys(names for names, _ in matches)
        }
        new = [replace(file, mapping_id=mappings[names]) for names, file in matches]
        change.transaction.add_data_files(found, new)
    return files


def _resolve_table(
    session: Session, alias: str, table: str | Sequence[str], schema: str | None
) -> TableName:
    *before, name = split_name(table)
    if len(before) + (schema is not None) > 1:
        raise InvalidInput(
            f"The table {table!r} is given more than one schema.",
            remedy="Name the schema once: as `schema.table`, or with the parameter `schema`.",
        )
    inside = before[0] if before else schema or "main"
    return session.resolve((alias, inside, name))


def _canonical_path(path: str) -> str:
    """Return the unique form of a path, so that a file that is named twice is added once."""
    return os.path.normpath(file_system(path)[1]) if is_local(path) else path


def _folder_keys(path: str) -> dict[str, tuple[str, str | None]]:
    """Return the keys of `key=value` folders: folded name -> (name as written, value)."""
    parts = (part.partition("=") for part in path.split("/")[:-1] if "=" in part)
    return {
        folded(unquote(name)): (unquote(name), None if value == NO_VALUE else unquote(value))
        for name, _, value in parts
    }


# One file


@dataclass(slots=True)
class _FileMatch:
    """Comparison of one file with the table that it is added to."""

    target: Target
    path: str
    allowed: AllowedDifferences
    names: list[MappedName] = field(default_factory=list)
    leaves: dict[str, Field] = field(default_factory=dict)  # of the footer, by path
    to_read: dict[str, Field] = field(default_factory=dict)  # columns whose values must be checked
    folder_columns: list[Field] = field(default_factory=list)
    keys: Mapping[str, tuple[str, str | None]] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = _folder_keys(self.path)

    def match(self) -> tuple[tuple[MappedName, ...], NewDataFile]:
        """Return the name mapping of the file, and the file. Raise InvalidInput on a mismatch."""
        contents = read_contents(self.path)
        self._match_columns(contents.nodes)
        require_finite(self.path, contents.metadata, self.leaves)
        require_values(self.path, self.to_read)
        footer = contents.footer(self.leaves)
        constant = [self._constant_bounds(one, footer.record_count) for one in self.folder_columns]
        footer = replace(footer, bounds=(*footer.bounds, *constant))
        bounds = {one.column_id: one for one in footer.bounds}
        self._refuse_nulls(bounds)
        is_inside = self.path.startswith(self.target.folder)
        file = new_data_file(
            footer,
            path=self.target.stored(self.path) if is_inside else self.path,
            path_is_relative=is_inside,
        )
        partitioning = self.target.partitioning
        if partitioning is None:
            return tuple(self.names), file
        values = tuple(self._partition_value(key, bounds) for key in partitioning.keys)
        return tuple(self.names), replace(
            file, partition_id=partitioning.partition_id, partition_values=values
        )

    # Columns

    def _match_columns(self, nodes: Sequence[Node]) -> None:
        nodes_by_name = self._nodes_by_name(nodes, "")
        for name in LINEAGE:
            if folded(name) in nodes_by_name:
                raise self._invalid(
                    f"has the column '{name}', which holds row ids of another lake",
                    "Import that lake with `forklake import-ducklake`, or insert the rows.",
                )
        hive = self.allowed.hive_partitioning
        for one in self.target.fields:
            node = nodes_by_name.pop(folded(one.name), None)
            if folded(one.name) in self.keys and hive is not False and (hive or node is None):
                self.names.append(MappedName(self.keys[folded(one.name)][0], one.column_id, True))
                self.folder_columns.append(one)
            elif node is not None:
                self._match_column(one, node, one.name, None)
            else:
                self._accept_missing(one, one.name)
        if hive and not self.folder_columns:
            raise self._invalid(
                "is not in a folder `key=value` whose key is a column of the table",
                "Remove hive_partitioning.",
            )
        self._refuse_extra(nodes_by_name, "")

    def _match_column(self, one: Field, node: Node, name: str, parent: int | None) -> None:
        """Map a column and its nested fields; names of list elements, keys, values may differ."""
        if bool(one.fields) != bool(node.nodes) or (one.fields and one.type != node.type):
            require_fit(self.path, name, node.type, one.type)
        position = len(self.names)
        if not one.fields:
            require_fit(self.path, name, node.type, one.type)
            read = source_type(node.type, one.type)
            self.names.append(MappedName(node.name, one.column_id, False, read, parent))
            self.leaves[node.path] = one
            if needs_value_check(node.type, one.type):
                self.to_read[node.path] = one
            return
        self.names.append(MappedName(node.name, one.column_id, parent=parent))
        if one.type != "struct":
            for part, inner in zip(one.fields, node.nodes, strict=True):
                self._match_column(part, inner, f"{name}.{part.name}", position)
            return
        nodes_by_name = self._nodes_by_name(node.nodes, f"{name}.")
        if not nodes_by_name.keys() & {folded(part.name) for part in one.fields}:
            raise self._invalid(
                f"has none of the fields of '{name}'",
                "Write the file with at least one of these fields.",
            )
        for part in one.fields:
            found = nodes_by_name.pop(folded(part.name), None)
            if found is not None:
                self._match_column(part, found, f"{name}.{part.name}", position)
            else:
                self._accept_missing(part, f"{name}.{part.name}")
                # Map it to a name that is not in the file: the name of the field itself could be
                # another column of the file.
                absent = f"_ducklake_missing_{int(part.column_id)}"
                self.names.append(MappedName(absent, part.column_id, parent=position))
        self._refuse_extra(nodes_by_name, f"{name}.")

    def _nodes_by_name(self, nodes: Sequence[Node], prefix: str) -> dict[str, Node]:
        found = {folded(node.name): node for node in nodes}
        if len(found) < len(nodes):
            names = [folded(node.name) for node in nodes]
            twice = next(name for name in names if names.count(name) > 1)
            raise self._invalid(f"has the column '{prefix}{twice}' twice", "Rename one of them.")
        return found

    def _accept_missing(self, one: Field, name: str) -> None:
        if not self.allowed.allow_missing:
            raise self._invalid(
                f'lacks a column: column "{name}" exists in table'
                f" '{self.target.table.table_name}' and was not found in file",
                "Pass allow_missing => true to fill the column with its default.",
            )
        if not one.nulls_allowed and one.initial_default is None:
            raise self._invalid(
                f"lacks the column '{name}', which is NOT NULL and has no default",
                "Insert its rows instead.",
            )

    def _refuse_extra(self, extra: Mapping[str, Node], prefix: str) -> None:
        if extra and not self.allowed.ignore_extra_columns:
            name = prefix + next(iter(extra.values())).name
            raise self._invalid(
                f"has the column '{name}', which is not in table '{self.target.table.table_name}'",
                "Pass ignore_extra_columns => true, or add the column to the table.",
            )

    def _refuse_nulls(self, bounds: Mapping[ColumnId, ColumnBounds]) -> None:
        for one in self.target.fields:
            known = bounds.get(one.column_id)
            if not one.nulls_allowed and not one.fields and known and known.null_count != 0:
                raise self._invalid(
                    f"violates the NOT NULL constraint of '{one.name}': it has nulls, or its footer"
                    " has no null count",
                    "Insert its rows instead.",
                )

    # Folders

    def _constant_bounds(self, one: Field, rows: int) -> ColumnBounds:
        """Return the statistics of a column whose value comes from a folder name."""
        text = self._folder_value(one.name, one.type)
        is_nan = False if one.type.startswith("float") else None
        return ColumnBounds.of_constant(one.column_id, text, rows, contains_nan=is_nan)

    def _folder_value(self, key: str, kind: str) -> str | None:
        """Return the value of a key in the canonical text of a type."""
        _, text = self.keys[folded(key)]
        if text is None:
            return None
        value = to_text(kind, from_text(kind, text)) if has_text(kind) else None
        # Spark also parses the text of the folder, and accepts only one format of dates and times.
        if value is None or (kind.startswith(("date", "time")) and value != text):
            raise self._invalid(
                f"is in a folder {key}={text}, which is not a valid value of type {kind}",
                "Rename the folder, or do not add the file.",
            )
        return value

    def _partition_value(
        self, key: PartitionKey, bounds: Mapping[ColumnId, ColumnBounds]
    ) -> str | None:
        """Return the partition value of the path, checked against the bounds of the column."""
        if folded(key.folder) not in self.keys:
            raise self._wrong_partition(f"no folder has a name {key.folder}=…")
        if key.transform == IDENTITY:
            value = self._folder_value(key.folder, key.field.type)
        else:
            value = self._folder_value(key.folder, "int64")
            if value is not None and int(value) not in _PARTS[key.transform]:
                raise self._wrong_partition(f"{value} is not a valid {key.transform}")
        known = bounds.get(key.field.column_id)
        for bound in (known.min_value, known.max_value) if known else ():
            if bound is not None and key.text_of(from_text(key.field.type, bound)) != value:
                raise self._wrong_partition(
                    f"the folder has {key.folder}={value}, but the file holds {bound}"
                )
        return value

    # Errors

    def _wrong_partition(self, why: str) -> InvalidInput:
        return self._invalid(
            f"contains an invalid partition value for the table configuration: {why}",
            "Put the file into folders that name every partition key of the table: `key=value`.",
        )

    def _invalid(self, what: str, remedy: str) -> InvalidInput:
        return InvalidInput(f"The file {self.path!r} {what}.", remedy=remedy, path=self.path)
