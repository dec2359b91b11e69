"""Rows as JSON, CSV and tables."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from rich.console import Console

from forklake.cli.results import (
    FetchedResult,
    RowFormat,
    csv_lines,
    draw_rows,
    fit_columns,
    json_lines,
    show_result,
)

ODD = 'quote " comma , line \n caf\u00e9 \U0001f600'
ROWS = pa.table(
    {
        "id": pa.array([1, None], pa.int64()),
        "name": [ODD, ""],
        "amount": pa.array([Decimal("12345678901234567890.12"), None], pa.decimal128(38, 2)),
        "ratio": [0.5, float("nan")],
        "day": [date(2026, 1, 31), None],
        "at": pa.array([datetime(2026, 1, 31, 12, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
        "tags": [["a", "b"], []],
        "place": [{"x": 1}, None],
        "bytes": [b"\x00\xff", None],
    }
)


def test_json_is_an_array_of_objects() -> None:
    text = "".join(json_lines(ROWS))
    assert text.isascii()
    first, second = json.loads(text, parse_float=Decimal)
    assert list(first) == ROWS.column_names
    assert first["name"] == ODD
    assert first["amount"] == Decimal("12345678901234567890.12")
    assert (first["day"], first["at"]) == ("2026-01-31", "2026-01-31 12:00:00+00")
    assert (first["tags"], first["place"]) == (["a", "b"], {"x": 1})
    assert (second["id"], second["ratio"], second["name"]) == (None, None, "")
    assert len(text.splitlines()) == 2


def test_json_of_no_rows_is_an_empty_array() -> None:
    assert "".join(json_lines(ROWS.slice(0, 0))) == "[]\n"


def test_csv_can_be_read_back() -> None:
    text = "".join(csv_lines(ROWS))
    header, first, second = csv.reader(io.StringIO(text, newline=""))
    assert header == ROWS.column_names
    assert first[:3] == ["1", ODD, "12345678901234567890.12"]
    assert first[4:] == ["2026-01-31", "2026-01-31 12:00:00+00", "[a, b]", "{'x': 1}", r"\x00\xFF"]
    assert second[4:6] == ["", ""]
    assert text.endswith("\r\n")


def test_csv_distinguishes_empty_texts_and_nulls() -> None:
    rows = pa.table({"a": ["", None], "b": ["x", "y"]})
    assert "".join(csv_lines(rows)) == 'a,b\r\n"",x\r\n,y\r\n'


def test_columns_may_have_the_same_name() -> None:
    rows = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "".join(csv_lines(rows)) == "a,a\r\n1,2\r\n"
    assert list(json.loads("".join(json_lines(rows)))[0].values()) == [1, 2]


def test_a_table_aligns_numbers_to_the_right_and_marks_nulls() -> None:
    console = Console(width=200, file=io.StringIO(), color_system=None)
    rows = pa.table({"n": [1, 1000], "text": [None, "two\nlines"]})
    with console.capture() as captured:
        console.print(draw_rows(rows))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert lines[0].split() == ["n", "text"]
    assert lines[2:] == ["   1   NULL", "1000   two", "       lines"]


def test_a_long_table_is_cut_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"n": range(300)})
    show_result(FetchedResult("SELECT", rows), RowFormat.TABLE, limit=None, seconds=1.0)
    assert (
        capsys.readouterr().out.splitlines()[-1]
        == "100 rows shown of 300 (a higher limit shows more)"
    )
    show_result(FetchedResult("SELECT", rows, is_cut=True), RowFormat.TABLE, limit=10, seconds=1.0)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "9",
        "10 rows shown of more than 300 (a higher limit shows more)",
    ]


def test_other_forms_are_cut_only_with_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"n": range(300)})
    show_result(FetchedResult("SELECT", rows), RowFormat.CSV, limit=None, seconds=1.0)
    assert len(capsys.readouterr().out.splitlines()) == 301
    show_result(FetchedResult("SELECT", rows), RowFormat.JSON, limit=2, seconds=1.0)
    assert json.loads(capsys.readouterr().out) == [{"n": 0}, {"n": 1}]


def test_status_messages_are_shown_in_tables_only(capsys: pytest.CaptureFixture[str]) -> None:
    done = FetchedResult("CREATE TABLE", pa.table({"status": ["CREATE TABLE"]}))
    changed = FetchedResult("INSERT", pa.table({"Count": [2]}))
    for form in RowFormat:
        for answer in (done, changed):
            show_result(answer, form, limit=None, seconds=1.0)
    assert capsys.readouterr().out.splitlines() == [
        *("CREATE TABLE", "INSERT · 2 rows"),
        '[{"Count":2}]',
        *("Count", "2"),
    ]


def drawn_lines(rows: pa.Table, width: int) -> list[str]:
    """Return the lines of a table on a terminal of a width."""
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(draw_rows(rows, width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_wide_table_shows_which_columns_it_leaves_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({f"column_{n}": ["x" * 40, "short"] for n in range(6)})
    heading, rule, first, second = drawn_lines(rows, 80)
    assert heading.split() == [*(f"column_{n}" for n in range(5)), "…"]
    *cut, more = first.split()
    assert more == "…"
    assert {cell.lstrip("x") for cell in cut} == {"…"}
    assert {len(cell) for cell in cut} == {12, 13}
    assert second.split() == [*["short"] * 5, "…"]
    assert len(rule) <= 80
    monkeypatch.setenv("COLUMNS", "40")
    show_result(FetchedResult("SELECT", rows), RowFormat.TABLE, limit=None, seconds=None)
    assert capsys.readouterr().out.splitlines()[-1] == "6 columns (2 shown)"


def test_a_table_that_fits_shows_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"id": [1], "long": ["word " * 30], "n": [2]})
    heading, _, only = drawn_lines(rows, 60)
    assert heading.split() == ["id", "long", "n"]
    assert only.startswith(" 1   word word")
    assert only.endswith("…   2")
    assert len(only) == 60
    assert len(drawn_lines(rows, 400)[2]) == len(drawn_lines(rows, 200)[2])
    show_result(FetchedResult("SELECT", rows), RowFormat.TABLE, limit=None, seconds=None)
    assert "shown" not in capsys.readouterr().out


@pytest.mark.parametrize("width", [1, 5, 10, 40, 80, 200])
@pytest.mark.parametrize("natural", [[1], [300], [2] * 30, [50, 1, 50, 3, 9], [12] * 7])
def test_columns_never_exceed_the_width(natural: list[int], width: int) -> None:
    widths = fit_columns(natural, width)
    assert 1 <= len(widths) <= len(natural)
    taken = sum(widths) + 3 * (len(widths) - 1) + (4 if len(widths) < len(natural) else 0)
    assert taken <= max(width, 5)
    assert all(
        min(one, 12) <= found or len(widths) == 1
        for one, found in zip(natural, widths, strict=False)
    )
