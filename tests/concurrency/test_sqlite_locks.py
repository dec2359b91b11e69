"""A SQLite metastore that several processes use: none takes it for unused while another has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import forklake

_CHILD = """
import sys, forklake
with forklake.open(sys.argv[1]) as metastore:
    print(sorted(row.catalog_name for row in metastore.catalogs()))
"""


def seen_by_another(uri: str) -> str:
    """The catalogs that a process sees which opens the metastore and closes it again."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, uri], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_processes_that_come_and_go_leave_the_log_to_those_that_stay(tmp_path: Path) -> None:
    uri = f"ducklake:{tmp_path / 'meta.db'}"
    with forklake.open(uri, create=True) as metastore:
        metastore.create_catalog("a")
        with forklake.open(uri):
            assert seen_by_another(uri) == "['a']"
            metastore.create_catalog("b")
            assert seen_by_another(uri) == "['a', 'b']"
