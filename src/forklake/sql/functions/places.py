"""Resolution of the table that the arguments of a function name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from forklake.catalog.catalog_view import CatalogView
from forklake.errors import InvalidInput
from forklake.model.entities import Table
from forklake.session.attachments import Attachment
from forklake.session.name_resolution import MAIN, TableName

if TYPE_CHECKING:
    from forklake.sql.session import Session


def qualify_table_name(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str],
    schema: str | None = None,
) -> tuple[str, str, str]:
    """Return the full name of a table.

    Its schema is in the name, in `schema`, or the current one.
    """
    *before, table = table_name
    if before and schema is not None:
        raise InvalidInput(
            f"The table '{'.'.join(table_name)}' names a schema, but the schema '{schema}' is given"
            " as well.",
            remedy="Name the schema once.",
        )
    return (
        catalog.alias,
        (before[0] if before else schema) or _default_schema(session, catalog),
        table,
    )


def _default_schema(session: Session, catalog: Attachment) -> str:
    alias, schema = session.current or ("", MAIN)
    return schema if alias == catalog.alias else MAIN


def resolve_table(
    session: Session,
    catalog: Attachment,
    table_name: Sequence[str],
    schema: str | None = None,
    *,
    version: int | None = None,
    timestamp: datetime | None = None,
) -> tuple[CatalogView, Table]:
    """Return a table, and its catalog in the current or a past state."""
    name = qualify_table_name(session, catalog, table_name, schema)
    place: TableName = session.resolve(name, version=version, timestamp=timestamp)
    view = session.viewing(catalog, version=version, timestamp=timestamp)
    return view, session.find_table(view, place)
