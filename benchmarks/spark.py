"""Benchmarks of tables on Spark: scans, planning, writes, deletes and inserts.

python -m benchmarks.spark                     all figures; writes results and report
python -m benchmarks.spark --only selective    some of them
python -m benchmarks.spark --quick             small and fast, printed only
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import forklake
from benchmarks import changing, compacting, scanning, statements
from benchmarks.figures import Figure, keep_figures, read_figures
from benchmarks.spark_report import write_spark_report
from benchmarks.tables import LAKE, SparkSetting

# In the order of measurement and of the report.
GROUPS: dict[str, Callable[[SparkSetting], Iterator[Figure]]] = {
    "scan_of_10_files": partial(scanning.scans, 10),
    "scan_of_1000_files": partial(scanning.scans, 1_000),
    "planning": scanning.planning,
    "selective": scanning.selective,
    "writes": changing.writes,
    "deletes": changing.deletes,
    "inserts": changing.inserts,
    "merges": compacting.merges,
    "statements": statements.statements,
}
RESULTS = Path(__file__).parent / "results" / "spark.jsonl"
DOCUMENTS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Run the groups that the command line selects."""
    parser = argparse.ArgumentParser(description="Measure tables on Spark.")
    parser.add_argument("--quick", action="store_true", help="use small sizes and write no results")
    parser.add_argument(
        "--only", choices=GROUPS, action="append", help="measure only this group; repeatable"
    )
    arguments = parser.parse_args()
    for name in arguments.only or GROUPS:
        found = []
        for figure in _measured(GROUPS[name], quick=arguments.quick):
            print(figure.line(), flush=True)
            found.append(figure)
        if not arguments.quick:
            keep_figures(RESULTS, found)
    if not arguments.quick:
        write_spark_report(DOCUMENTS, read_figures(RESULTS))


def _measured(
    group: Callable[[SparkSetting], Iterator[Figure]], *, quick: bool
) -> Iterator[Figure]:
    """Yield the figures of a group, on a new lake."""
    with (
        tempfile.TemporaryDirectory(prefix="forklake-bench-") as folder,
        forklake.connect() as session,
    ):
        uri = f"ducklake:{folder}/meta.db"
        session.attach(uri, LAKE, catalog=LAKE, create_if_not_exists=True)
        session.use(LAKE)
        yield from group(SparkSetting(session, uri, Path(folder), quick=quick))


if __name__ == "__main__":
    main()
