"""Assignments: values that UPDATE and MERGE INTO set in the columns of a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forklake.engines.relations import Expression

Assignments = Mapping[str, Expression]


@dataclass(slots=True)
class Assignment:
    """Value assigned to a column, or assignments to fields inside it by folded name."""

    value: Expression | None = None
    inside: dict[str, Assignment] = field(default_factory=dict)

    @property
    def is_default(self) -> bool:
        """Whether the value is DEFAULT."""
        return self.value is not None and is_default(self.value)


def values_of(assigned: Mapping[str, Assignment]) -> Iterator[Expression]:
    """Yield all values that are assigned, also those of nested fields."""
    for node in assigned.values():
        if node.value is not None:
            yield node.value
        yield from values_of(node.inside)


def is_default(value: Expression) -> bool:
    """Return whether a value is the keyword DEFAULT."""
    return isinstance(value, str) and value.strip().upper() == "DEFAULT"
