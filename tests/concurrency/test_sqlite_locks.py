"""A SQLite metastore used by several processes: none removes the log while another one is open."""

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
    """Return the catalogs seen by a process that opens and closes the metastore."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, uri], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_process_that_closes_leaves_the_log_to_open_ones(tmp_path: Path) -> None:
    uri = f"ducklake:{tmp_path / 'meta.db'}"
    with forklake.open(uri, create=True) as metastore:
        metastore.create_catalog("a")
        with forklake.open(uri):
            assert seen_by_another(uri) == "['a']"
            metastore.create_catalog("b")
            assert seen_by_another(uri) == "['a', 'b']"
