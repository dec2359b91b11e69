"""Numbered changes of the schema, by which metastores of older versions are upgraded.

Each module is one migration: its name is the number and a title, the first line of its docstring
the change, and `apply` makes it. Migrations only go forward. On databases without transactions for
DDL an interrupted migration runs again, so each leaves alone what exists already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from forklake.store.database import Connection
from forklake.store.migrations import m0001_idempotency_keys, m0002_data_path_index


@dataclass(frozen=True, slots=True)
class Migration:
    """Change of the schema, with its number and the line that describes it."""

    number: int
    name: str
    change: str
    apply: Callable[[Connection], None]


def _migration(module: ModuleType) -> Migration:
    name = module.__name__.rpartition(".")[2]
    change, _, _ = (module.__doc__ or "").partition("\n")
    return Migration(int(name[1:5]), name.removeprefix("m"), change, module.apply)


MIGRATIONS = tuple(map(_migration, (m0001_idempotency_keys, m0002_data_path_index)))
