"""Newest stored actions of a Delta table: its protocol, metadata and application transactions."""

from __future__ import annotations

import json
from typing import TypeVar

from forklake.catalog.delta_tables import FaceReading
from forklake.delta.actions import Action

A = TypeVar("A", bound=Action)


def find_stored_action(reading: FaceReading, kind: type[A], key: str = "") -> A | None:
    """Return the newest action of a kind that the metastore stores, or None."""
    row = reading.newest_action(kind.kind, key)
    return None if row is None else kind.from_body(json.loads(row.body))
