"""Forklake: a lakehouse whose catalogs can be forked in a millisecond.

The names below are imported on first use, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from forklake.catalog.comparison import provide_comparison

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog
    from forklake.catalog.definitions import MacroSpec
    from forklake.catalog.metastore import Metastore
    from forklake.catalog.metastore import open_metastore as open
    from forklake.catalog.transaction import Transaction
    from forklake.errors import ForklakeError
    from forklake.model.files import ColumnBounds, NewDataFile, NewDeleteFile
    from forklake.model.types import ColumnSpec, list_of, map_of, struct
    from forklake.session.changing.merge_into import (
        when_matched,
        when_not_matched,
        when_not_matched_by_source,
    )
    from forklake.sql.session import Session, connect

_PLACES = {
    "Catalog": "catalog.catalog",
    "ColumnBounds": "model.files",
    "ColumnSpec": "model.types",
    "ForklakeError": "errors",
    "MacroSpec": "catalog.definitions",
    "Metastore": "catalog.metastore",
    "NewDataFile": "model.files",
    "NewDeleteFile": "model.files",
    "Session": "sql.session",
    "Transaction": "catalog.transaction",
    "connect": "sql.session",
    "list_of": "model.types",
    "map_of": "model.types",
    "open": "catalog.metastore",
    "struct": "model.types",
    "when_matched": "session.changing.merge_into",
    "when_not_matched": "session.changing.merge_into",
    "when_not_matched_by_source": "session.changing.merge_into",
}

__all__ = [
    "Catalog",
    "ColumnBounds",
    "ColumnSpec",
    "ForklakeError",
    "MacroSpec",
    "Metastore",
    "NewDataFile",
    "NewDeleteFile",
    "Session",
    "Transaction",
    "connect",
    "list_of",
    "map_of",
    "open",
    "struct",
    "when_matched",
    "when_not_matched",
    "when_not_matched_by_source",
]


provide_comparison(lambda: import_module("forklake.merging.own_session"))


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'forklake' has no attribute {name!r}")
    module = import_module(f"forklake.{_PLACES[name]}")
    return getattr(module, "open_metastore" if name == "open" else name)
