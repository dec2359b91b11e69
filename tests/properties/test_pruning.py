"""Random files and random predicates: no file with a matching row is ever pruned.

The files hold rows of every type whose bounds are compared. Some have fewer statistics than
possible, and some have unreadable ones. Most are in a listing. The files that the database
selects are compared with the rows themselves, and with the selection of the Python implementation.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.catalog import listings, zones
from forklake.catalog.file_columns import BOUNDS
from forklake.catalog.file_listings import keep_listing
from forklake.catalog.zones import has_zones, make_zones, matching_zones
from forklake.model.entities import Table
from forklake.model.ids import ColumnId
from forklake.model.orders import order_of
from forklake.model.predicates import (
    LONG_TEXT,
    And,
    Anything,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Not,
    Or,
    Predicate,
    StartsWith,
    matches,
    may_match,
    question,
)
from forklake.model.values import from_text, to_text

FILES = 60
LISTED = 40  # of them, in a listing
PREDICATES = int(os.environ.get("FORKLAKE_PREDICATES", "150"))
Row = dict[ColumnId, Any]

LETTERS = "ab~\u00e9\u20ac\U0001f600 "
START = datetime(2023, 12, 30)  # noqa: DTZ001 - without time zone on purpose


def _text(dice: random.Random) -> str:
    return "".join(dice.choices(LETTERS, k=dice.choice([0, 1, 2, 3, 20])))


def _float(dice: random.Random) -> float:
    return dice.choice(
        [dice.uniform(-3, 3), float(dice.randint(-3, 3)), math.inf, -math.inf, math.nan, -0.0]
    )


VALUES: dict[str, Callable[[random.Random], Any]] = {
    "int64": lambda dice: dice.choice([dice.randint(-20, 20), 2**63 - 1, -(2**63)]),
    "uint64": lambda dice: dice.choice([dice.randint(0, 9), 2**64 - dice.randint(1, 9)]),
    "decimal(38,4)": lambda dice: Decimal(
        dice.choice([dice.randint(-90000, 90000), 10**37 + dice.randint(0, 9)])
    ).scaleb(-4),
    "float64": _float,
    "varchar": _text,
    "boolean": lambda dice: dice.random() < 0.5,
    "date": lambda dice: date(2023, 12, 30) + timedelta(days=dice.randint(0, 400)),
    "timestamp": lambda dice: START + timedelta(seconds=dice.randint(0, 9) / 4),
    "timestamptz": lambda dice: (START + timedelta(hours=dice.randint(0, 99))).replace(tzinfo=UTC),
}
TYPES = {ColumnId(number): kind for number, kind in enumerate(VALUES, 1)}


def rank(value: Any) -> Any:
    """Return a sort key in the order of Spark: NaN is greater than every number."""
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    return value.encode() if isinstance(value, str) else value


# Files


def a_row(dice: random.Random, wide: bool) -> Row:
    return {
        number: None if dice.random() < (0.3 if wide else 0.9) else VALUES[kind](dice)
        for number, kind in TYPES.items()
    }


def bounds_of(dice: random.Random, number: ColumnId, rows: Sequence[Row]) -> ColumnBounds | None:
    values = [row[number] for row in rows if row[number] is not None]
    numbers = [value for value in values if value == value]  # NaN is not a bound
    chance = dice.random()
    if chance < 0.1:
        return None
    if chance < 0.2 and TYPES[number] != "varchar":
        return ColumnBounds(number, min_value="?", max_value="1e99999")
    texts = (
        [to_text(TYPES[number], pick(numbers, key=rank)) for pick in (min, max)]
        if numbers
        else [None, None]
    )
    has_nan = len(numbers) < len(values)
    return ColumnBounds(
        number,
        value_count=len(rows) if chance < 0.9 else None,
        null_count=len(rows) - len(values) if chance < 0.95 else None,
        min_value=texts[0] if chance > 0.25 else None,
        max_value=texts[1] if chance < 0.85 else None,
        contains_nan=has_nan if chance < 0.7 else None,
    )


# Predicates


def a_predicate(dice: random.Random, depth: int = 3) -> Predicate:
    if depth and dice.random() < 0.5:
        parts = tuple(a_predicate(dice, depth - 1) for _ in range(dice.randint(1, 3)))
        combined: list[Predicate] = [And(parts), Or(parts), Not(parts[0])]
        return dice.choice(combined)
    number = dice.choice(list(TYPES))

    def literal() -> str:
        text = to_text(TYPES[number], VALUES[TYPES[number]](dice))
        assert text is not None
        return text

    match dice.randint(0, 9):
        case 0:
            return IsNull(number)
        case 1:
            return IsNotNull(number)
        case 2:
            return In(number, tuple(literal() for _ in range(dice.choice([1, 3, 80]))))
        case 3 if TYPES[number] == "varchar":
            return StartsWith(number, _text(dice)[: dice.randint(0, 20)])
        case 4:
            return Anything()
    return Compare(number, dice.choice(["=", "!=", "<", "<=", ">", ">="]), literal())


def holds(predicate: Predicate, row: Row) -> bool | None:
    """Return whether a row fulfills it; None for SQL NULL."""
    match predicate:
        case And(parts):
            found = [holds(part, row) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [holds(part, row) for part in parts]
            return True if True in found else None if None in found else False
        case Not(part):
            value = holds(part, row)
            return None if value is None else not value
        case Anything():
            return True
        case IsNull(number):
            return row[number] is None
        case IsNotNull(number):
            return row[number] is not None
        case Compare(number, operator, text):
            return compared(operator, row[number], _value(number, text))
        case In(number, texts):
            found = [compared("=", row[number], _value(number, text)) for text in texts]
            return True if True in found else None if None in found else False
        case StartsWith(number, prefix):
            return None if row[number] is None else row[number].startswith(prefix)


def _value(number: ColumnId, text: str) -> Any:
    return from_text(TYPES[number], text)


def compared(operator: str, one: Any, other: Any) -> bool | None:
    if one is None:
        return None
    left, right = rank(one), rank(other)
    return bool(
        {
            "=": left == right,
            "!=": left != right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[operator]
    )


# The comparison


def filled(catalog: Catalog, dice: random.Random) -> tuple[Table, list[list[Row]], list[Any]]:
    with catalog.transaction() as transaction:
        columns = [ColumnSpec(f"c{number}", kind) for number, kind in TYPES.items()]
        transaction.create_table("t", columns)
    table = catalog.now().state.table("t")
    contents = [
        [a_row(dice, wide=dice.random() < 0.7) for _ in range(dice.randint(1, 4))]
        for _ in range(FILES)
    ]
    stated = [
        [bound for number in TYPES if (bound := bounds_of(dice, number, rows))] for rows in contents
    ]
    files = [
        NewDataFile(str(number), len(rows), 1, bounds=tuple(bounds))
        for number, (rows, bounds) in enumerate(zip(contents, stated, strict=True))
    ]
    for some in (files[:LISTED], files[LISTED:]):
        with catalog.transaction() as transaction:
            transaction.add_data_files(table, some)
        keep_listing(catalog, table, least=LISTED)  # of the first files; the others are too few
    return table, contents, stated


@pytest.fixture(autouse=True)
def small_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make listings of few files usable."""
    monkeypatch.setattr(zones, "SIZE", 3)
    monkeypatch.setattr(listings, "_LOOKUP", 0)


