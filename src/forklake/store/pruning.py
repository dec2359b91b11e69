"""Pruning of files in the database: only files that may contain a wanted row are returned.

A predicate (see `model.predicates`) becomes a condition over the statistics of its columns, joined
to the files. Where a file has no bounds for a column, the value or the year by which it is
partitioned takes their place. Bounds are text; a bound that cannot be parsed keeps the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from forklake.model.ids import DataFileId
from forklake.model.kinds import DATA_FILE
from forklake.model.orders import Order, OrderKind
from forklake.model.predicates import (
    LONG_TEXT,
    AllOf,
    AnyOf,
    Anything,
    Differs,
    IsNotNull,
    IsNull,
    Question,
    Within,
)
from forklake.store.database import Connection, Dialect
from forklake.store.operations import Statement
from forklake.store.visibility import table_history

# For numbers that the database compares as doubles: the bound is relaxed by more than their error.
_DOUBLE_SLACK = Decimal("1e-12")
_DATES = {OrderKind.DATE, OrderKind.TIMESTAMP}
# Types with exact comparison, and regular expression operators of databases that have one.
_EXACT_TYPES = {
    "postgresql": "NUMERIC",
    "sqlite": "INTEGER",
    "duckdb": "HUGEINT",
    "mysql": "DECIMAL(65)",
}
_MATCHES = {"postgresql": "~", "mysql": "REGEXP"}


def pruned(
    files: Statement,
    columns: tuple[str, ...],
    predicate: Question,
    dialect: Dialect,
    *,
    are_few: bool = False,
) -> Statement:
    """Return the statement that selects those files that may match the predicate.

    `are_few`: the unfiltered statement selects few of the files of the table.
    """
    if predicate == Anything():
        return files
    pruning = _Pruning(dialect)
    condition = pruning.condition(predicate)
    facts = ", ".join(_facts(column, order) for column, order in pruning.columns.items())
    join = _look_up if are_few and dialect.name == "postgresql" else _join
    joins = " ".join(join(column) for column in pruning.columns)
    chosen = ", ".join(f"f.{column}" for column in columns)
    return Statement(
        f"SELECT {chosen} FROM (SELECT r.*, {facts} FROM ({files.sql}) r {joins}) f"
        f" WHERE {condition}",
        {**files.parameters, **pruning.parameters},
    )


def narrow_files(
    connection: Connection,
    parameters: Mapping[str, int],
    files: Sequence[DataFileId],
    predicate: Question,
) -> set[DataFileId]:
    """Return which of some data files of a table may match. They may have ended.

    The parameters are the catalog, the snapshot, and the table as scope.
    """
    among = connection.dialect.any_of("h.data_file_id", "files")
    text = table_history(DATA_FILE, connection.dialect, DATA_FILE.columns, where=among)
    every = Statement(text, {**parameters, "files": connection.dialect.array(files)})
    (rows,) = connection.run([pruned(every, ("data_file_id",), predicate, connection.dialect)])
    return {DataFileId(number) for (number,) in rows}


def _join(column: int) -> str:
    return (
        f"LEFT JOIN ducklake_file_column_stats s{column} ON s{column}.table_id = :scope"
        f" AND s{column}.column_id = {column} AND s{column}.data_file_id = r.data_file_id"
    )


def _look_up(column: int) -> str:
    """Return a join for few files: LIMIT keeps the planner from reading all statistics."""
    return (
        "LEFT JOIN LATERAL (SELECT * FROM ducklake_file_column_stats s WHERE s.table_id = :scope"
        f" AND s.column_id = {column} AND s.data_file_id = r.data_file_id LIMIT 1) s{column}"
        " ON TRUE"
    )


def _facts(column: int, order: Order | None) -> str:
    """Return the select list for a column's statistics in each file: counts, and bounds as text."""
    counts = ("null_count", "value_count", "contains_nan")
    facts = [f"s{column}.{name} AS {name}_{column}" for name in counts]
    if order is not None:
        last = "-12-31" if order.kind is OrderKind.DATE else "-12-31 23:59:59"
        facts += [
            f"{_stated(column, order, 'min_value', '-01-01')} AS least_{column}",
            f"{_stated(column, order, 'max_value', last)} AS greatest_{column}",
        ]
    return ", ".join(facts)


