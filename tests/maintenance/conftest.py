"""Fixture with a lake of real files, on every backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklake import Metastore
from tests.maintenance.lakes import Lake


@pytest.fixture
def files(metastore: Metastore, tmp_path: Path) -> Lake:
    """Return an empty metastore with a folder for its files."""
    return Lake(metastore, tmp_path / "files")
