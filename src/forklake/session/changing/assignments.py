"""Values that UPDATE and MERGE INTO set, by column and by field of a struct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forklake.engines.assignments import Assignment, Assignments
from forklake.engines.targets import Target
from forklake.errors import InvalidInput
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.session.changing.inlined_evaluation import UNDECIDED, literal_value
from forklake.session.names import perhaps, split_name


def parse_update(assignments: Assignments, target: Target) -> dict[str, Assignment]:
    """Return the assignments of an UPDATE by folded column name.

    Keys are columns, or fields of structs: `s.x`.
    """
    table = target.table.table_name
    if not assignments:
        raise InvalidInput(
            f"The UPDATE of table '{table}' sets no column.",
            remedy="Assign a value to at least one column.",
        )
    root = Assignment()
    for name, value in assignments.items():
        node = root
        for one in _path(name, target.fields, table):
            if node.value is not None:
                raise _duplicate_error(name, table)
            node = node.inside.setdefault(folded(one.name), Assignment())
        if node.value is not None or node.inside:
            raise _duplicate_error(name, table)
        node.value = value
    return root.inside


def parse_insert(values: Assignments, target: Target) -> dict[str, Assignment]:
    """Return the values of an INSERT clause by folded column name."""
    table = target.table.table_name
    given: dict[str, Assignment] = {}
    for name, value in values.items():
        (column,) = _path(name, target.fields, table, deepest=1)
        if folded(column.name) in given:
            raise _duplicate_error(name, table)
        given[folded(column.name)] = Assignment(value)
    return given


def literal_values(target: Target, assigned: Mapping[str, Assignment]) -> dict[str, Any] | None:
    """Return the values of columns set to literals; None if computing them needs an engine."""
    given: dict[str, Any] = {}
    for name, node in assigned.items():
        (column,) = (one for one in target.fields if folded(one.name) == name)
        value = literal_value(node.value, column) if isinstance(node.value, str) else UNDECIDED
        if value is UNDECIDED:
            return None
        given[column.name] = value
    return given


def _path(
    name: str, fields: Sequence[Field], table: str, *, deepest: int | None = None
) -> Iterator[Field]:
    """Yield the column, and the fields inside it, along the path of a name."""
    parts = split_name(name)
    within: Sequence[Field] = fields
    for part in parts[:deepest]:
        found = next((one for one in within if folded(one.name) == folded(part)), None)
        if found is None or len(parts) > (deepest or len(parts)):
            raise InvalidInput(
                f"Table '{table}' has no column '{'.'.join(parts)}'.",
                remedy=perhaps(part, [one.name for one in within], what="columns"),
            )
        yield found
        within = found.fields if found.type == "struct" else ()


def _duplicate_error(name: str, table: str) -> InvalidInput:
    return InvalidInput(
        f"The column '{'.'.join(split_name(name))}' of table '{table}' is set twice.",
        remedy="Set each column once.",
    )
