"""Imports of random Delta logs, whose versions must have the files of a model.

FORKLAKE_DELTA_LOGS=2000 tries more of them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import forklake
from forklake import Catalog
from forklake.delta import log_loader, parts
from forklake.delta.table_import import import_delta
from forklake.store import commit
from tests.delta.hand_written import HandWrittenLog
from tests.delta.imported import reading
from tests.delta.stories import ROWS, VALUES, RandomLog, full_paths

LOGS = int(os.environ.get("FORKLAKE_DELTA_LOGS", "25"))
# So low that small logs are loaded in several batches and parts.
LIMITS = ((log_loader, "MOST_VERSIONS"), (parts, "MOST_FILES"), (commit, "MOST_ROWS"))
# A file: its numbers of rows and of deleted rows, and its partition values.
Shown = dict[str, tuple[int, int, dict[str, str | None]]]


@settings(
    max_examples=LOGS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_every_version_of_a_random_log_matches_the_model(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = HandWrittenLog(Path(folder) / "täble %41")
        with forklake.open(f"ducklake:sqlite:{folder}/m.db", create=True) as metastore:
            catalog = metastore.create_catalog("c", data_path=f"{folder}/data")
            with pytest.MonkeyPatch.context() as patch:
                for place, name in LIMITS:
                    patch.setattr(place, name, data.draw(st.sampled_from((1, 3, 1000))))
                _follow(catalog, written, data.draw)


def _follow(catalog: Catalog, log: HandWrittenLog, draw: Callable[[Any], Any]) -> None:
    story, root = RandomLog(log, draw), str(log.root)
    expected: set[int] = set()
    before, is_whole = -1, True
    for _ in range(draw(st.integers(1, 2))):
        for _ in range(draw(st.integers(1, 5))):
            story.add_version()
        latest = len(story.truths) - 1
        points = sorted(draw(st.sets(st.integers(0, latest), max_size=3)))
        first = 0
        for version in points:
            story.checkpoint(version)
        if points and draw(st.booleans()):
            first = points[-1]
            story.clean_up(first, with_own=draw(st.booleans()))
            is_whole = False
        expected |= set(range(max(before + 1, first), latest + 1))
        import_delta(catalog, root, "t")
        before = latest
    found = {one.version: one for one in reading(catalog).versions()}
    assert set(found) == expected
    for version in expected:
        assert _read_files(catalog, found[version].begin_snapshot) == _expected_files(
            story, root, version
        )
    if is_whole:
        times = [found[version].timestamp for version in sorted(expected)]
        assert times == [one.time for one in story.truths]


def _read_files(catalog: Catalog, snapshot: int) -> Shown:
    view = catalog.at(version=snapshot)
    table = view.state.table("t")
    names = {one.column_id: one.name for one in view.state.fields(table)}
    scanned = view.scan_files(table)
    values = view.values_by_column(table, [one.file for one in scanned])
    return {
        one.path: (
            one.file.record_count,
            one.deleted_rows,
            {names[key]: text for key, text in values.get(one.file.data_file_id, {}).items()},
        )
        for one in scanned
    }


def _expected_files(story: RandomLog, root: str, version: int) -> Shown:
    paths = list(full_paths(story, root))
    return {
        paths[number]: (
            ROWS,
            deleted,
            {
                key: VALUES[story.keys[key]][text]
                for key, text in story.files[number].values.items()
            },
        )
        for number, deleted in story.truths[version].deleted.items()
    }
