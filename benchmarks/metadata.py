"""Benchmarks of the metastore: forks, commits and reads.

python -m benchmarks.metadata                       all figures; writes results and report
python -m benchmarks.metadata --only bulk_commit    some of them
python -m benchmarks.metadata --quick               small and fast, printed only
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import bulk, committing, delta, embedded, forking, listing, retention
from benchmarks.figures import Figure, Setting, keep_figures, read_figures
from benchmarks.report import write_report
from benchmarks.server import running_server

# In the order of measurement and of the report.
GROUPS: dict[str, Callable[[Setting], Iterator[Figure]]] = {
    "commits_different_catalogs": committing.different_catalogs,
    "commits_one_catalog": committing.one_catalog,
    "fork_latency": forking.fork_latency,
    "listing_depth": listing.listing_depth,
    "bulk_commit": bulk.bulk_commit,
    "million_forks": forking.million_forks,
    "embedded": embedded.embedded,
    "retention": retention.retention,
    "delta": delta.delta,
}
RESULTS = Path(__file__).parent / "results" / "metadata.jsonl"
DOCUMENTS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Run the groups that the command line selects."""
    parser = argparse.ArgumentParser(description="Measure the metastore.")
    parser.add_argument("--quick", action="store_true", help="use small sizes and write no results")
    parser.add_argument(
        "--only", choices=GROUPS, action="append", help="measure only this group; repeatable"
    )
    arguments = parser.parse_args()
    with running_server() as server:
        setting = Setting(server, quick=arguments.quick)
        for name in arguments.only or GROUPS:
            found = []
            for figure in GROUPS[name](setting):
                print(figure.line(), flush=True)
                found.append(figure)
            if not arguments.quick:
                keep_figures(RESULTS, found)
        if not arguments.quick:
            write_report(DOCUMENTS, read_figures(RESULTS), server.description())
    unused = sorted(name for name, scans in setting.index_scans.items() if not scans)
    print(f"Unused indexes: {', '.join(unused) or 'none'}.", file=sys.stderr)


if __name__ == "__main__":
    main()