def test_no_file_with_a_matching_row_is_pruned(metastore: Metastore) -> None:
    seed = int(os.environ.get("FORKLAKE_SEED", random.randrange(10**9)))
    print(f"FORKLAKE_SEED={seed}")
    dice = random.Random(seed)
    catalog = metastore.create_catalog("lake", data_path="/lake")
    table, contents, stated = filled(catalog, dice)
    seen = catalog.now()
    pruned = 0
    for _ in range(PREDICATES):
        predicate = a_predicate(dice)
        wanted = {
            number
            for number, rows in enumerate(contents)
            if any(holds(predicate, row) is True for row in rows)
        }
        python = {
            number
            for number, bounds in enumerate(stated)
            if matches(predicate, TYPES, {bound.column_id: bound for bound in bounds})
        }
        database = {int(one.file.path) for one in seen.scan_files(table, predicate)}
        assert wanted <= python, (predicate, wanted - python)
        assert python <= database, (predicate, python - database)
        pruned += FILES - len(database)
    assert pruned > PREDICATES  # it also prunes files


def test_zones_of_matching_files_match() -> None:
    seed = int(os.environ.get("FORKLAKE_SEED", random.randrange(10**9)))
    print(f"FORKLAKE_SEED={seed}")
    dice = random.Random(seed)
    left_out = 0
    for number, kind in TYPES.items():
        order = order_of(kind)
        if order is None or not has_zones(order):
            continue
        stated = [
            bounds_of(dice, number, [a_row(dice, wide=False) for _ in range(9)]) for _ in range(99)
        ]
        known = [bound or ColumnBounds(number) for bound in stated]
        columns = {name: [getattr(one, name) for one in known] for name in BOUNDS.names}
        files = pa.chunked_array([range(len(known))], pa.int64())
        made = make_zones(files, pa.table(columns, BOUNDS), order)
        members = [one["data_file_id"].to_pylist() for one in made.numbers]
        assert sorted(file for one in members for file in one) == list(range(len(known)))
        for _ in range(PREDICATES):
            requested = question(a_comparison(dice, number), TYPES)
            matching = matching_zones(made.bounds, number, order, requested)
            found = {file for zone in matching for file in members[zone]}
            wanted = {file for file, one in enumerate(known) if may_match(requested, {number: one})}
            assert wanted <= found, (kind, requested, wanted - found)
            left_out += len(known) - len(found)
    assert left_out > PREDICATES


