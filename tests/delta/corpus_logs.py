"""Delta tables of other writers, in a folder that the environment may name.

FORKLAKE_DELTA_CORPUS is a folder with `corpus.json`, which lists tables with their status, and a
folder `<name>/table` for each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_FOLDER = os.environ.get("FORKLAKE_DELTA_CORPUS")
needs_corpus = pytest.mark.skipif(
    _FOLDER is None, reason="FORKLAKE_DELTA_CORPUS names no folder of Delta tables"
)


def has_corpus() -> bool:
    """Return whether the environment names a folder of Delta tables."""
    return _FOLDER is not None


def corpus_tables(*statuses: str) -> Iterator[Path]:
    """Yield the folders of the tables with one of the given statuses."""
    root = Path(_FOLDER or "")
    for table in json.loads((root / "corpus.json").read_text())["tables"]:
        if table["status"] in statuses:
            yield root / table["name"] / "table"


def commit_actions(table: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the actions of all commits of a table in order, as far as they are readable."""
    for path in sorted((table / "_delta_log").glob("[0-9]*.json")):
        for line in path.read_text(errors="replace").splitlines():
            try:
                action = json.loads(line)
            except ValueError:
                continue
            if isinstance(action, dict):
                yield from ((kind, body) for kind, body in action.items() if body)
