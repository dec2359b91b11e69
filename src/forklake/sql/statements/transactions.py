"""BEGIN, COMMIT, ROLLBACK and CHECKPOINT."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from forklake import maintenance
from forklake.errors import InvalidInput, Unsupported
from forklake.sql.dialect import nodes
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session


def run_begin(session: Session, statement: exp.Transaction) -> Result:
    """Run BEGIN."""
    if statement.args.get("modes") or statement.this:
        raise Unsupported(
            "BEGIN takes no mode and no isolation level.",
            remedy="Write BEGIN. The isolation level is set before: SET isolation_level = '…'.",
        )
    session.begin()
    return Result.done("BEGIN")


def run_commit(session: Session, statement: exp.Commit) -> Result:
    """Run COMMIT."""
    if statement.args.get("chain"):
        raise Unsupported(
            "COMMIT AND CHAIN is not supported.", remedy="Write COMMIT, and then BEGIN."
        )
    session.commit()
    return Result.done("COMMIT")


def run_rollback(session: Session, statement: exp.Rollback) -> Result:
    """Run ROLLBACK."""
    if statement.args.get("savepoint") is not None:
        raise Unsupported(
            "Savepoints are not supported.", remedy="Write ROLLBACK to undo the whole transaction."
        )
    session.rollback()
    return Result.done("ROLLBACK")


def run_checkpoint(session: Session, statement: nodes.Checkpoint) -> Result:
    """Run CHECKPOINT: all maintenance of a catalog, by default of the current one."""
    name = statement.name or (session.current[0] if session.current else "")
    if not name:
        raise InvalidInput("No catalog is current.", remedy="Name one: CHECKPOINT lake.")
    steps = maintenance.checkpoint(session, name)
    columns = {
        "operation": [one.operation for one in steps],
        "count": pa.array([one.count for one in steps], pa.int64()),
        "unit": [one.unit for one in steps],
    }
    return Result("CHECKPOINT", pa.table(columns))


HANDLERS = {
    exp.Transaction: run_begin,
    exp.Commit: run_commit,
    exp.Rollback: run_rollback,
    nodes.Checkpoint: run_checkpoint,
}
