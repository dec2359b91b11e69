"""What was last said of a Delta table: its protocol, its metadata, the marks of applications."""

from __future__ import annotations

import json
from typing import TypeVar

from forklake.catalog.faces import FaceReading
from forklake.delta.actions import Action

A = TypeVar("A", bound=Action)


def stated(reading: FaceReading, kind: type[A], key: str = "") -> A | None:
    """The newest action of a kind that the metastore has kept."""
    row = reading.newest_action(kind.kind, key)
    return None if row is None else kind.from_body(json.loads(row.body))
