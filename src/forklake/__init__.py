"""Forklake: a lakehouse whose catalogs can be forked in a millisecond."""

from __future__ import annotations

from forklake.catalog.catalog import Catalog
from forklake.catalog.definitions import MacroSpec
from forklake.catalog.metastore import Metastore
from forklake.catalog.metastore import open_metastore as open
from forklake.catalog.transaction import Transaction
from forklake.errors import ForklakeError
from forklake.model.files import ColumnBounds, NewDataFile, NewDeleteFile
from forklake.model.types import ColumnSpec, list_of, map_of, struct

__all__ = [
    "Catalog",
    "ColumnBounds",
    "ColumnSpec",
    "ForklakeError",
    "MacroSpec",
    "Metastore",
    "NewDataFile",
    "NewDeleteFile",
    "Transaction",
    "list_of",
    "map_of",
    "open",
    "struct",
]
