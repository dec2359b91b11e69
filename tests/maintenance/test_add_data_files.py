"""Adding files of other writers to a table: which fit, how they are read, and who owns them."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forklake
from forklake import ColumnSpec, Session
from forklake.engines.layouts import Layout, mapped
from forklake.engines.local.arrow_reader import StoredFile, read_file
from forklake.errors import (
    Corruption,
    Forbidden,
    ForklakeError,
    InvalidInput,
    NotFound,
    Unsupported,
)
from forklake.files.footers import encryption
from forklake.maintenance import add_data_files, merge_adjacent_files
from forklake.model.types import ColumnType, list_of, map_of, struct
from tests.spark.builders import rows_of

MOMENT = dt.datetime.fromisoformat("2024-01-31T01:00:00")
COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("name", "varchar")]


def write(path: Path, rows: dict[str, Any] | pa.Table, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows if isinstance(rows, pa.Table) else pa.table(rows), path, **options)
    return path


def add(lake: Session, *paths: Path | str, **rules: Any) -> list[str]:
    return add_data_files(lake, "lake", "t", [str(path) for path in paths], **rules)


def files_of(lake: Session) -> list[Any]:
    seen = lake.attachment("lake").catalog.now()
    return seen.data_files(seen.state.table("t"))


def test_files_folders_and_patterns_are_added_once_and_read(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", COLUMNS)
    theirs = tmp_path / "theirs"
    for number in range(3):
        write(theirs / f"f{number}.parquet", {"ID": [number], "name": [f"n{number}"]})
    named = [theirs / "f?.parquet", theirs / "f0.parquet", theirs / ".." / "theirs", theirs]
    added = add(lake, *named)

    assert added == [str(theirs / f"f{number}.parquet") for number in range(3)]
    assert rows_of(lake.table("t")) == [(0, "n0"), (1, "n1"), (2, "n2")]
    assert lake.table("t").where("id = 2").count() == 1
    files = files_of(lake)
    assert [(one.path, one.path_is_relative) for one in files] == [(one, False) for one in added]
    assert len({one.mapping_id for one in files}) == 1

    add(lake, added[0])  # added again, it exists twice
    assert lake.table("t").where("id = 0").count() == 2
    assert len({one.mapping_id for one in files_of(lake)}) == 1
    lake.delete("t", "id = 0")
    lake.update("t", {"name": "'new'"}, "id = 1")
    assert rows_of(lake.table("t")) == [(1, "new"), (2, "n2")]


HELD: dict[str, tuple[pa.Array, str, list[Any]]] = {
    "byte": (pa.array([-5, None], pa.int8()), "int64", [-5, None]),
    "unsigned": (pa.array([200, None], pa.uint8()), "int16", [200, None]),
    "wide": (pa.array([2**64 - 1, 0], pa.uint64()), "int128", [Decimal(2**64 - 1), Decimal(0)]),
    "small": (pa.array([7, None], pa.uint16()), "uint64", [Decimal(7), None]),
    "float": (pa.array([0.1, None], pa.float32()), "float64", [0.10000000149011612, None]),
    "decimal": (pa.array([Decimal("1.25"), None]), "decimal(10,4)", [Decimal("1.2500"), None]),
    "category": (pa.array(["x", None]).dictionary_encode(), "varchar", ["x", None]),
    "json": (pa.array(["{}", None], pa.large_string()), "json", ["{}", None]),
    "uuid": (
        pa.array([uuid.UUID(int=5).bytes, None], pa.uuid()),
        "uuid",
        [str(uuid.UUID(int=5)), None],
    ),
    "day": (pa.array([dt.date(2024, 1, 31), None]), "date", [dt.date(2024, 1, 31), None]),
    "clock": (pa.array([dt.time(1, 2), None], pa.time64("us")), "time", [dt.time(1, 2), None]),
    "moment": (
        pa.array([MOMENT, None], pa.timestamp("ms")),
        "timestamp",
        [MOMENT, None],
    ),
    "bytes": (pa.array([b"ab", None], pa.binary(2)), "blob", [bytearray(b"ab"), None]),
    "truth": (pa.array([True, None]), "boolean", [True, None]),
}


def test_values_of_narrower_types_are_widened(lake: Session, tmp_path: Path) -> None:
    nested = {f"l_{name}": list_of(kind) for name, (_, kind, _) in HELD.items()}
    plain = [ColumnSpec(name, kind) for name, (_, kind, _) in HELD.items()]
    lake.create_table("t", plain + [ColumnSpec(name, kind) for name, kind in nested.items()])
    arrays = {name: array for name, (array, _, _) in HELD.items()}
    lists = {
        f"l_{name}": pa.ListArray.from_arrays([0, 1, 2], array) for name, array in arrays.items()
    }
    add(lake, write(tmp_path / "f.parquet", {**arrays, **lists}))
    whole = lake.table("t").orderBy("truth", ascending=False).collect()
    for name, (_, _, expected) in HELD.items():
        found = [[row[name] for row in whole], [row[f"l_{name}"][0] for row in whole]]
        assert found == [expected, expected], name
    where = (
        f"uuid = '{uuid.UUID(int=5)}' AND byte = -5 AND float > 0.1 AND decimal = 1.25"
        " AND wide > 5 AND small = 7 AND moment > '2024-01-30' AND unsigned = 200"
    )
    assert lake.table("t").where(where).count() == 1
    # Tasks that read without the Spark reader see the same.
    seen = lake.attachment("lake").catalog.now()
    table = seen.state.table("t")
    (file,) = seen.scan_files(table)
    fields = seen.state.fields(table)
    assert file.file.mapping_id is not None
    layout = mapped(Layout(fields), *seen.name_mapping(file.file.mapping_id))
    (batch,) = read_file(StoredFile(file.path, 0, layout), fields)
    for name, (_, _, expected) in HELD.items():
        assert batch.column(name).to_pylist() == expected, name
        assert batch.column(f"l_{name}").to_pylist() == [[one] for one in expected], name


BAD_TYPES: list[tuple[pa.Array, str, type[ForklakeError], str]] = [
    (pa.array([1], pa.int64()), "int32", InvalidInput, "int64"),
    (pa.array([1], pa.uint32()), "int32", InvalidInput, "uint32"),
    (pa.array([1], pa.int32()), "uint64", InvalidInput, "int32"),
    (pa.array([1], pa.int32()), "boolean", InvalidInput, "int32"),
    (pa.array([1], pa.int32()), "float64", InvalidInput, "int32"),
    (pa.array([1.0]), "float32", InvalidInput, "float64"),
    (pa.array([Decimal("1.25")]), "decimal(3,1)", InvalidInput, r"decimal\(3,2\)"),
    (pa.array(["1"]), "int32", InvalidInput, "varchar"),
    (pa.array([b"1"]), "varchar", InvalidInput, "blob"),
    (pa.array([dt.date(2024, 1, 1)]), "timestamp", InvalidInput, "date"),
    (
        pa.array([MOMENT], pa.timestamp("us", "UTC")),
        "timestamp",
        InvalidInput,
        "z",
    ),
    (pa.array([MOMENT], pa.timestamp("ns")), "timestamp", Unsupported, "_ns"),
    (pa.array([[1]]), "int64", InvalidInput, "list"),
    (pa.array([{"a": 1}]), "int64", InvalidInput, "struct"),
    (pa.array([1]), "list", InvalidInput, "int64"),
    (pa.nulls(1), "int64", InvalidInput, "null"),
    (pa.array([dt.time(1)], pa.time32("ms")), "time", Unsupported, "time_ms"),
]


def test_types_that_do_not_fit_are_refused(lake: Session, tmp_path: Path) -> None:
    before = lake.snapshots("lake")
    for number, (array, kind, error, reported) in enumerate(BAD_TYPES):
        column = ColumnSpec("c", list_of("int64") if kind == "list" else kind)
        lake.create_table(f"t{number}", [column])
        path = write(tmp_path / f"{number}.parquet", {"c": array})
        with pytest.raises(error, match=reported):
            add_data_files(lake, "lake", f"t{number}", str(path))
    assert len(lake.snapshots("lake")) == len(before) + len(BAD_TYPES)


HALF = dt.datetime.fromisoformat("1969-12-31T23:59:59.500000")
WHOLE = HALF.replace(microsecond=0)
MISFITS: list[tuple[pa.Array, str, str]] = [
    (pa.array([WHOLE, HALF], pa.timestamp("us")), "timestamp_s", "59.5"),
    (pa.array([WHOLE, HALF], pa.timestamp("ms")), "timestamp_s", "59.5"),
    (pa.array([HALF.replace(microsecond=500_001)], pa.timestamp("us")), "timestamp_ms", "500001"),
    (pa.array(["{}", None, "{"]), "json", r"\{"),
    (pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()), "date", "infinity"),
    (pa.array([0, -(2**63) + 1], pa.int64()).cast(pa.timestamp("us")), "timestamp", "infinity"),
    (pa.array([2**63 - 1], pa.int64()).cast(pa.timestamp("us", "UTC")), "timestamptz", "infinity"),
]


def test_files_with_values_that_the_column_cannot_hold_are_refused(
    lake: Session, tmp_path: Path
) -> None:
    for number, (array, kind, message) in enumerate(MISFITS):
        lists = pa.ListArray.from_arrays([0, len(array)], array)
        structs = pa.StructArray.from_arrays([lists], ["x"])
        columns: list[tuple[pa.Array, ColumnType | str]] = [
            (array, kind),
            (structs, struct(x=list_of(kind))),
        ]
        for at, (values, column) in enumerate(columns):
            lake.create_table(f"t{number}_{at}", [ColumnSpec("c", column)])
            path = write(tmp_path / f"{number}_{at}.parquet", {"c": values})
            with pytest.raises(InvalidInput, match=message):
                add_data_files(lake, "lake", f"t{number}_{at}", str(path))


def test_timestamps_without_fractions_fit_coarser_columns(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [ColumnSpec("s", "timestamp_s"), ColumnSpec("m", "timestamp_ms")])
    moments = pa.array([WHOLE, None, MOMENT.replace(microsecond=0)], pa.timestamp("us"))
    add(lake, write(tmp_path / "f.parquet", {"s": moments, "m": moments}))
    assert lake.table("t").where("s = m AND s = '1969-12-31 23:59:59'").count() == 1


def test_missing_and_additional_columns_are_accepted_with_options(
    lake: Session, tmp_path: Path
) -> None:
    inside = struct(x="int32", y="varchar")
    columns = [*COLUMNS, ColumnSpec("s", inside), ColumnSpec("m", map_of("varchar", inside))]
    lake.create_table("t", columns)
    lake.insert("t", [{"id": 0}])
    lake.add_column("t", "late", "int32", default="9")
    lake.rename_column("t", "name", "label")
    point = {"x": 5, "extra": "e"}
    kind = pa.struct([("x", pa.int16()), ("extra", pa.string())])
    whole = pa.table(
        {
            "name": pa.array([77]),  # not the column that had this name before
            "S": pa.array([point], kind),
            "m": pa.array([[("k", point)]], pa.map_(pa.string(), kind)),
            "id": pa.array([1]),
        }
    )
    path = write(tmp_path / "f.parquet", whole)
    with pytest.raises(InvalidInput, match=r'column "label" exists in table.*not found in file'):
        add(lake, path, ignore_extra_columns=True)
    with pytest.raises(InvalidInput, match=r"has the column 's.extra', which is not in table 't'"):
        add(lake, path, allow_missing=True)
    add(lake, path, allow_missing=True, ignore_extra_columns=True)
    assert rows_of(lake.table("t").where("id = 1")) == [
        (1, None, (5, None), {"k": (5, None)}, 9),
    ]
    for rows, reported in (
        ({"id": [1], "ID": [2]}, "'id' twice"),
        ({"_ducklake_internal_row_id": [1]}, "of another lake"),
        ({"id": [1], "s": [{"z": 1}]}, "none of the fields of 's'"),
    ):
        with pytest.raises(InvalidInput, match=reported):
            add(
                lake,
                write(tmp_path / "g.parquet", rows),
                allow_missing=True,
                ignore_extra_columns=True,
            )


def test_nulls_in_not_null_columns_are_refused(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [ColumnSpec("id", "int64", nulls_allowed=False), COLUMNS[1]])
    add(lake, write(tmp_path / "good.parquet", {"id": [1], "name": ["a"]}))
    for rows, reported in (
        ({"id": pa.array([None], pa.int64()), "name": ["a"]}, "NOT NULL constraint"),
        ({"name": ["a"]}, "is NOT NULL and has no default"),
    ):
        with pytest.raises(InvalidInput, match=reported):
            add(lake, write(tmp_path / "bad.parquet", rows), allow_missing=True)
    unknown = write(tmp_path / "u.parquet", {"id": [1], "name": ["a"]}, write_statistics=False)
    with pytest.raises(InvalidInput, match="has no null count"):
        add(lake, unknown)
    assert lake.table("t").count() == 1


# Folders


def test_values_are_read_from_folder_names(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("day", "date"), ColumnSpec("shop", "varchar")])
    here = tmp_path / "theirs"
    write(here / "day=2024-01-31" / "Shop=a%2Fb" / "f.parquet", {"id": [1], "name": ["x"]})
    write(
        here / "day=__HIVE_DEFAULT_PARTITION__" / "Shop=c" / "f.parquet",
        {"id": [2], "name": ["y"]},
    )
    write(here / "day=2024-02-01" / "f.parquet", {"id": [3], "name": ["z"], "shop": ["own"]})
    add(lake, here / "**" / "*.parquet")
    expected = [
        (1, "x", dt.date(2024, 1, 31), "a/b"),
        (2, "y", None, "c"),
        (3, "z", dt.date(2024, 2, 1), "own"),
    ]
    assert rows_of(lake.table("t")) == expected
    assert rows_of(lake.table("t").where("day > '2024-01-31'")) == expected[2:]
    assert rows_of(lake.table("t").where("shop = 'a/b'")) == expected[:1]
    assert rows_of(lake.table("t").where("day IS NULL")) == expected[1:2]

    both = write(
        tmp_path / "shop=path" / "day=2024-01-01" / "f.parquet",
        {"id": [4], "name": ["w"], "shop": ["file"]},
    )
    with pytest.raises(InvalidInput, match="not found in file"):
        add(lake, both, hive_partitioning=False)
    add(lake, both, hive_partitioning=True)
    assert [row.shop for row in lake.table("t").where("id = 4").collect()] == ["path"]
    bad = write(tmp_path / "day=20240101" / "g.parquet", {"id": [5], "name": ["v"], "shop": [""]})
    with pytest.raises(InvalidInput, match="day=20240101, which is not a valid value of type date"):
        add(lake, bad)
    none = write(tmp_path / "none.parquet", {"id": [5], "name": ["v"], "shop": ["s"]})
    with pytest.raises(InvalidInput, match="not in a folder `key=value`"):
        add(lake, none, hive_partitioning=True, allow_missing=True)


def test_partitioned_tables_accept_files_whose_folders_have_all_keys(
    lake: Session, tmp_path: Path
) -> None:
    columns = [*COLUMNS, ColumnSpec("at", "timestamp")]
    lake.create_table("t", columns, partition_by=["name", ("at", "year")])
    rows = {"id": [1], "at": pa.array([MOMENT], pa.timestamp("us"))}
    add(lake, write(tmp_path / "year=2024" / "name=a" / "f.parquet", rows))
    assert rows_of(lake.table("t").where("name = 'a' AND at > '2024-01-01'")) == [(1, "a", MOMENT)]
    (file,) = files_of(lake)
    seen = lake.attachment("lake").catalog.now()
    values = seen.partition_values(seen.state.table("t"), [file.data_file_id])
    assert [row.partition_value for row in values] == ["a", "2024"]
    assert file.partition_id is not None
    own = {"name": ["a"], **rows}
    for folder, reported in (
        ("name=a", "no folder has a name year="),
        ("year=2023/name=a", "the folder has year=2023, but the file holds 2024"),
        ("year=0/name=a", "0 is not a valid year"),
        ("year=2024/name=b", "the folder has name=b, but the file holds a"),
        ("year=x/name=a", "x"),
    ):
        with pytest.raises(InvalidInput, match=reported):
            add(lake, write(tmp_path / "bad" / folder / "f.parquet", own))


# Transactions, and invalid files


def test_added_files_follow_their_transaction(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", COLUMNS)
    path = write(tmp_path / "f.parquet", {"id": [1], "name": ["a"]})
    lake.begin()
    add(lake, path)
    add(lake, path)
    assert lake.table("t").count() == 2
    lake.rollback()
    assert path.exists()
    assert lake.table("t").count() == 0
    with lake.transaction():
        add(lake, path)
        lake.create_table("other", COLUMNS)
        add_data_files(lake, "lake", "other", str(path))
        lake.drop_table("other")
    assert path.exists()
    assert rows_of(lake.table("t")) == [(1, "a")]


def test_unreadable_files_are_refused_and_nothing_is_added(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", COLUMNS)
    good = write(tmp_path / "good.parquet", {"id": [1], "name": ["a"]})
    text, cut, empty = (tmp_path / name for name in ("a.csv", "cut.parquet", "empty.parquet"))
    text.write_text("id,name\n1,a\n" * 10)
    cut.write_bytes(good.read_bytes()[:-20])
    empty.touch()
    secret = write(
        tmp_path / "secret.parquet",
        {"id": [1], "name": ["a"]},
        encryption_properties=encryption(b"0123456789abcdef"),
    )
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1" + b"\xff" * 200 + (100).to_bytes(4, "little") + b"PAR1")
    for path, error in (
        (text, Corruption),
        (cut, Corruption),
        (empty, Corruption),
        (damaged, Corruption),
        (secret, Forbidden),
        (tmp_path / "none.parquet", NotFound),
        (tmp_path / "*.orc", NotFound),
    ):
        with pytest.raises(error):
            add(lake, good, path)
    with pytest.raises(InvalidInput, match="No file to add was given"):
        add(lake)
    with pytest.raises(NotFound, match="nope"):
        add_data_files(lake, "lake", "nope", str(good))
    with pytest.raises(InvalidInput, match="more than one schema"):
        add_data_files(lake, "lake", "main.t", str(good), "main")
    assert files_of(lake) == []


def test_encrypted_tables_refuse_plain_files(
    session: Session, metadata: str, tmp_path: Path
) -> None:
    session.attach(
        metadata, "lake", catalog="c", data_path=str(tmp_path / "data"), encrypted=True,
        create_if_not_exists=True,
    )  # fmt: skip
    session.create_table("lake.main.t", COLUMNS)
    path = write(tmp_path / "f.parquet", {"id": [1], "name": ["a"]})
    with pytest.raises(InvalidInput, match="are encrypted, and the files to add are not"):
        add(session, path)


# Ownership


def test_added_files_are_not_owned_unless_ownership_is_taken(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", COLUMNS)
    catalog = lake.attachment("lake").catalog
    state = catalog.refresh()
    folder = Path(lake.attachment("lake").located(catalog.table_folder(state, state.table("t"))))
    rows = {"id": [1], "name": ["a"]}
    kept = write(tmp_path / "kept.parquet", rows)
    given = write(tmp_path / "given.parquet", rows)
    shared = write(tmp_path / "shared.parquet", rows)
    inside = write(folder / "inside.parquet", rows)
    add(lake, kept, inside)
    add(lake, given, shared, take_ownership=True)
    relative = {Path(one.path).name: one.path_is_relative for one in files_of(lake)}
    assert relative == {
        "kept.parquet": False, "inside.parquet": True, "given.parquet": False,
        "shared.parquet": False,
    }  # fmt: skip
    lake.create_table("u", COLUMNS)
    add_data_files(lake, "lake", "u", str(shared))

    merge_adjacent_files(lake, "lake", "t")
    assert lake.table("t").count() == 4
    lake.insert("u", [{"id": 2}])
    catalog.expire_snapshots(older_than=dt.datetime.now(dt.UTC))
    removed = catalog.cleanup_old_files(cleanup_all=True)
    catalog.delete_orphaned_files(cleanup_all=True)

    assert set(removed) == {str(given), str(inside)}
    assert [path.exists() for path in (kept, given, shared, inside)] == [True, False, True, False]
    assert lake.table("t").count() == 4
    assert lake.table("u").count() == 2


def test_sql_adds_files(engine: Any, metadata: str, tmp_path: Path) -> None:
    path = write(tmp_path / "f.parquet", {"id": [1], "name": ["a"], "more": [0]})
    with forklake.connect(engine.spark) as session:
        session.sql(f"ATTACH '{metadata}' AS lake (CATALOG 'c', DATA_PATH '{tmp_path / 'data'}',"
                    " CREATE_IF_NOT_EXISTS true)")  # fmt: skip
        session.sql("CREATE TABLE lake.t (id BIGINT, name VARCHAR)")
        found = session.sql(
            f"CALL ducklake_add_data_files('lake', 't', '{path}', ignore_extra_columns => true)"
        )
        assert rows_of(found) == [(str(path),)]
        assert rows_of(session.sql("SELECT * FROM lake.t")) == [(1, "a")]


@pytest.mark.parametrize("held", [pa.float32(), pa.float64()], ids=str)
def test_rows_with_nan_are_found_beside_bounds_without_it(
    lake: Session, tmp_path: Path, held: pa.DataType
) -> None:
    lake.create_table("t", [ColumnSpec("x", "float64"), ColumnSpec("s", struct(y="float64"))])
    values = pa.array([0.1, float("nan"), None], held)
    nested = pa.StructArray.from_arrays([values], ["y"])
    one = pa.array([0.1], held)
    add(
        lake,
        write(tmp_path / "a.parquet", pa.table({"x": values, "s": nested})),
        write(
            tmp_path / "b.parquet",
            pa.table({"x": one, "s": pa.StructArray.from_arrays([one], ["y"])}),
        ),
    )
    exact = one[0].as_py()
    for condition, count in [
        ("{0} > 5", 1),
        ("{0} >= 0.2e0", 1),
        ("{0} = 'nan'::DOUBLE", 1),
        ("{0} IN ('nan'::DOUBLE, 7e0)", 1),
        (f"{{0}} <> {exact!r}::DOUBLE", 1),
        (f"NOT {{0}} < {exact!r}::DOUBLE", 3),
        (f"{{0}} = {exact!r}::DOUBLE", 2),
        ("{0} IS NULL", 1),
        ("{0} < 5", 2),
    ]:
        for column in ("x", "s.y"):
            text = f"SELECT count(*) FROM t WHERE {condition.format(column)}"
            assert lake.sql(text).collect()[0][0] == count, text


def test_values_are_found_in_files_of_floats_by_floats(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [ColumnSpec("x", "float64")])
    add(lake, write(tmp_path / "a.parquet", {"x": pa.array([0.1], pa.float32())}))
    for text in ("x = 0.1::FLOAT", "x <= 0.1::FLOAT::DOUBLE", "x IN (0.1::FLOAT, 5)"):
        assert lake.sql(f"SELECT count(*) FROM t WHERE {text}").collect()[0][0] == 1
