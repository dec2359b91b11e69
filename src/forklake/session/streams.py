"""Streams that read tables, and streams that write them.

A written batch is committed under a key of its query, batch and table, so that running it again
after a crash changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forklake.catalog.delta_tables import find_face
from forklake.errors import InvalidInput, Unsupported
from forklake.model.entities import Table
from forklake.model.stream_keys import format_batch_key
from forklake.session.places import SOURCE, Place

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame, StreamingQuery
    from forklake.session.name_resolution import TableName
    from forklake.session.session import Session
    from forklake.session.unit_of_work import UnitOfWork


def read_stream(
    session: Session, name: str | Sequence[str], options: Mapping[str, object]
) -> DataFrame:
    """Return a streaming DataFrame of the rows that are inserted into a table."""
    from forklake.engines.spark import streams

    place = session.resolve(name)
    session.find_table(session.viewing(place.attachment), place)
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in options.items()
    }
    return streams.read(session.engine, SOURCE, {**Place.attached(place).options(), **given})


def append_batches(
    session: Session, name: str | Sequence[str], *, by_name: bool = False
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that appends each batch of a streaming query once."""
    from forklake.engines.spark import streams

    if session.engine.is_remote:
        raise Unsupported(
            "append_batches is not available over Spark Connect: functions for foreachBatch run on"
            " the server, which has no Forklake session.",
            remedy='Use write_stream, or writeStream.format("forklake").',
        )
    place = session.resolve(name)
    place.attachment.require_writable()
    session.find_table(session.viewing(place.attachment), place)
    engine = session.engine

    def append_batch(rows: DataFrame, batch_id: int) -> None:
        query_id = streams.query_id(rows)
        with session.cursor() as own:  # each query runs in a separate thread
            key = batch_key(query_id, batch_id, place)
            with own.changing(place.attachment, idempotency_key=key) as change:
                table = own.find_table(change.transaction, place)
                if engine.writer.append(change, table, rows, by_name=by_name):
                    record_batch(change, table, query_id, batch_id)
            change.remove_unused(table)

    return append_batch


def write_stream(
    session: Session,
    rows: DataFrame,
    name: str | Sequence[str],
    *,
    checkpoint: str,
    by_name: bool = False,
    trigger: Mapping[str, Any] | None = None,
    query_name: str | None = None,
) -> StreamingQuery:
    """Start a query that appends the rows of a stream to a table, each of them once."""
    from forklake.engines.spark import streams

    if streams.is_remote(rows):
        rows, place = _renamed(session, rows, name, by_name=by_name)
        writer = streams.source_writer(rows, SOURCE, Place.attached(place).options())
    else:
        writer = streams.batch_writer(rows, append_batches(session, name, by_name=by_name))
    return streams.start(writer, checkpoint=checkpoint, trigger=trigger, query_name=query_name)


def _renamed(
    session: Session, rows: DataFrame, name: str | Sequence[str], *, by_name: bool
) -> tuple[DataFrame, TableName]:
    """Return rows with the column names of a table, which the source matches, and the table."""
    place = session.resolve(name)
    place.attachment.require_writable()
    view = session.viewing(place.attachment)
    columns = [field.name for field in view.state.fields(session.find_table(view, place))]
    if not by_name:
        if len(rows.columns) != len(columns):
            raise InvalidInput(
                f"Table '{place.table}' has {len(columns)} columns but {len(rows.columns)} were"
                " supplied.",
                remedy="Columns are: " + ", ".join(columns),
            )
        rows = rows.toDF(*columns)
    return rows, place


def batch_key(query_id: str, batch_id: int, name: TableName) -> str:
    """Return the idempotency key under which a batch of a streaming query is added to a table."""
    return format_batch_key(query_id, batch_id, name.schema, name.table)


def record_batch(change: UnitOfWork, table: Table, query_id: str, batch_id: int) -> None:
    """Record the progress of a streaming query in the log of a Delta table."""
    if find_face(change.transaction.state, table) is not None:
        change.transaction.tell_progress(table, query_id, batch_id)
