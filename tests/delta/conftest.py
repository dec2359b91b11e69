"""Fixtures of the tests of Delta tables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.delta.hand_written import HandWrittenLog


@pytest.fixture
def delta_corpus() -> Path:
    """Return a folder of Delta tables from other writers, listed in its `corpus.json`."""
    folder = os.environ.get("FORKLAKE_DELTA_CORPUS")
    if not folder:
        pytest.skip("FORKLAKE_DELTA_CORPUS names no folder of Delta tables")
    return Path(folder)


@pytest.fixture
def written(tmp_path: Path) -> HandWrittenLog:
    """Return the empty log of a table, to be written file by file."""
    return HandWrittenLog(tmp_path / "table")
