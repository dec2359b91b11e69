"""Benchmark of compaction: many small files are merged into few."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import forklake
from benchmarks.figures import Figure
from benchmarks.scanning import ROWS
from benchmarks.tables import LAKE, SparkSetting, compared, create_table, plain_folder
from forklake.maintenance import merge_adjacent_files

FILES = 1_000
MERGED = 4  # number of merged files that the target size results in


def merges(setting: SparkSetting) -> Iterator[Figure]:
    """Merge small files, each time in a new fork, against reading and writing the same rows."""
    files = setting.size(FILES, 100)
    create_table(setting, "small", setting.size(ROWS, 100_000), files)
    folder = plain_folder(setting, "small")
    view = setting.session.viewing(setting.session.attachment(LAKE))
    total = view.statistics(view.state.table("small")).file_size_bytes
    setting.session.set_option(LAKE, "target_file_size", total // MERGED + total // files)
    numbers = itertools.count()

    def merge() -> None:
        name = f"merging_{next(numbers)}"
        with forklake.open(setting.uri) as metastore:
            metastore.fork(LAKE, name)
        setting.session.attach(setting.uri, name, catalog=name)
        (done,) = merge_adjacent_files(setting.session, name, "small")
        assert (done.files_processed, done.files_created) == (files, MERGED)

    def copy() -> None:
        rows = setting.spark.read.parquet(folder)
        rows.write.parquet(str(setting.folder / f"copied_{next(numbers)}"))

    ways = {"merge": merge, "copy": copy}
    yield from compared("merge", ways, setting.size(4, 2), "≤ 1.3 times the copy")
