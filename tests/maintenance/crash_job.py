"""A merge that is killed at a phase: a program for `test_merge_crashes`."""

from __future__ import annotations

import json
import sys

import psutil

from forklake.maintenance import merge_adjacent_files
from tests.spark.crash_job import ALIAS, die_at, opened


def main() -> None:
    """The arguments are a phase and a place as JSON; the process of Spark is told first."""
    phase, place = sys.argv[1], json.loads(sys.argv[2])
    session = opened(*place)
    assert session.engine.spark is not None
    (java,) = psutil.Process().children()
    print(java.pid, flush=True)
    die_at(phase)
    merge_adjacent_files(session, ALIAS)


if __name__ == "__main__":
    main()
