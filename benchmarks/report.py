"""The report: a part with figures in words for each kind of benchmark, and a chart.

A run writes its own part of the document and leaves the others as they are.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from benchmarks.figures import Figure
from benchmarks.listing import CHURN, DEPTHS

_OURS, _LIMIT, _PEER = "#2a6f97", "#9aa5b1", "#d98f4e"

# What a figure says; those that are not listed here are details.
_WORDS = {
    "fork_latency": "A fork of a catalog with 100,000 files, median",
    "fork_bytes": "Bytes that a fork takes",
    "fork_against_copy": 'A fork, against a fork with `mode="copy"`',
    "fork_against_full_copy": "A fork, against a copy that shares nothing",
    "listing_depth_1_of_10000_files": "Listing 10,000 files in a fork",
    "listing_depth_5_of_10000_files": "… in a fork of a fork, 5 deep",
    "listing_depth_20_of_10000_files": "… 20 deep",
    "listing_depth_1_of_100000_files": "Listing 100,000 files in a fork",
    "listing_depth_5_of_100000_files": "… in a fork of a fork, 5 deep",
    "listing_depth_20_of_100000_files": "… 20 deep",
    "million_forks": "A million forks, made in batches of 10,000",
    "million_forks_bytes": "Bytes that each of them takes",
    "million_forks_lookup": "Finding a catalog by name among a million",
    "million_forks_commit": "Commits to forks among a million",
    "commits_different_catalogs": "16 writers in catalogs of their own, against bare inserts",
    "commits_different_catalogs_against_stock": "… against stock, a metadata schema each",
    "commits_different_catalogs_against_stock_tables": "… against stock, a table each",
    "commits_different_catalogs_failures": "Commits that failed",
    "commits_one_catalog": "16 writers in one table, against stock",
    "commits_one_catalog_slowest_writer": "The slowest writer's share of the mean",
    "commits_one_catalog_failures": "Commits that failed",
    "bulk_commit": "One commit of 100,000 files with 10 columns, against COPY",
    "fork_sequential_scans": "Tables read from end to end, 100,000 files",
    "million_forks_sequential_scans": "Tables read from end to end, a million forks",
    "sqlite_fork_latency": "SQLite: a fork, median",
    "sqlite_commits_of_1": "SQLite: one writer",
    "sqlite_commits_of_16": "SQLite: 16 writers",
    "duckdb_fork_latency": "DuckDB: a fork, median",
    "duckdb_commits_of_1": "DuckDB: one writer",
    "expiry": "Expiry of 10,000 snapshots, with 100,000 files and 100 forks",
    "cleanup_planning": "Planning the clean-up of these files",
    "sqlite_expiry": "SQLite: the same expiry",
    "sqlite_cleanup_planning": "SQLite: the same planning",
    "duckdb_expiry": "DuckDB: the same expiry",
    "duckdb_cleanup_planning": "DuckDB: the same planning",
    "delta_latest_version": "Delta, 100,000 files in 50,000 versions: the newest version",
    "delta_version_at_time": "… the version at a time",
    "delta_snapshot": "… all files with statistics, as Arrow, p95",
    "delta_time_travel": "… the same of the version in the middle",
    "delta_path_lookup": "… the file of a path",
    "delta_one_day": "… the files of one day, in as large a table that is partitioned by it",
    "delta_plan": "… opening it and finding the file of an id, against deltalake",
    "delta_load": "… opening it with all files, against a fresh checkpoint",
    "delta_load_without_checkpoint": "… against the commits alone",
    "delta_checkpoint": "… writing a checkpoint, against deltalake",
    "delta_commits": "Delta, 4 writers in one table, against deltalake",
    "delta_commits_failures": "Commits that failed",
}

_PART = "# Benchmarks of "
_HEADER = """\
| Figure | Measured | Compared with | Ratio | Target | Met |
|---|---:|---:|---:|---|---|
"""
_PAGE = """\
# Benchmarks of the metastore