def _stated(column: int, order: Order, bound: str, in_year: str) -> str:
    found = [f"s{column}.{bound}", _partition_value(column, "identity")]
    if order.kind in _DATES:
        found.append(f"{_partition_value(column, 'year')} || '{in_year}'")
    return f"coalesce({', '.join(found)})"


@dataclass(slots=True)
class _Pruning:
    """Builder of a condition, with the columns and parameters that it needs."""

    dialect: Dialect
    columns: dict[int, Order | None] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    def condition(self, predicate: Question) -> str:
        match predicate:
            case AllOf(parts):
                return f"({' AND '.join(self.condition(part) for part in parts)})"
            case AnyOf(parts):
                return f"({' OR '.join(self.condition(part) for part in parts) or 'FALSE'})"
            case Anything():
                return "TRUE"
        column = int(predicate.column_id)
        self.columns[column] = self.columns.get(column)
        if isinstance(predicate, IsNull):
            return f"coalesce(f.null_count_{column} <> 0, TRUE)"
        some_value = f"coalesce(f.null_count_{column} <> f.value_count_{column}, TRUE)"
        if isinstance(predicate, IsNotNull):
            return some_value
        self.columns[column] = predicate.order
        compared = (
            self._differs(predicate) if isinstance(predicate, Differs) else self._within(predicate)
        )
        return f"({some_value} AND {compared})"

    def _parameter(self, value: Any) -> str:
        number, letters = len(self.parameters), ""
        while number or not letters:
            number, digit = divmod(number, 26)
            letters += chr(97 + digit)
        self.parameters[f"bound_{letters}"] = str(value)
        return f":bound_{letters}"

    def _within(self, predicate: Within) -> str:
        terms = []
        if predicate.high is not None:
            sign = "<" if predicate.excludes_high and self._is_exact(predicate.order) else "<="
            least = self._key(predicate.order, f"f.least_{predicate.column_id}")
            terms.append(
                f"coalesce({least} {sign} {self._bound(predicate.order, predicate.high, 1)}, TRUE)"
            )
        if predicate.low is not None:
            terms.append(self._reaches(predicate))
        return " AND ".join(terms)

    def _reaches(self, predicate: Within) -> str:
        order, stated = predicate.order, f"f.greatest_{predicate.column_id}"
        sign = ">" if predicate.excludes_low and self._is_exact(order) else ">="
        bound = self._bound(order, predicate.low, -1)
        reaches = [f"coalesce({self._key(order, stated)} {sign} {bound}, TRUE)"]
        if order.has_nan and predicate.high is None:
            reaches.append(f"coalesce(f.contains_nan_{predicate.column_id}, TRUE)")
        if order.is_text:
            length = f"length({stated})"
            reaches.append(f"({length} >= {LONG_TEXT} AND substr({bound}, 1, {length}) = {stated})")
        return f"({' OR '.join(reaches)})"

    def _differs(self, predicate: Differs) -> str:
        if not self._is_exact(predicate.order):
            return "TRUE"
        order, greatest = predicate.order, f"f.greatest_{predicate.column_id}"
        least = self._key(order, f"f.least_{predicate.column_id}")
        bound = self._bound(order, predicate.value, 0)
        is_one = f"{least} = {bound} AND {self._key(order, greatest)} = {bound}"
        if order.is_text:
            is_one += f" AND length({greatest}) < {LONG_TEXT}"
        return f"NOT coalesce({is_one}, FALSE)"

    # Bounds as comparable keys

    def _is_exact(self, order: Order) -> bool:
        return order.is_exact and not self._is_double(order)

    def _is_double(self, order: Order) -> bool:
        """Return whether the database compares such numbers as doubles."""
        match self.dialect.name:
            case "sqlite":
                return order.is_number and order.kind is not OrderKind.INTEGER
            case "duckdb" | "mysql":
                return order.kind in {OrderKind.DECIMAL, OrderKind.FLOAT}
        return False

    def _bound(self, order: Order, key: Any, direction: int) -> str:
        if not order.is_number:
            return self._parameter(key)
        if self._is_double(order):
            key += direction * abs(key) * _DOUBLE_SLACK
        elif order.is_integer:
            key = int(key)
        cast = "TRY_CAST" if self.dialect.name == "duckdb" else "CAST"
        return f"{cast}({self._parameter(key)} AS {self._number_type(order)})"

    def _number_type(self, order: Order) -> str:
        return "DOUBLE" if self._is_double(order) else _EXACT_TYPES[self.dialect.name]

    def _key(self, order: Order, text: str) -> str:
        if order.is_number:
            return self._number(order, text)
        if order.kind is OrderKind.TEXT:
            key = text
        elif order.kind is OrderKind.BOOLEAN:
            key = f"CASE WHEN {text} IN ('true', 'false') THEN {text} END"
        else:
            key = self._moment(order.kind, text)
        return f'({key}) COLLATE "C"' if self.dialect.name == "postgresql" else key

    def _number(self, order: Order, text: str) -> str:
        kind = self._number_type(order)
        match self.dialect.name:
            case "postgresql" | "mysql":
                shaped = f"{text} {_MATCHES[self.dialect.name]} '{_NUMBER}'"
                return f"CASE WHEN {shaped} THEN CAST({text} AS {kind}) END"
            case "duckdb" if kind == "DOUBLE":
                number = f"TRY_CAST({text} AS DOUBLE)"
                return f"CASE WHEN isfinite({number}) THEN {number} END"
            case "duckdb":
                return f"TRY_CAST({text} AS {kind})"
        signs = "0-9-" if kind == "INTEGER" else "0-9.eE+-"
        shaped = f"{text} GLOB '*[0-9]' AND {text} NOT GLOB '*[^{signs}]*'"
        return f"CASE WHEN {shaped} THEN CAST({text} AS {kind}) END"

    def _moment(self, kind: OrderKind, text: str) -> str:
        if kind is OrderKind.TIME:
            return f"CASE WHEN {self._has_shape(text, _TIME)} THEN substr({text}, 1, 8) END"
        if kind is OrderKind.DATE:
            shaped = f"{self._has_shape(text, _DATE)} AND length({text}) = 10"
            return f"CASE WHEN {shaped} THEN {text} END"
        is_utc = (
            f" AND (substr({text}, length({text}) - 2) = '+00'"
            f" OR substr({text}, length({text}) - 5) = '+00:00'"
            f" OR substr({text}, length({text})) = 'Z')"
            if kind is OrderKind.TIMESTAMP_UTC
            else ""
        )
        return (
            f"CASE WHEN {self._has_shape(text, _TIMESTAMP)}{is_utc}"
            f" THEN substr({text}, 1, 10) || ' ' || substr({text}, 12, 8)"
            f" WHEN {self._has_shape(text, _DATE)} AND length({text}) = 10"
            f" THEN {text} || ' 00:00:00' END"
        )

    def _has_shape(self, text: str, shape: str) -> str:
        matches = _MATCHES.get(self.dialect.name)
        return f"{text} {matches} '^{shape}'" if matches else f"{text} GLOB '{shape}*'"


_NUMBER = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,3})?$"
_DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_TIME = "[0-9][0-9]:[0-9][0-9]:[0-9][0-9]"
_TIMESTAMP = f"{_DATE}[ T]{_TIME}"


def _partition_value(column: int, transform: str) -> str:
    """Return the partition value of a column that all rows of a file share, as an expression."""
    return (
        "(SELECT min(p.partition_value) FROM ducklake_partition_column k"
        " JOIN ducklake_file_partition_value p ON p.table_id = :scope"
        " AND p.partition_key_index = k.partition_key_index AND p.data_file_id = r.data_file_id"
        f" WHERE k.partition_id = r.partition_id AND k.column_id = {column}"
        f" AND k.transform = '{transform}')"
    )