def a_comparison(dice: random.Random, number: ColumnId) -> Predicate:
    text = to_text(TYPES[number], VALUES[TYPES[number]](dice))
    assert text is not None
    return Compare(number, dice.choice(["=", "<", "<=", ">", ">="]), text)


def test_a_few_wide_files_do_not_widen_all_zones() -> None:
    lows = [10 * number for number in range(600)]
    highs = [low + (3000 if low % 370 == 0 else 9) for low in lows]
    known = pa.table(
        {
            "min_value": list(map(str, lows)),
            "max_value": list(map(str, highs)),
            "null_count": [0] * len(lows),
            "contains_nan": [None] * len(lows),
        },
        BOUNDS,
    )
    order = order_of("int64")
    assert order is not None
    made = make_zones(pa.chunked_array([range(len(lows))], pa.int64()), known, order)
    for value in ("7", "2345", "5999"):
        requested = question(Compare(ColumnId(1), "=", value), TYPES)
        assert len(matching_zones(made.bounds, ColumnId(1), order, requested)) <= 12


def test_a_truncated_bound_holds_for_its_zone() -> None:
    cut, longer = "a" * LONG_TEXT, "a" * LONG_TEXT + "b"
    columns = {"min_value": [cut, cut], "max_value": [cut, longer]}
    more = {"null_count": [0, 0], "contains_nan": [None, None]}
    order = order_of("varchar")
    assert order is not None
    made = make_zones(
        pa.chunked_array([[0, 1]], pa.int64()), pa.table(columns | more, BOUNDS), order
    )
    for value, expected in ((cut + "z", [0]), (longer, [0]), ("b", []), ("A", [])):
        requested = question(Compare(ColumnId(1), "=", value), {ColumnId(1): "varchar"})
        assert matching_zones(made.bounds, ColumnId(1), order, requested) == expected