![The most important figures](benchmarks.svg)

{summary}

{table}

## How they were measured

- On a machine with {cores} cores that it shares with other work. All clients and the database run
  on it at once, so 16 writers compete with the server for the same {cores} cores: what is measured
  is processor time far more than the disk.
- {server}.
- What is compared was measured in turn in the same run, in several rounds; the numbers are
  medians. Absolute numbers of one run differ from those of the next by a third and more, because
  of the other work; the ratios are what counts. The ratio of commits is the median over
  neighboring rounds, so it need not be the quotient of the two numbers beside it.
- Python {python}, one process a writer, each with a metastore object of its own.

## What is compared

- **Bare inserts** are the rows of a commit (snapshot, changes, data file, statistics of three
  columns, the table's statistics and the head) written through the same driver in one pipelined
  round trip, one statement a table: no lock, no check, nothing read.
- **Stock** is DuckDB with the DuckLake extension on the same server, inserting one row a
  transaction, with and without inlining; the better of the two counts. Its writers have a metadata
  schema each, which keeps them from ever meeting, or a table each in one catalog. An insert
  includes running the statement, and without inlining writing a file; ours commits a file that is
  there already.
- **COPY** writes the same rows into tables with the same keys, row by row with the same driver.
- **A copy** is a fork with `mode="copy"`, which gives the fork rows of its own. The statistics of
  files are shared even then; the copy that shares nothing has rows of its own for them too.
- **deltalake** reads and writes the log of the same Delta table in files: the same versions, and
  the checkpoint that ours wrote. Its writers, like ours, commit files that are there already.
- The files of both large Delta tables are in a [listing](maintenance.md#very-many-files), as
  maintenance leaves them; of the partitioned one, one in 50 came later. What is called unlisted
  was measured before.
- Forks to be listed have {churn} files of their own at each level in the place of inherited ones,
  and the catalogs that they were forked from grew afterwards.

## Details

| Figure | Measured | Unit |
|---|---:|---|
{details}

`make bench-metadata` measures all of it again; `--only` and `--quick` of
`python -m benchmarks.metadata` measure less.
"""


def write_report(folder: Path, figures: Sequence[Figure], server: str) -> None:
    """Write the page and its chart."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {figure.figure: figure for figure in figures}
    put_part(folder / "benchmarks.md", _page(by_name, server))
    _draw(folder / "benchmarks.svg", by_name)


def put_part(document: Path, part: str) -> None:
    """Put a part of the document, known by its first line, in the place of the earlier one."""
    text = document.read_text("utf-8") if document.exists() else ""
    parts = {f"{_PART}{one.splitlines()[0]}": f"{_PART}{one}" for one in text.split(_PART)[1:]}
    parts[part.splitlines()[0]] = part
    document.write_text("\n".join(one.strip() + "\n" for one in parts.values()), "utf-8")


def summary(figures: Mapping[str, Figure], words: Mapping[str, str]) -> str:
    """How many of the targets are met."""
    judged = [one for name, one in figures.items() if name in words and one.met is not None]
    return f"{sum(bool(one.met) for one in judged)} of {len(judged)} targets are met."


def table(figures: Mapping[str, Figure], words: Mapping[str, str]) -> str:
    """The figures that there are words for."""
    return _HEADER + "\n".join(
        _row(figures[name], words[name]) for name in words if name in figures
    )


def details(figures: Mapping[str, Figure], words: Mapping[str, str]) -> str:
    """The other figures."""
    return "\n".join(
        f"| {one.figure.replace('_', ' ')} | {_number(one.value)} | {one.unit} |"
        for name, one in figures.items()
        if name not in words
    )


def _page(figures: Mapping[str, Figure], server: str) -> str:
    return _PAGE.format(
        summary=summary(figures, _WORDS),
        table=table(figures, _WORDS),
        details=details(figures, _WORDS),
        cores=os.cpu_count(),
        server=server,
        python=platform.python_version(),
        churn=CHURN,
    )


def _row(figure: Figure, words: str) -> str:
    baseline = "" if figure.baseline is None else f"{_number(figure.baseline)} {figure.unit}"
    ratio = "" if figure.ratio is None else _number(figure.ratio)
    met = {True: "yes", False: "**no**", None: ""}[figure.met]
    measured = f"{_number(figure.value)} {figure.unit}"
    return f"| {words} | {measured} | {baseline} | {ratio} | {figure.target} | {met} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _draw(path: Path, figures: Mapping[str, Figure]) -> None:
    mpl.rcParams["svg.hashsalt"] = "forklake"
    mpl.rcParams["font.size"] = 9
    mpl.rcParams["axes.titlesize"] = 10
    canvas = Canvas(figsize=(9, 6.5), layout="constrained")
    (top_left, top_right), (bottom_left, bottom_right) = canvas.subplots(2, 2)
    _draw_commits(top_left, figures, "commits_different_catalogs", "16 writers, 16 catalogs")
    _draw_commits(top_right, figures, "commits_one_catalog", "16 writers, one table")
    _draw_forks(bottom_left, figures)
    _draw_listings(bottom_right, figures)
    canvas.savefig(path, metadata={"Date": None})


def _draw_commits(axes: Axes, figures: Mapping[str, Figure], name: str, title: str) -> None:
    bars: list[tuple[str, float, str]] = []
    if name in figures:
        bars.append(("Forklake", figures[name].value, _OURS))
        bare = figures[name].baseline if name == "commits_different_catalogs" else None
        if bare is not None:
            bars.append(("bare inserts", bare, _LIMIT))
    for label, suffix in (
        ("stock, schema each" if bars[1:] else "stock", "stock"),
        ("stock, table each", "stock_tables"),
    ):
        rates = [
            figures[key].value
            for way in ("files", "inlined")
            if (key := f"{name}_{suffix}_{way}") in figures
        ]
        if rates:
            bars.append((label, max(rates), _PEER))
    _draw_bars(axes, bars, f"{title}: commits/s")


def _draw_bars(axes: Axes, bars: Sequence[tuple[str, float, str]], title: str) -> None:
    drawn = axes.barh(
        [label for label, _, _ in bars],
        [value for _, value, _ in bars],
        color=[color for _, _, color in bars],
    )
    axes.bar_label(drawn, labels=[_number(value) for _, value, _ in bars], padding=3)
    axes.margins(x=0.15)
    axes.invert_yaxis()
    axes.set_title(title, loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_forks(axes: Axes, figures: Mapping[str, Figure]) -> None:
    found = figures.get("fork_against_copy")
    bars = []
    if found is not None and found.baseline is not None:
        bars = [("fork", found.value, _OURS), ("copy", found.baseline, _LIMIT)]
    full = figures.get("fork_against_full_copy")
    if full is not None and full.baseline is not None:
        bars.append(("copy, sharing nothing", full.baseline, _LIMIT))
    _draw_bars(axes, bars, "100,000 files: ms, logarithmic")
    if bars:
        axes.set_xscale("log")


def _draw_listings(axes: Axes, figures: Mapping[str, Figure]) -> None:
    for count, color in ((10_000, _PEER), (100_000, _OURS)):
        names = [f"listing_depth_{depth}_of_{count}_files" for depth in DEPTHS]
        if all(name in figures for name in names):
            ratios = [figures[name].ratio or 0.0 for name in names]
            axes.plot(range(len(DEPTHS)), ratios, marker="o", color=color, label=f"{count:,} files")
            axes.legend(frameon=False)
    axes.axhline(1.0, color=_LIMIT, linewidth=1)
    axes.set_xticks(range(len(DEPTHS)), [f"depth {depth}" for depth in DEPTHS])
    axes.set_ylim(0, 1.6)
    axes.set_title("Listing in forks: times as long", loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
