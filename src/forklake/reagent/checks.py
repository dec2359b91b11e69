"""Checks of rows, implemented as queries that count violations."""

from __future__ import annotations

from collections.abc import Sequence

from forklake.errors import InvalidInput
from forklake.model.figures import counted
from forklake.model.names import quoted
from forklake.reagent.places import Worker
from forklake.reagent.prepared_tasks import PreparedTask, strip_statement
from forklake.reagent.reports import CheckResult
from forklake.reagent.workbooks import Check, Value
from forklake.sql.parameters import literal_of


def run_checks(worker: Worker, task: PreparedTask) -> list[CheckResult]:
    """Run the checks of a worktask and return their results."""
    return [_run_check(worker, task, check) for check in task.checks]


def require_passed(task: str, results: Sequence[CheckResult]) -> None:
    """Raise InvalidInput if a check failed that is not a warning."""
    failed = [one for one in results if not one.passed and not one.warn]
    if failed:
        details = "; ".join(f"{one.name} ({one.found})" for one in failed)
        raise InvalidInput(
            f"{counted(len(failed), 'check')} of task '{task}' failed: {details}.",
            remedy="Correct the rows that the task writes, or the check.",
        )


def _run_check(worker: Worker, task: PreparedTask, check: Check) -> CheckResult:
    table = check.table or (task.output.table if task.output is not None else "")
    words, rows = describe_check(check, table)
    query = f"SELECT count(*) AS n FROM {rows} AS found"
    answer = worker.execute(query, task.parameters_of(query))[-1]
    number = int(answer.arrow()["n"][0].as_py())
    passed = check.row_count.allows(number) if check.row_count is not None else number == 0
    name = check.name or (words if check.sql is not None else f"{table}: {words}")
    return CheckResult(name, passed, f"{counted(number, 'row')} found", check.warn)


def describe_check(check: Check, table: str) -> tuple[str, str]:
    """Return a description of a check and a relation of the rows that it counts.

    These are the rows that violate it; for `row_count`, they are all rows.
    """
    if check.sql is not None:
        return "the query finds no rows", f"({strip_statement(check.sql)})"
    rows = f"(SELECT * FROM {table} WHERE {strip_statement(check.where)})" if check.where else table
    if check.row_count is not None:
        return f"{check.row_count} rows", rows
    if check.not_null is not None:
        wrong = " OR ".join(f"{quoted(one)} IS NULL" for one in check.not_null)
        return f"{', '.join(check.not_null)} not null", _select_where(rows, wrong)
    if check.unique is not None:
        key = ", ".join(map(quoted, check.unique))
        twice = f"(SELECT {key} FROM {rows} AS r GROUP BY {key} HAVING count(*) > 1)"
        return f"{', '.join(check.unique)} unique", twice
    assert check.accepted is not None
    wrong = " OR ".join(
        f"{quoted(name)} NOT IN ({_join_literals(values)})"
        for name, values in check.accepted.items()
    )
    return f"{', '.join(check.accepted)} among the accepted values", _select_where(rows, wrong)


def _select_where(rows: str, condition: str) -> str:
    return f"(SELECT 1 AS wrong FROM {rows} AS r WHERE {condition})"


def _join_literals(values: Sequence[Value]) -> str:
    return ", ".join(literal_of(one).sql("duckdb") for one in values)
