"""Names inside data files, and types with which files were written."""

from __future__ import annotations

import pytest

from forklake import Catalog, ColumnSpec, Metastore
from forklake.errors import InvalidInput
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import UNCOMMITTED, SnapshotId
from forklake.model.state import CatalogState
from forklake.model.types import list_of, map_of, struct, struct_of
from tests.behavior.builders import a_file


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    """Return a catalog with a table `t (a, b)`."""
    catalog = metastore.create_catalog("sales", data_path="/lake")
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("a", "int8"), ColumnSpec("b", "varchar")])
    return catalog


def named(state: CatalogState, *path: str) -> dict[str, str]:
    """Return the physical names by logical name, of the table or of a struct in it."""
    fields = state.fields(state.table("t"))
    for name in path:
        fields = next(one.fields for one in fields if one.name == name)
    return {one.name: one.physical_name for one in fields}


def column_a(state: CatalogState) -> Field:
    return state.fields(state.table("t"))[0]


def table_of(catalog: Catalog) -> Table:
    return catalog.now().state.table("t")


def test_a_field_has_all_properties_of_a_column(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.add_column(table, ColumnSpec("c", "int32", default="7"))
        transaction.set_nullable(table, "a", False)
        nested = struct(x="date", l=list_of(map_of("int32", "decimal(9,2)")))
        transaction.add_column(table, ColumnSpec("s", nested))
    a, _, c, s = catalog.now().state.fields(table_of(catalog))
    assert (a.column_id, a.name, a.physical_name, a.type) == (1, "a", "a", "int8")
    assert (a.nulls_allowed, a.initial_default, a.fields) == (False, None, ())
    assert (c.initial_default, c.default_value, c.default_value_type) == ("7", "7", "literal")
    assert [one.name for one in s.fields] == ["x", "l"]
    key, value = s.fields[1].fields[0].fields
    assert (key.name, key.type, value.name, value.type) == ("key", "int32", "value", "decimal(9,2)")


def test_a_renamed_column_keeps_its_physical_name(catalog: Catalog) -> None:
    for new in ("A", "x", "y", "a"):
        with catalog.transaction() as transaction:
            old = column_a(transaction.state).name
            transaction.rename_column(transaction.table("t"), old, new)
            assert column_a(transaction.state).physical_name == "a"
        field = column_a(catalog.now().state)
        assert (field.name, field.physical_name) == (new, "a")


def test_physical_names_are_never_reused(catalog: Catalog) -> None:
    def change(*steps: tuple[str, ...]) -> dict[str, str]:
        for kind, *names in steps:
            with catalog.transaction() as transaction:
                table = transaction.table("t")
                if kind == "add":
                    transaction.add_column(table, ColumnSpec(names[0], "int32"))
                elif kind == "drop":
                    transaction.drop_column(table, names[0])
                else:
                    transaction.rename_column(table, *names)
        return named(catalog.now().state)

    assert change(("rename", "a", "z"), ("add", "a")) == {"z": "a", "b": "b", "a": "a_3"}
    assert change(("drop", "b"), ("add", "B")) == {"z": "a", "a": "a_3", "B": "B_4"}
    assert change(("drop", "B"), ("add", "b")) == {"z": "a", "a": "a_3", "b": "b_5"}
    assert change(("drop", "z"), ("add", "z"))["z"] == "z"
    assert change(("add", "a_3"))["a_3"] == "a_3_7"
    # Swapping two names does not swap the names inside the files.
    swapped = change(("rename", "a", "t"), ("rename", "b", "a"), ("rename", "t", "b"))
    assert (swapped["a"], swapped["b"]) == ("b_5", "a_3")


def test_a_column_added_and_dropped_in_one_transaction_keeps_its_name(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.add_column(table, ColumnSpec("c", "int32"))
        transaction.drop_column(table, "c")
        transaction.add_column(table, ColumnSpec("C", "varchar"))
    assert named(catalog.now().state)["C"] == "C_4"


def test_physical_names_are_unique_within_their_parent(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.add_column(table, ColumnSpec("s", struct(a="int32", b="int32")))
        transaction.drop_column(table, ("s", "a"))
        transaction.add_column(table, ColumnSpec("a", "date"), inside="s")
        transaction.rename_column(table, ("s", "b"), "c")
    assert named(catalog.now().state, "s") == {"c": "b", "a": "a_6"}
    assert named(catalog.now().state) == {"a": "a", "b": "b", "s": "s"}


def test_physical_names_contain_no_dots(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        inside = struct_of([("x.y", "int32"), ("x", struct(y="int32")), ("x_y", "int32")])
        columns = [
            ColumnSpec("a.b", "int32"),
            ColumnSpec("a_b", "int32"),
            ColumnSpec("A_B_1", "int32"),
            ColumnSpec("s", inside),
        ]
        table = transaction.create_table("t", columns, or_replace=True)
        transaction.add_column(table, ColumnSpec("a.b_1", struct_of([("p.q", "int32")])))
        transaction.rename_column(table, "a_b", "c.d")
    state = catalog.now().state
    names = named(state)
    assert names == {
        "a.b": "a_b_1_1",
        "c.d": "a_b",
        "A_B_1": "A_B_1",
        "s": "s",
        "a.b_1": "a_b_1_9",
    }
    assert named(state, "s") == {"x.y": "x_y_5", "x": "x", "x_y": "x_y"}
    assert named(state, "a.b_1") == {"p.q": "p_q"}


def test_forks_inherit_physical_names_and_assign_new_ones_independently(
    metastore: Metastore, catalog: Catalog
) -> None:
    with catalog.transaction() as transaction:
        transaction.rename_column(transaction.table("t"), "a", "x")
        transaction.drop_column(transaction.table("t"), "b")
    for mode in ("inherit", "copy"):
        fork = metastore.fork("sales", mode, mode=mode)
        with fork.transaction() as transaction:
            transaction.add_column(transaction.table("t"), ColumnSpec("a", "int32"))
            transaction.add_column(transaction.table("t"), ColumnSpec("b", "int32"))
        assert named(fork.now().state) == {"x": "a", "a": "a_3", "b": "b_4"}
    assert named(catalog.now().state) == {"x": "a"}


def test_a_promoted_column_records_the_types_in_its_files(catalog: Catalog) -> None:
    snapshots = [catalog.current_snapshot()]
    for wider in ("int16", "float32", "float64"):
        with catalog.transaction() as transaction:
            transaction.set_column_type(transaction.table("t"), "a", wider)
            assert column_a(transaction.state).promotions[-1][0] == UNCOMMITTED
            assert column_a(transaction.state).type_in(snapshots[-1]) != wider
            assert column_a(transaction.state).type_in(UNCOMMITTED) == wider
        snapshots.append(catalog.current_snapshot())
    field = column_a(catalog.now().state)
    assert [kind for _, kind in field.promotions] == ["int8", "int16", "float32"]
    assert [at for at, _ in field.promotions] == snapshots[1:]
    held = [field.type_in(SnapshotId(at)) for at in snapshots]
    assert held == ["int8", "int16", "float32", "float64"]
    past = column_a(catalog.at(version=snapshots[1]).state)
    assert (past.type, past.promotions) == ("int16", ((snapshots[1], "int8"),))


def test_promotions_that_old_files_cannot_be_read_with_are_refused(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.add_data_files(table, [a_file("a")])
        with pytest.raises(InvalidInput, match="after files were written"):
            transaction.set_column_type(table, "a", "float32")
        transaction.set_column_type(table, "a", "int64")


def test_own_tags_are_hidden_and_reserved(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.rename_column(table, "a", "x")
        transaction.drop_column(table, "b")
        transaction.set_column_tag(table, "x", "owner", "me")
        for key in ("_forklake_physical_name", "_Forklake_x"):
            with pytest.raises(InvalidInput, match="reserved"):
                transaction.set_tag(table, key, "x")
            with pytest.raises(InvalidInput, match="reserved"):
                transaction.set_column_tag(table, "x", key, "x")
            with pytest.raises(InvalidInput, match="reserved"):
                transaction.add_column(table, ColumnSpec("n", "int32", tags={key: "x"}))
    state = catalog.now().state
    assert state.tags(table.table_id) == {}
    assert state.column_tags(state.column(table, "x")) == {"owner": "me"}
