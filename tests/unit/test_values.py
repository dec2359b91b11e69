"""Names, types, options, paths, addresses, statistics and errors."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake import errors
from forklake.errors import ForklakeError, InvalidInput, Unsupported
from forklake.files.paths import checked_data_path, resolve
from forklake.model.entities import ColumnStatistics
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId, TableId
from forklake.model.names import checked_name, folder_for, quoted
from forklake.model.options import OPTIONS, Scope, checked_option
from forklake.model.statistics import widened
from forklake.model.types import is_wider, list_of, map_of, scalar, struct, struct_of
from forklake.store.catalogs import _after_prefix
from forklake.store.uri import Target, parse_uri


@given(st.text(max_size=300))
def test_a_name_is_refused_or_kept_readable(name: str) -> None:
    try:
        kept = checked_name(name, "table")
    except InvalidInput:
        return
    assert kept.isprintable()
    assert kept == kept.strip()
    assert checked_name(kept, "table") == kept
    assert quoted(kept)[1:-1].replace('""', '"') == kept


def test_folders_use_the_name_where_that_is_safe() -> None:
    assert folder_for("orders_2-b", "u") == "orders_2-b/"
    assert [folder_for(name, "u") for name in ("a/b", "..", "ü", "a b")] == ["u/"] * 4


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), st.text())
def test_the_end_of_a_prefix_is_greater_than_all_names_with_it(prefix: str, rest: str) -> None:
    ends = _after_prefix(prefix)
    if ends:
        assert prefix <= prefix + rest < ends


def test_types_print_as_they_are_stored() -> None:
    nested = struct(a="INTEGER", b=list_of(map_of("text", scalar("Decimal( 10, 2 )"))))
    assert str(nested) == "struct(a int32, b list(map(varchar, decimal(10,2))))"
    for refused in ("bit", "enum", "int64[]", "union", ""):
        with pytest.raises(Unsupported, match="unsupported type"):
            scalar(refused)
    with pytest.raises(Unsupported):
        struct()
    with pytest.raises(InvalidInput):
        struct_of([("a", "int32"), ("A", "int32")])


@pytest.mark.parametrize(
    ("old", "new", "is_fine"),
    [
        ("int8", "int64", True),
        ("int64", "int32", False),
        ("int32", "float64", True),
        ("int64", "float64", False),
        ("uint32", "int64", True),
        ("uint32", "int32", False),
        ("float32", "float64", True),
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(10,3)", False),
        ("decimal(10,2)", "decimal(11,3)", True),
        ("date", "timestamp", True),
        ("varchar", "int32", False),
        ("int32", "varchar", False),
    ],
)
def test_types_may_only_be_widened(old: str, new: str, is_fine: bool) -> None:
    assert is_wider(old, new) is is_fine


def test_all_seventeen_options_accept_their_default() -> None:
    assert len(OPTIONS) == 17
    for name, rule in OPTIONS.items():
        if rule.default is not None:
            assert checked_option(name.upper(), rule.default, Scope.CATALOG)[0] == name
    assert checked_option("target_file_size", "1.5 KB", Scope.TABLE) == ("target_file_size", "1500")
    assert checked_option("target_file_size", "2MiB", Scope.TABLE)[1] == str(2 * 2**20)
    assert checked_option("auto_compact", False, Scope.TABLE)[1] == "false"


def test_paths_cannot_lead_out_of_the_data_path() -> None:
    assert resolve("/lake/", "a/b.parquet", is_relative=True) == "/lake/a/b.parquet"
    assert resolve("/lake/", "s3://b/c", is_relative=False) == "s3://b/c"
    for path in ("../x", "a/../../x", "/etc/passwd", ".."):
        with pytest.raises(InvalidInput, match="leads out"):
            resolve("/lake/", path, is_relative=True)
    for path in ("", " ", "a/../b", "a\x00b"):
        with pytest.raises(InvalidInput):
            checked_data_path(path)


@pytest.mark.parametrize(
    "address", ["foo:bar", "ducklake:foo:bar", "http://host/db", "s3://b/x.db"]
)
def test_an_unknown_scheme_of_an_address_is_named(address: str) -> None:
    with pytest.raises(InvalidInput, match=r"has the unknown scheme '(foo|http|s3)'") as error:
        parse_uri(address)
    assert "ducklake:<path>" in error.value.remedy
    assert f"ducklake:./{address.removeprefix('ducklake:')}." in error.value.remedy


def test_a_file_may_have_a_colon_in_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_uri("ducklake:./foo:bar") == Target("sqlite", "./foo:bar")
    (tmp_path / "foo:bar").touch()
    assert parse_uri("foo:bar") == Target("sqlite", "foo:bar")


def test_addresses_have_a_backend_and_a_location() -> None:
    assert parse_uri("ducklake:postgres:host=x dbname=y") == Target("postgresql", "host=x dbname=y")
    assert parse_uri("postgresql://u@h/d") == Target("postgresql", "postgresql://u@h/d")
    assert parse_uri("ducklake:duckdb:/x/y.db") == Target("duckdb", "/x/y.db")
    assert parse_uri("ducklake:new-file.db") == Target("sqlite", "new-file.db")
    assert parse_uri("ducklake:mysql:host=x db=y") == Target("mysql", "host=x db=y")
    assert parse_uri("ducklake:mariadb://u@h/d") == Target("mysql", "mariadb://u@h/d")
    assert [parse_uri(one).is_file for one in ("ducklake:a.db", "ducklake:mysql:db=y")] == [
        True,
        False,
    ]


integers = st.integers(-(10**30), 10**30)


@given(st.lists(st.tuples(integers, integers), min_size=1, max_size=6))
def test_bounds_hold_for_every_file(pairs: list[tuple[int, int]]) -> None:
    after: ColumnStatistics | None = None
    for low, high in ((min(pair), max(pair)) for pair in pairs):
        bound = ColumnBounds(
            ColumnId(1), value_count=5, null_count=0, min_value=str(low), max_value=str(high)
        )
        after = widened(after, (TableId(1), ColumnId(1), "int128"), [bound])
    assert after is not None
    assert after.min_value is not None
    assert after.max_value is not None
    assert Decimal(after.min_value) == min(min(pair) for pair in pairs)
    assert Decimal(after.max_value) == max(max(pair) for pair in pairs)
    assert after.contains_null is False


def test_unknown_bounds_stay_unknown() -> None:
    column = (TableId(1), ColumnId(1), "int32")
    known = ColumnBounds(ColumnId(1), value_count=5, null_count=0, min_value="1", max_value="2")
    unknown = ColumnBounds(ColumnId(1), value_count=5, null_count=0)
    all_null = ColumnBounds(ColumnId(1), value_count=5, null_count=5)
    first = widened(None, column, [known])
    assert widened(first, column, [known]) == first
    still = widened(first, column, [all_null])
    assert (still.min_value, still.max_value, still.contains_null) == ("1", "2", True)
    lost = widened(widened(first, column, [unknown]), column, [known])
    assert (lost.min_value, lost.max_value) == (None, None)
    assert widened(None, (TableId(1), ColumnId(1), "struct"), [known]).min_value is None


def test_nan_is_unknown_once_a_file_does_not_record_it() -> None:
    column = (TableId(1), ColumnId(1), "float64")
    without, having, silent = (
        ColumnBounds(ColumnId(1), value_count=5, null_count=0, contains_nan=reported)
        for reported in (False, True, None)
    )
    none_yet = widened(None, column, [without])
    assert none_yet.contains_nan is False
    assert widened(none_yet, column, [without]) == none_yet
    assert widened(none_yet, column, [silent]).contains_nan is None
    assert widened(widened(none_yet, column, [silent]), column, [without]).contains_nan is None
    assert widened(none_yet, column, [silent, having]).contains_nan is True
    assert widened(widened(None, column, [having]), column, [silent]).contains_nan is True
    whole = widened(None, (TableId(1), ColumnId(1), "int32"), [silent])
    assert whole.contains_nan is None
    assert widened(whole, (TableId(1), ColumnId(1), "int32"), [silent]) == whole


def test_every_error_has_its_own_status_and_exit_code() -> None:
    family = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, ForklakeError)
    ]
    assert set(errors.OUTCOMES) == set(family)
    codes = [errors.outcome(kind("x"))[1] for kind in family]
    assert len(set(codes)) == len(codes)
    shown = str(errors.NotFound("Gone.", remedy="Look elsewhere.", catalog="x"))
    assert shown == "Gone. Look elsewhere."
