"""Form of the schema in one database: what it has besides the tables that all of them have."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.store.schema.definitions import Definition
from forklake.store.schema.delta_log_views import ViewSyntax


@dataclass(frozen=True, slots=True)
class Form:
    """Parts of the schema that differ between databases.

    Args:
        header: comment at the beginning of the schema file.
        views: expressions in the views of the Delta log.
        rows: first rows of the tables.
        preparation: settings that must be made outside of the transaction.
        sequences: sequences of ids.
        is_transactional: whether DDL is part of transactions.
    """

    header: str
    views: ViewSyntax
    rows: tuple[Definition, ...]
    preparation: tuple[Definition, ...] = ()
    sequences: tuple[Definition, ...] = ()
    is_transactional: bool = True
