"""Comparison of expressions between DuckDB and a lake: values, types as shown, and errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from forklake import Session
from forklake.engines.spark.query_types import query_type
from forklake.errors import ForklakeError, Unsupported
from forklake.sql.dialect import parse
from forklake.sql.translate import to_spark
from tests.sql.comparing import rows_of, same
from tests.sql.random_expressions import ROWS, Expression

REFUSED_OFTEN = 3  # then the signature is not tried again
_WHOLE_TABLE = ("aggregate", "window")
_FAILURES = (ForklakeError, PySparkException, Py4JError)
# Refusals by name, as opposed to accidental errors.
_REFUSALS = ("does not take", "not supported in the DuckDB dialect")


@dataclass(frozen=True)
class Difference:
    """An expression with two results. The sort is value, type, no error or no answer."""

    sort: str
    expression: Expression
    shown: str

    def __str__(self) -> str:
        return f"{self.sort}: {self.expression.text}\n    {self.shown}"


@dataclass
class Report:
    """Compared, refused and differing expressions; `same` ignores the width of numbers."""

    compared: set[str] = field(default_factory=set)
    same: list[Expression] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    statements: int = 0


@dataclass(frozen=True)
class _Task:
    """An expression with the rows for which DuckDB raises an error."""

    expression: Expression
    failing: tuple[int, ...] = ()

    @property
    def guarded(self) -> str:
        text = self.expression.text
        if not self.failing:
            return text
        return f"CASE WHEN id NOT IN ({', '.join(map(str, self.failing))}) THEN {text} END"


class Comparison:
    """Both engines over the same table."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, lake: Session) -> None:
        self._duckdb = connection
        self._lake = lake
        self.report = Report()
        self._errors_left = 0

    def compare(self, expressions: Iterable[Expression], *, errors: int = 1000) -> None:
        """Compare expressions of one family; check at most `errors` expected errors, one by one."""
        self._errors_left = errors
        tasks = [self._task(one) for one in expressions if not self._is_refused(one)]
        self._compare_together([one for one in tasks if len(one.failing) < ROWS])
        for task in [one for one in tasks if one.failing]:
            self._expect_error(task.expression, _error_query(task))

    def _is_refused(self, one: Expression) -> bool:
        try:
            to_spark(parse(f"SELECT {one.text} AS c FROM x")[0], columns_of=lambda _: ["x"])
        except Unsupported:
            self.report.refused[one.signature] += 1
            return True
        except ForklakeError as reason:
            self._differ("no answer", one, f"{type(reason).__name__}: {reason}")
            return True
        return False

    def _task(self, one: Expression) -> _Task:
        if self._error(_query([_Task(one)])) == "":
            return _Task(one)
        if one.family in _WHOLE_TABLE:
            return _Task(one, tuple(range(ROWS)))
        query = f"SELECT {one.text} FROM x WHERE id = "
        return _Task(one, tuple(row for row in range(1, ROWS + 1) if self._error(f"{query}{row}")))

    def _error(self, query: str) -> str:
        """Return the error of DuckDB, or "" if it answers."""
        try:
            self._duckdb.execute(query).to_arrow_table()
        except duckdb.Error as reason:
            return str(reason).split("\n", 1)[0]
        return ""

    def _compare_together(self, tasks: Sequence[_Task]) -> None:
        if not tasks:
            return
        query = _query(tasks)
        try:
            expected = self._duckdb.execute(query).to_arrow_table()
        except duckdb.Error:
            # For example a sum that overflows only in some orders of its rows.
            self._compare_halves(tasks)
            return
        self.report.statements += 1
        try:
            frame = self._lake.execute(query)
            assert isinstance(frame.data, DataFrame)
            types = [query_type(one) for one in frame.data.schema][1:]
            answer = frame.arrow()
        except _FAILURES as reason:
            if len(tasks) == 1:
                self._note_failure(tasks[0].expression, f"{type(reason).__name__}: {reason}")
            self._compare_halves(tasks)
            return
        self._compare_columns([one.expression for one in tasks], expected, answer, types)

    def _compare_halves(self, tasks: Sequence[_Task]) -> None:
        middle = len(tasks) // 2
        if middle:
            self._compare_together(tasks[:middle])
            self._compare_together(tasks[middle:])

    def _note_failure(self, one: Expression, stated: str) -> None:
        if any(words in stated for words in _REFUSALS):
            self.report.refused[one.signature] += REFUSED_OFTEN  # found by halving: not again
        else:
            self._differ("no answer", one, stated[:800])

    def _expect_error(self, one: Expression, query: str) -> None:
        """Check that the lake raises an error where DuckDB does."""
        if self._errors_left == 0:
            return
        self._errors_left -= 1
        self.report.compared.add(one.text)
        self.report.statements += 1
        try:
            found = rows_of(self._lake.execute(query).arrow())
        except _FAILURES:
            return
        self._differ("no error", one, f"DuckDB: {self._error(query)}; lake: {found}")

    def _compare_columns(
        self, ones: Sequence[Expression], expected: pa.Table, answer: pa.Table, types: Sequence[str]
    ) -> None:
        left, right = rows_of(expected), rows_of(answer)
        for n, (one, type) in enumerate(zip(ones, types, strict=True), 1):
            self.report.compared.add(one.text)
            pairs = [(a[0], a[n], b[n]) for a, b in zip(left, right, strict=True)]
            wrong = [pair for pair in pairs if not same(pair[1], pair[2])]
            if wrong:
                shown = "; ".join(f"{key}: {a!r} | {b!r}" for key, a, b in wrong[:3])
                self._differ("value", one, f"{one.type} | {type}, {len(wrong)} rows: {shown}")
            elif shown_type(one.type) != shown_type(type):
                self._differ("type", one, f"{one.type} | {type}")
            elif one.type == type:
                self.report.same.append(one)

    def _differ(self, sort: str, one: Expression, shown: str) -> None:
        self.report.compared.add(one.text)
        self.report.differences.append(Difference(sort, one, shown))


def _query(tasks: Sequence[_Task]) -> str:
    columns = ", ".join(f"{task.guarded} AS c{n}" for n, task in enumerate(tasks))
    if tasks[0].expression.family == "aggregate":
        return f"SELECT g AS k, {columns} FROM x GROUP BY g ORDER BY g NULLS LAST"
    return f"SELECT id AS k, {columns} FROM x ORDER BY id"


def _error_query(task: _Task) -> str:
    if task.expression.family in _WHOLE_TABLE:
        return _query([_Task(task.expression)])
    return f"SELECT {task.expression.text} AS c0 FROM x WHERE id = {task.failing[0]}"


_WHOLE = re.compile(r"\bU?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\b|DECIMAL\(\d+, ?0\)")
_HELD_BY = {"UUID": "VARCHAR", '"key"': "key", '"value"': "value"}


def shown_type(name: str) -> str:
    """Return a type without the widths of numbers, and with Spark replacements of other types."""
    name = re.sub(r"DECIMAL\(\d+, ?(\d+)\)", r"DECIMAL(\1)", _WHOLE.sub("WHOLE", name))
    for held, holder in _HELD_BY.items():
        name = name.replace(held, holder)
    return name
