"""Fixtures of the tests of Delta tables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.delta.hand_written import HandWrittenLog


@pytest.fixture
def delta_corpus() -> Path:
    """A folder of Delta tables that others wrote, with `corpus.json` that lists them."""
    folder = os.environ.get("FORKLAKE_DELTA_CORPUS")
    if not folder:
        pytest.skip("FORKLAKE_DELTA_CORPUS names no folder of Delta tables")
    return Path(folder)


@pytest.fixture
def written(tmp_path: Path) -> HandWrittenLog:
    """The log of a table, to be written file by file."""
    return HandWrittenLog(tmp_path / "table")
