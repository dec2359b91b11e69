"""Statistics of many files converted at once, compared with those of single files."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from forklake.delta.statistics import Leaf, format_statistics
from forklake.delta.statistics_columns import FileStatistics, format_statistics_column
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId

LEAVES = {
    ("id",): Leaf(ColumnId(1), "int64"),
    ('a "name"',): Leaf(ColumnId(2), "varchar"),
    ("inside", "price"): Leaf(ColumnId(3), "decimal(10,2)"),
    ("inside", "deep", "at"): Leaf(ColumnId(4), "timestamp"),
    ("ratio",): Leaf(ColumnId(5), "float64"),
    ("data",): Leaf(ColumnId(6), "blob"),
    ("unknown",): Leaf(ColumnId(7), "date"),
}
TEXTS = {
    1: ["0", "-5", "12", "007", "99999999999999999999", "x"],
    2: ["", 'he said "no"\n', "é" * 40, "z" * 300],  # language: ok
    3: ["1.50", "-2", "nan"],
    4: ["2024-01-01 10:00:00.123456", "2024-01-01 10:00:00", "soon"],
    5: ["1.5", "inf", "1e10"],
    6: ["abc"],
}


@st.composite
def bounds(draw: st.DrawFn) -> list[ColumnBounds]:
    """Draw the statistics of one file for some of the columns."""
    found = []
    for number, texts in TEXTS.items():
        if draw(st.booleans()):
            low, high = (draw(st.sampled_from([*texts, None])) for _ in range(2))
            nulls = draw(st.sampled_from([None, 0, 3]))
            has_nan = draw(st.sampled_from([None, False, True]))
            found.append(ColumnBounds(ColumnId(number), None, 9, nulls, low, high, has_nan))
    return found


def statistics_of(files: list[list[ColumnBounds]], number: int) -> FileStatistics:
    """Return the statistics of all files for one column."""
    rows = [next((one for one in file if one.column_id == number), None) for file in files]
    return FileStatistics(
        pa.array([one and one.min_value for one in rows], pa.string()),
        pa.array([one and one.max_value for one in rows], pa.string()),
        pa.array([one and one.null_count for one in rows], pa.int64()),
        pa.array([one and one.contains_nan for one in rows], pa.bool_()),
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(bounds(), max_size=6))
def test_statistics_of_many_files_equal_those_of_single_files(
    files: list[list[ColumnBounds]],
) -> None:
    counts = list(range(len(files)))
    known = {ColumnId(number): statistics_of(files, number) for number in TEXTS}
    stated = format_statistics_column(pa.array(counts, pa.int64()), known, LEAVES).to_pylist()
    assert stated == [
        format_statistics(count, file, LEAVES, is_tight=True)
        for count, file in zip(counts, files, strict=True)
    ]
