"""Metadata tables of a metastore, as `__ducklake_metadata_<alias>.<table>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from forklake.errors import NotFound
from forklake.model.names import folded
from forklake.session.names import perhaps
from forklake.store.tables import read_table, table_names

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session

# Default schemas of databases: each of them stands for the schema of the metastore.
_DEFAULT_SCHEMAS = ("main", "public")


def find_metadata_table(session: Session, parts: Sequence[str]) -> pa.Table | None:
    """Return all rows of a metadata table; None if the name does not begin with a metastore."""
    by_name = {folded(one.metadata_name): one for one in session.attachments()}
    attachment = by_name.get(folded(parts[0]))
    if attachment is None or len(parts) not in (2, 3):
        return None
    session.guard.check_metadata_table(".".join(parts))
    if len(parts) == 3:
        _check_schema(attachment, parts[1])
    session.record_everything(attachment)
    database = attachment.metastore.database
    table = read_table(database, folded(parts[-1]))
    if table is None:
        raise NotFound(
            f"Table '{'.'.join(parts)}' does not exist in the metastore.",
            remedy=perhaps(parts[-1], table_names(database), what="tables of the metastore"),
        )
    return table


def _check_schema(attachment: Attachment, schema: str) -> None:
    schemas = (
        *_DEFAULT_SCHEMAS,
        *([attachment.metadata_schema] if attachment.metadata_schema else []),
    )
    if folded(schema) not in map(folded, schemas):
        raise NotFound(
            f"Schema '{attachment.metadata_name}.{schema}' does not exist",
            remedy=perhaps(schema, schemas, what="schemas of a metastore"),
        )
