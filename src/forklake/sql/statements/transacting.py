"""BEGIN, COMMIT, ROLLBACK and CHECKPOINT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import Unsupported
from forklake.sql.dialect import nodes
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.sql.session import Session


def run_begin(session: Session, statement: exp.Transaction) -> Result:
    """Begin a transaction."""
    session.begin()
    return Result.done("BEGIN")


def run_commit(session: Session, statement: exp.Commit) -> Result:
    """Make the changes of the transaction visible."""
    session.commit()
    return Result.done("COMMIT")


def run_rollback(session: Session, statement: exp.Rollback) -> Result:
    """Forget the changes of the transaction."""
    if statement.args.get("savepoint") is not None:
        raise Unsupported("Savepoints are not supported.", remedy="Roll back the transaction.")
    session.rollback()
    return Result.done("ROLLBACK")


def run_checkpoint(session: Session, statement: nodes.Checkpoint) -> Result:
    """All maintenance of a catalog."""
    raise Unsupported("CHECKPOINT is not supported yet.", remedy="Wait for the next version.")


HANDLERS = {
    exp.Transaction: run_begin,
    exp.Commit: run_commit,
    exp.Rollback: run_rollback,
    nodes.Checkpoint: run_checkpoint,
}
