"""Figures on pages: growth and file sizes of snapshots, charts, and formatted values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake import Catalog, Metastore
from forklake.crucible.pages import charts, file_views, formatting
from forklake.crucible.pages.growth import read_growth
from forklake.crucible.pages.history import WORDS
from forklake.model.changes import ChangeKind
from forklake.model.figures import size
from tests.crucible.pages.lakes import fill
from tests.fix_metastore import BACKENDS


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Return each backend in turn, because the database itself computes the figures."""
    return str(request.param)


def test_figures_match_the_snapshots(metastore: Metastore, tmp_path: Path) -> None:
    fill(metastore, str(tmp_path), odd=False)
    for name in ("sales", "agent-03", "agent-03-retry-2", "last-week"):
        check_growth(metastore.catalog(name))
        check_files(metastore.catalog(name))


def check_growth(catalog: Catalog) -> None:
    """Compare points of the growth chart with the snapshots."""
    seen = catalog.now()
    points = read_growth(catalog, seen, seen.state.table("orders"))
    assert len(points) > 5
    for point in points[-4:]:
        then = catalog.at(version=point.snapshot_id)
        table = then.state.table("orders")
        known = then.statistics(table)
        assert point.files == len(then.data_files(table))
        assert (point.rows, point.bytes) == (known.record_count, known.file_size_bytes)


def check_files(catalog: Catalog) -> None:
    """Compare the counts of the database with the files themselves."""
    seen = catalog.now()
    for table in seen.state.tables():
        files = seen.data_files(table)
        classes = file_views.count_size_classes(catalog, seen, table)
        assert sum(one.count for one in classes) == len(files)
        for before, one in pairwise(classes):
            within = [file for file in files if before.below <= file.file_size_bytes < one.below]
            assert one.count == len(within)
        parts = file_views.list_partitions(catalog, seen, table, 50)
        parted = [file for file in files if file.partition_id is not None]
        assert sum(part.files for part in parts) == len(parted)
        assert sum(part.rows for part in parts) == sum(file.record_count for file in parted)
        count, found = file_views.list_files(catalog, seen, table, 3, 5)
        assert count == len(files)
        assert found == seen.found_files(table)[3:8]


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=50))
def test_curves_stay_inside_the_chart(values: list[int]) -> None:
    points = [(float(place), float(value)) for place, value in enumerate(values)]
    drawn = charts.draw_curve(points, first="a", last="b")
    assert drawn.path.count("H") == max(len(values) - 1, 1)
    assert all(0 <= tick.y <= charts.HEIGHT for tick in drawn.ticks)
    assert drawn.ticks[-1].value >= max(values) or max(values) == 0
    assert 0 <= drawn.end[0] <= charts.WIDTH
    assert 0 <= drawn.end[1] <= charts.HEIGHT


@given(st.lists(st.integers(0, 10**6), max_size=20))
def test_bars_stay_inside_the_chart(counts: list[int]) -> None:
    drawn = charts.draw_bars([("x", count) for count in counts])
    assert all(bar.height >= 0 and bar.y >= 0 for bar in drawn.bars)
    assert all(0 <= bar.x <= bar.x + bar.width <= charts.WIDTH for bar in drawn.bars)


def test_values_are_formatted_briefly() -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    ages = {
        timedelta(seconds=5): "5 s ago",
        timedelta(minutes=3): "3 min ago",
        timedelta(hours=-2, seconds=-1): "in 2 h",
        timedelta(days=3): "3 d ago",
        timedelta(days=300): "2025-07-05",
    }
    for age, reported in ages.items():
        assert formatting.ago(now - age, now) == reported
    assert [size(one) for one in (0, 999, 1_000, 123_456, 5 * 10**12)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "123 kB",
        "5.0 TB",
    ]
    assert [formatting.duration(one) for one in (0.25, 12.34, 1800, 86_400)] == [
        "250 ms",
        "12.3 s",
        "30 min",
        "24 h",
    ]
    assert formatting.short(1_500_000) == "1.5 M"
    assert formatting.link("a/b", "c d", x=None, y="&") == "/a%2Fb/c%20d?y=%26"


def test_every_kind_of_change_has_a_description() -> None:
    assert set(WORDS) == set(ChangeKind)
