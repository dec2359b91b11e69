"""Files that others wrote become part of a table, where they are and as they are.

The commit holds their paths, what their footers say, and a mapping from their columns to those of
the table. A path below the table's own folder is kept relative, and the file is the lake's from
then on. Any other file stays its writer's: it is never removed, unless it was handed over.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from forklake.errors import InvalidInput
from forklake.files.contents import Node, read_contents
from forklake.files.finding import found_files
from forklake.files.footers import new_data_file
from forklake.files.paths import NO_VALUE
from forklake.files.systems import file_system, for_each_file, is_local
from forklake.maintenance.file_values import must_be_read, require_finite, require_values
from forklake.maintenance.foreign_types import require_fit, source_type
from forklake.model.fields import Field
from forklake.model.files import LINEAGE, ColumnBounds, MappedName, NewDataFile
from forklake.model.ids import ColumnId
from forklake.model.names import folded
from forklake.model.values import from_text, has_text, to_text
from forklake.spark.names import split_name
from forklake.spark.writing.partitions import IDENTITY, PartitionKey
from forklake.spark.writing.targets import Target

if TYPE_CHECKING:
    from forklake.spark.naming import TableName
    from forklake.spark.session import Session

# The values that a part of a date or time can have.
_PARTS = {"year": range(1, 10_000), "month": range(1, 13), "day": range(1, 32), "hour": range(24)}


@dataclass(frozen=True, slots=True)
class Rules:
    """What files may differ in from the table.

    Args:
        allow_missing: they may lack columns, which then show their defaults.
        ignore_extra_columns: they may have columns that the table has not.
        hive_partitioning: whether names of folders, `key=value`, tell values of columns. None:
            those of columns that are not in the file; True: also of those that are.
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
    """Make Parquet files part of a table; returns their paths.

    Args:
        paths: files, folders or patterns such as `s3://bucket/year=*/*.parquet`. A file that is
            named twice is added once.
        allow_missing, ignore_extra_columns, hive_partitioning: see `Rules`.
        take_ownership: the files are handed over, to be removed when nobody needs them any more.
    """
    named = [paths] if isinstance(paths, str) else list(paths)
    if not named:
        raise InvalidInput("No file was named that could be added.", remedy="Name one.")
    rules = Rules(allow_missing, ignore_extra_columns, hive_partitioning)
    place = _place(session, alias, table, schema)
    with session.changing(place.attachment) as change:
        found = session.find_table(change.transaction, place)
        target = Target(place.attachment, change.transaction.state, found)
        target.refuse_unchecked("with files")
        if target.is_encrypted:
            raise InvalidInput(
                f"The files of table '{place}' are encrypted, and those to add are not.",
                remedy="Insert their rows instead.",
            )
        files = list(dict.fromkeys(map(_canonical, found_files(named))))
        looks = for_each_file(lambda path: _Look(target, path, rules).described(), files)
        mappings = {
            names: change.transaction.add_name_mapping(found, names, is_owned=take_ownership)
            for names in dict.fromkeys(names for names, _ in looks)
        }
        new = [replace(file, mapping_id=mappings[names]) for names, file in looks]
        change.transaction.add_data_files(found, new)
    return files


def _place(
    session: Session, alias: str, table: str | Sequence[str], schema: str | None
) -> TableName:
    *before, name = split_name(table)
    if len(before) + (schema is not None) > 1:
        raise InvalidInput(
            f"The table {table!r} is given more than one schema.", remedy="Name the schema once."
        )
    inside = before[0] if before else schema or "main"
    return session.resolve((alias, inside, name))


def _canonical(path: str) -> str:
    """The one path under which a file is known."""
    return os.path.normpath(file_system(path)[1]) if is_local(path) else path


def _folder_keys(path: str) -> dict[str, tuple[str, str | None]]:
    """The keys in the names of folders, each as it is written, with its value."""
    parts = (part.partition("=") for part in path.split("/")[:-1] if "=" in part)
    return {
        folded(unquote(name)): (unquote(name), None if value == NO_VALUE else unquote(value))
        for name, _, value in parts
    }


# One file


