"""Inputs of worktasks: rows of files, databases and tables as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forklake.errors import InvalidInput
from forklake.reagent.places import Worker
from forklake.reagent.prepared_tasks import PreparedTask, resolve_path
from forklake.reagent.workbooks import Input

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session


def load_inputs(worker: Worker, task: PreparedTask) -> dict[str, DataFrame]:
    """Return the DataFrames of all inputs of a worktask, by name."""
    if not task.inputs:
        return {}
    session = worker.session
    return {name: _load(session, one, task.folder) for name, one in task.inputs.items()}


def _load(session: Session, source: Input, folder: str) -> DataFrame:
    version = _parse_snapshot(source)
    if source.files is not None:
        from forklake.sql.functions.files import read_files

        kind, paths = source.files
        files = [resolve_path(path, folder) for path in paths]
        return read_files(session, f"read_{kind}", [files], source.options)
    if source.jdbc is not None:
        return _read_database(session, source)
    if source.delta is not None:
        is_path = "/" in source.delta
        name = resolve_path(source.delta, folder) if is_path else source.delta
        return session.delta(name, version=version)
    assert source.table is not None
    return session.table(source.table, version=version)


def _read_database(session: Session, source: Input) -> DataFrame:
    """Read a table or a query over JDBC."""
    options: Mapping[str, Any] = {
        "url": source.jdbc,
        "dbtable": source.table,
        "query": source.query,
        **source.options,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return session.engine.queries.read_database(given)


def _parse_snapshot(source: Input) -> int | None:
    if source.snapshot is None:
        return None
    try:
        return int(source.snapshot)
    except ValueError:
        raise InvalidInput(
            f"The snapshot {source.snapshot!r} is not a number.",
            remedy="Use the number of a snapshot.",
        ) from None
