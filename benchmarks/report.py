"""Report: one part with a table of figures for each kind of benchmark, and a chart.

A run replaces its own part of the document and keeps the others.
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

# Descriptions of the figures in the main table. Figures without one are listed as details.
_WORDS = {
    "fork_latency": "A fork of a catalog with 100,000 files, median",
    "fork_bytes": "Bytes in the metastore per fork",
    "fork_against_copy": 'A fork, against a fork with `mode="copy"`',
    "fork_against_full_copy": "A fork, against a copy that shares no rows",
    "listing_depth_1_of_10000_files": "Listing 10,000 files in a fork",
    "listing_depth_5_of_10000_files": "… in a fork of a fork, 5 deep",
    "listing_depth_20_of_10000_files": "… 20 deep",
    "listing_depth_1_of_100000_files": "Listing 100,000 files in a fork",
    "listing_depth_5_of_100000_files": "… in a fork of a fork, 5 deep",
    "listing_depth_20_of_100000_files": "… 20 deep",
    "million_forks": "A million forks, created in batches of 10,000",
    "million_forks_bytes": "Bytes in the metastore for each of them",
    "million_forks_lookup": "Lookup of a catalog by name among a million",
    "million_forks_commit": "Commits to forks among a million",
    "commits_different_catalogs": "16 writers, one catalog each, against bare inserts",
    "commits_different_catalogs_against_stock": "… against stock, a metadata schema each",
    "commits_different_catalogs_against_stock_tables": "… against stock, a table each",
    "commits_different_catalogs_failures": "Commits that failed",
    "commits_one_catalog": "16 writers in one table, against stock",
    "commits_one_catalog_slowest_writer": "Rate of the slowest writer, relative to the mean",
    "commits_one_catalog_failures": "Commits that failed",
    "bulk_commit": "One commit of 100,000 files with 10 columns, against COPY",
    "fork_sequential_scans": "Tables read sequentially, with 100,000 files",
    "million_forks_sequential_scans": "Tables read sequentially, with a million forks",
    "sqlite_fork_latency": "SQLite: a fork, median",
    "sqlite_commits_of_1": "SQLite: one writer",
    "sqlite_commits_of_16": "SQLite: 16 writers",
    "duckdb_fork_latency": "DuckDB: a fork, median",
    "duckdb_commits_of_1": "DuckDB: one writer",
    "expiry": "Expiry of 10,000 snapshots, with 100,000 files and 100 forks",
    "cleanup_planning": "Planning the clean-up of these files (dry run)",
    "sqlite_expiry": "SQLite: the same expiry",
    "sqlite_cleanup_planning": "SQLite: the same planning",
    "duckdb_expiry": "DuckDB: the same expiry",
    "duckdb_cleanup_planning": "DuckDB: the same planning",
    "delta_latest_version": "Delta, 100,000 files in 50,000 versions: the newest version",
    "delta_version_at_time": "… the version at a given time",
    "delta_snapshot": "… all files with statistics, as Arrow, p95",
    "delta_time_travel": "… the same for the version in the middle",
    "delta_path_lookup": "… lookup of a file by path",
    "delta_one_day": "… the files of one day, in a table of the same size partitioned by day",
    "delta_plan": "… opening it and finding the file of an id, against deltalake",
    "delta_load": "… opening it with all files, against deltalake with a fresh checkpoint",
    "delta_load_without_checkpoint": "… against deltalake with commits only",
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

![Chart of commits, forks and listings](benchmarks.svg)

{summary}

{table}

## Method

- The machine has {cores} cores, which it shares with other work. All clients and the database run
  on it: 16 writers compete with the server for the same {cores} cores. The benchmarks measure CPU
  time much more than the disk.
- {server}.
- Compared operations run alternately in the same run, in several rounds; the numbers are medians.
  Absolute numbers of two runs can differ by a third and more, because of the other work; ratios are
  stable. The ratio of commits is the median over adjacent rounds, so it can differ from the
  quotient of the two numbers beside it.
- Python {python}, one process per writer, each with its own metastore object.

## Baselines

- **Bare inserts** are the rows of a commit (snapshot, changes, data file, statistics of three
  columns, statistics of the table and the head) written with the same driver in one pipelined round
  trip, one statement per table: without locks, checks and reads.
- **Stock** is DuckDB with the DuckLake extension on the same server, which inserts one row per
  transaction, with and without inlining; the faster of the two counts. Its writers have a metadata
  schema each, so that they never conflict, or a table each in one catalog. An insert includes the
  execution of the statement, and without inlining a write of a file; our commits add an existing
  file.
- **COPY** writes the same rows into tables with the same keys, row by row with the same driver.
- **A copy** is a fork with `mode="copy"`, which has its own metadata rows. It still shares the
  statistics of files; the copy that shares no rows has its own statistics too.
- **deltalake** reads and writes the log of the same Delta table in files: the same versions, and
  the checkpoint that Forklake wrote. Its writers also commit existing files.
- The files of both large Delta tables are in a [listing](maintenance.md#very-many-files), as
  maintenance leaves them; in the partitioned table, one file in 50 was added after the listing.
  Figures named "unlisted" were measured before it.
- In the benchmark of listings, each nested fork replaces {churn} inherited files by its own, and
  the catalogs that it was forked from grew afterwards.

## Details

| Figure | Measured | Unit |
|---|---:|---|
{details}

`make bench-metadata` repeats all measurements. `python -m benchmarks.metadata` with `--only` or
`--quick` measures less.
"""


def write_report(folder: Path, figures: Sequence[Figure], server: str) -> None:
    """Write the part of the page about the metastore, and its chart."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {figure.figure: figure for figure in figures}
    put_part(folder / "benchmarks.md", _page(by_name, server))
    _draw(folder / "benchmarks.svg", by_name)


def put_part(document: Path, part: str) -> None:
    """Replace the part of a document that has the same first line, or append it."""
    text = document.read_text("utf-8") if document.exists() else ""
    parts = {f"{_PART}{one.splitlines()[0]}": f"{_PART}{one}" for one in text.split(_PART)[1:]}
    parts[part.splitlines()[0]] = part
    document.write_text("\n".join(one.strip() + "\n" for one in parts.values()), "utf-8")


def summary(figures: Mapping[str, Figure], words: Mapping[str, str]) -> str:
    """Return how many of the targets are met."""
    judged = [one for name, one in figures.items() if name in words and one.met is not None]
    return f"{sum(bool(one.met) for one in judged)} of {len(judged)} targets are met."


def table(figures: Mapping[str, Figure], words: Mapping[str, str]) -> str:
    """Return the table of the figures that have descriptions."""
    return _HEADER + "\n".join(
        _row(figures[name], words[name]) for name in words if name in figures
    )


def details(figures: Mapping[str, Figure], words: Mapping[str, str]) -> str:
    """Return the table rows of the other figures."""
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