@dataclass(slots=True)
class _Look:
    """A file, compared with the table that it is to be part of."""

    target: Target
    path: str
    rules: Rules
    names: list[MappedName] = field(default_factory=list)
    leaves: dict[str, Field] = field(default_factory=dict)  # of the footer, by path
    to_read: dict[str, Field] = field(default_factory=dict)  # whose values must be looked at
    from_folders: list[Field] = field(default_factory=list)
    keys: Mapping[str, tuple[str, str | None]] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = _folder_keys(self.path)

    def described(self) -> tuple[tuple[MappedName, ...], NewDataFile]:
        """How the columns are found in the file, and the file to add."""
        contents = read_contents(self.path)
        self._match_columns(contents.nodes)
        require_finite(self.path, contents.metadata, self.leaves)
        require_values(self.path, self.to_read)
        footer = contents.footer(self.leaves)
        constant = [self._constant(one, footer.record_count) for one in self.from_folders]
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
        there = self._by_name(nodes, "")
        for name in LINEAGE:
            if folded(name) in there:
                raise self._invalid(
                    f"has the column '{name}': the ids of rows of another lake",
                    "Import that lake, or insert the rows.",
                )
        asked = self.rules.hive_partitioning
        for one in self.target.fields:
            node = there.pop(folded(one.name), None)
            if folded(one.name) in self.keys and asked is not False and (asked or node is None):
                self.names.append(MappedName(self.keys[folded(one.name)][0], one.column_id, True))
                self.from_folders.append(one)
            elif node is not None:
                self._match(one, node, one.name, None)
            else:
                self._miss(one, one.name)
        if asked and not self.from_folders:
            raise self._invalid("has no folder that names a column", "Leave hive_partitioning out.")
        self._refuse_extra(there, "")

    def _match(self, one: Field, node: Node, name: str, parent: int | None) -> None:
        """Note a column and the parts of it; the names of elements, keys and values are no
        matter."""
        if bool(one.fields) != bool(node.nodes) or (one.fields and one.type != node.type):
            require_fit(self.path, name, node.type, one.type)
        position = len(self.names)
        if not one.fields:
            require_fit(self.path, name, node.type, one.type)
            read = source_type(node.type, one.type)
            self.names.append(MappedName(node.name, one.column_id, False, read, parent))
            self.leaves[node.path] = one
            if must_be_read(node.type, one.type):
                self.to_read[node.path] = one
            return
        self.names.append(MappedName(node.name, one.column_id, parent=parent))
        if one.type != "struct":
            for part, inner in zip(one.fields, node.nodes, strict=True):
                self._match(part, inner, f"{name}.{part.name}", position)
            return
        there = self._by_name(node.nodes, f"{name}.")
        if not there.keys() & {folded(part.name) for part in one.fields}:
            raise self._invalid(
                f"has none of the fields of '{name}'", "Write the file with one of them."
            )
        for part in one.fields:
            found = there.pop(folded(part.name), None)
            if found is not None:
                self._match(part, found, f"{name}.{part.name}", position)
            else:
                self._miss(part, f"{name}.{part.name}")
                # A name that is not in the file, where the column's own could be another's.
                absent = f"_ducklake_missing_{int(part.column_id)}"
                self.names.append(MappedName(absent, part.column_id, parent=position))
        self._refuse_extra(there, f"{name}.")

    def _by_name(self, nodes: Sequence[Node], prefix: str) -> dict[str, Node]:
        found = {folded(node.name): node for node in nodes}
        if len(found) < len(nodes):
            names = [folded(node.name) for node in nodes]
            twice = next(name for name in names if names.count(name) > 1)
            raise self._invalid(f"has the column '{prefix}{twice}' twice", "Rename one of them.")
        return found

    def _miss(self, one: Field, name: str) -> None:
        if not self.rules.allow_missing:
            raise self._invalid(
                f'lacks a column: column "{name}" exists in table'
                f" '{self.target.table.table_name}' and was not found in file",
                "Say allow_missing, and the column shows its default.",
            )
        if not one.nulls_allowed and one.initial_default is None:
            raise self._invalid(
                f"lacks the column '{name}', which may not be null", "Insert its rows instead."
            )

    def _refuse_extra(self, extra: Mapping[str, Node], prefix: str) -> None:
        if extra and not self.rules.ignore_extra_columns:
            name = prefix + next(iter(extra.values())).name
            raise self._invalid(
                f"has the column '{name}', which table '{self.target.table.table_name}' has not",
                "Say ignore_extra_columns, or add the column to the table.",
            )

    def _refuse_nulls(self, bounds: Mapping[ColumnId, ColumnBounds]) -> None:
        for one in self.target.fields:
            known = bounds.get(one.column_id)
            if not one.nulls_allowed and not one.fields and known and known.null_count != 0:
                raise self._invalid(
                    f"breaks the NOT NULL constraint of '{one.name}': it has nulls, or does not"
                    " tell that it has none",
                    "Insert its rows instead.",
                )

    # Folders

    def _constant(self, one: Field, rows: int) -> ColumnBounds:
        """What is known of a column whose value a folder tells."""
        text = self._value(one.name, one.type)
        is_nan = False if one.type.startswith("float") else None
        return ColumnBounds.of_constant(one.column_id, text, rows, contains_nan=is_nan)

    def _value(self, key: str, kind: str) -> str | None:
        """The value of a key as the text of a type."""
        _, text = self.keys[folded(key)]
        if text is None:
            return None
        value = to_text(kind, from_text(kind, text)) if has_text(kind) else None
        # Spark reads the text too, and knows one way only to write a moment.
        if value is None or (kind.startswith(("date", "time")) and value != text):
            raise self._invalid(
                f"is in a folder {key}={text}, which is no value of type {kind}",
                "Rename the folder, or leave the file out.",
            )
        return value

    def _partition_value(
        self, key: PartitionKey, bounds: Mapping[ColumnId, ColumnBounds]
    ) -> str | None:
        """The partition value that the path tells, if what is known of the rows does not differ."""
        if folded(key.folder) not in self.keys:
            raise self._wrong_partition(f"no folder is named {key.folder}=…")
        if key.transform == IDENTITY:
            value = self._value(key.folder, key.field.type)
        else:
            value = self._value(key.folder, "int64")
            if value is not None and int(value) not in _PARTS[key.transform]:
                raise self._wrong_partition(f"there is no {key.transform} {value}")
        known = bounds.get(key.field.column_id)
        for bound in (known.min_value, known.max_value) if known else ():
            if bound is not None and key.text_of(from_text(key.field.type, bound)) != value:
                raise self._wrong_partition(f"{key.folder} is {value}, and the file holds {bound}")
        return value

    # Errors

    def _wrong_partition(self, why: str) -> InvalidInput:
        return self._invalid(
            f"contains an invalid partition value for the table configuration: {why}",
            "Folders name all keys by which the table is partitioned.",
        )

    def _invalid(self, what: str, remedy: str) -> InvalidInput:
        return InvalidInput(f"The file {self.path!r} {what}.", remedy=remedy, path=self.path)
