"""Combination of several operations into one statement, for databases behind a network.

A small commit is a dozen statements of a few microseconds each. Sending, parsing and answering them
one by one costs several times that, most of it in the client. Writes that do not depend on each
other become one statement with a common table expression for each; reads become columns of one row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import count, groupby
from typing import Any

from forklake.store.operations import PARAMETER, Allocate, Insert, Operation, Statement, insert_text

# An INSERT of more rows than this is sent in bulk (COPY) instead.
BULK_ABOVE = 24
# More writes than this are sent one by one: planning them as one statement would cost more.
_JOINED_UP_TO = 48
_ALLOCATE = """
    SELECT ARRAY(SELECT nextval('ducklake_snapshot_id_seq') FROM generate_series(1, :snapshots)),
           ARRAY(SELECT nextval('ducklake_entity_id_seq') FROM generate_series(1, :entities)),
           ARRAY(SELECT nextval('ducklake_file_id_seq') FROM generate_series(1, :files)),
           (SELECT last_value + is_called::int FROM ducklake_entity_id_seq),
           (SELECT last_value + is_called::int FROM ducklake_file_id_seq),
           clock_timestamp()"""
ALLOCATED_COLUMNS = 6
Shape = str | tuple[str, tuple[str, ...], int, bool]


@dataclass(frozen=True, slots=True)
class Batch:
    """One statement that stands for several operations, or one operation to be sent in bulk."""

    operations: Sequence[Operation]
    text: str = ""
    parameters: Sequence[Any] = ()


def batched(operations: Sequence[Operation]) -> Iterator[Batch]:
    """Yield batches that do the same as `operations`, in the same order, in few statements."""
    for way, members in groupby(operations, key=_way):
        group = list(members)
        if way is _alone or (way is _writes and len(group) > _JOINED_UP_TO):
            yield from (way([operation]) for operation in group)
        else:
            yield way(group)


def _way(operation: Operation) -> Any:
    if isinstance(operation, Allocate) or (
        isinstance(operation, Statement) and operation.is_plain_read
    ):
        return _reads
    is_small = isinstance(operation, Insert) and len(operation.rows) <= BULK_ABOVE
    if is_small or (isinstance(operation, Statement) and operation.sql.startswith("UPDATE ")):
        return _writes
    return _alone


def _alone(group: Sequence[Operation]) -> Batch:
    (operation,) = group
    if isinstance(operation, Insert) and not operation.skips_existing:
        return Batch(group)
    return _build_batch(group, _one)


def _writes(group: Sequence[Operation]) -> Batch:
    return _build_batch(group, _with if len(group) > 1 else _one)


def _reads(group: Sequence[Operation]) -> Batch:
    if len(group) == 1:
        return _alone(group)
    # Allocate comes first: its columns stay as they are, each other read becomes one JSON column.
    ordered = sorted(group, key=lambda operation: not isinstance(operation, Allocate))
    return _build_batch(ordered, _columns)


def _build_batch(group: Sequence[Operation], form: Callable[[Sequence[str]], str]) -> Batch:
    shapes, parameters = zip(*map(_shape, group), strict=True)
    text, orders = _text(shapes, form)
    return Batch(group, text, _values(parameters, orders))


def _one(parts: Sequence[str]) -> str:
    return parts[0]


def _with(parts: Sequence[str]) -> str:
    named = ", ".join(f"w{number} AS ({part})" for number, part in enumerate(parts[:-1]))
    return f"WITH {named} {parts[-1]}"


def _columns(parts: Sequence[str]) -> str:
    has_ids = "nextval" in parts[0]
    first, others = (parts[0] + ",", parts[1:]) if has_ids else ("SELECT", parts)
    columns = [f"(SELECT coalesce(json_agg(r), '[]') FROM ({part}) r)" for part in others]
    return f"{first} {', '.join(columns)}"


def _shape(operation: Operation) -> tuple[Shape, Any]:
    """Return what the text of an operation depends on (the cache key), and its parameters."""
    if isinstance(operation, Statement):
        return operation.sql, operation.parameters
    if isinstance(operation, Allocate):
        return _ALLOCATE, asdict(operation)
    shape = (operation.table, operation.columns, len(operation.rows), operation.skips_existing)
    return shape, operation.rows


@lru_cache(maxsize=2048)
def _text(
    shapes: tuple[Shape, ...], form: Callable[[Sequence[str]], str]
) -> tuple[str, list[tuple[str, ...] | None]]:
    """Return the text for shapes, and for each the order in which it takes its parameters."""
    numbers = count(1)
    parts: list[str] = []
    orders: list[tuple[str, ...] | None] = []
    for shape in shapes:
        if isinstance(shape, str):
            parts.append(PARAMETER.sub(lambda _: f"${next(numbers)}", shape))
            orders.append(tuple(PARAMETER.findall(shape)))
        else:
            text = insert_text(shape, "?")
            parts.append(re.sub(r"\?", lambda _: f"${next(numbers)}", text))
            orders.append(None)
    return form(parts), orders


def as_batch(sql: str, parameters: Mapping[str, Any]) -> Batch:
    """Return a batch of a single statement."""
    return _build_batch([Statement(sql, parameters)], _one)


def _values(parameters: Sequence[Any], orders: Sequence[tuple[str, ...] | None]) -> list[Any]:
    values: list[Any] = []
    for given, order in zip(parameters, orders, strict=True):
        if order is None:
            for row in given:
                values.extend(row)
        else:
            values.extend(given[name] for name in order)
    return values
