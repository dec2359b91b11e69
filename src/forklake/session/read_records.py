"""Reads of tables, recorded in a transaction with the conditions that narrow them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.catalog.transaction import Transaction
from forklake.engines.pushdown import predicate_of

if TYPE_CHECKING:
    from forklake.catalog.catalog_view import CatalogView
    from forklake.model.entities import Table


_PLACES = frozenset({"filename", "file_row_number", "file_index"})


def record_virtual(view: CatalogView, table: Table, virtual: Sequence[str]) -> None:
    """Record a read of virtual columns."""
    if isinstance(view, Transaction) and not _PLACES.isdisjoint(virtual):
        view.record_places(table)


def record_read(
    view: CatalogView, table: Table, conditions: Sequence[str], *, ignores_removals: bool = False
) -> None:
    """Record a read of the rows for which all conditions, in Spark SQL, are true.

    Conditions that depend on the time zone of the session do not narrow the read: the zone is not
    available unless Spark runs.
    """
    if isinstance(view, Transaction):
        wanted = predicate_of(conditions, view.state.fields(table), zone=None)
        view.record_read(table, wanted, ignores_removals=ignores_removals)
