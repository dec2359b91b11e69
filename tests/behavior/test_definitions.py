"""Schemas, tables, columns, views, macros, tags, partitionings and mappings."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from forklake import (
    Catalog,
    ColumnSpec,
    MacroSpec,
    Metastore,
    NewDataFile,
    list_of,
    map_of,
    struct,
)
from forklake.errors import AlreadyExists, ForklakeError, InvalidInput, NotFound, Unsupported
from forklake.model.children import MacroImplementation
from forklake.store.scheduled import ScheduledFile
from tests.behavior.builders import COLUMNS, a_table, append
from tests.properties.observe import type_text


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    """Return an empty catalog."""
    return metastore.create_catalog("c")


def test_nested_columns_have_one_row_per_node(catalog: Catalog) -> None:
    nested = struct(a="int32", b=list_of(struct(c=map_of("varchar", "decimal(18,3)"))))
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("s", nested), ColumnSpec("n", "BIGINT")])
    state = catalog.now().state
    table = state.table("t")
    assert [type_text(state, table, one) for one in state.columns(table)] == [
        "struct(a int32, b list(element struct(c map(key varchar, value decimal(18,3)))))",
        "int64",
    ]
    assert state.column(table, "s", "b", "element", "c", "value").column_type == "decimal(18,3)"


def test_two_parents_may_have_fields_of_the_same_name(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        specs = [ColumnSpec("a", struct(x="int32")), ColumnSpec("b", struct(x="int32"))]
        transaction.create_table("t", specs)
    state = catalog.now().state
    table = state.table("t")
    assert state.column(table, "a", "x").column_id != state.column(table, "b", "x").column_id


def test_names_keep_their_case_and_are_compared_without_it(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_schema("Sales")
        transaction.create_table("Orders", [ColumnSpec("Id", "int32")], schema="sALES")
    state = catalog.now().state
    assert state.table("ORDERS", "sales").table_name == "Orders"
    assert state.column(state.table("orders", "SALES"), "ID").column_name == "Id"


@pytest.mark.parametrize("twin", ["t", "T"])
def test_tables_and_views_share_one_namespace(catalog: Catalog, twin: str) -> None:
    a_table(catalog)
    with (
        pytest.raises(AlreadyExists, match="already exists"),
        catalog.transaction() as transaction,
    ):
        transaction.create_view(twin, "SELECT 1")
    with pytest.raises(AlreadyExists), catalog.transaction() as transaction:
        transaction.create_table(twin, COLUMNS)


def test_a_schema_with_contents_needs_cascade(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_schema("s")
        transaction.create_table("t", COLUMNS, schema="s", comment="hello")
        transaction.create_view("v", "SELECT 1", schema="s")
        transaction.create_macro("m", [MacroSpec("1")], schema="s")
    with pytest.raises(InvalidInput, match="not empty"), catalog.transaction() as transaction:
        transaction.drop_schema("s")
    with catalog.transaction() as transaction:
        transaction.drop_schema("s", cascade=True)
    assert [schema.schema_name for schema in catalog.now().state.schemas()] == ["main"]
    changes = [str(one) for one in catalog.snapshots()[-1].changes]
    assert [one.split(":")[0] for one in changes] == [
        "dropped_schema",
        "dropped_table",
        "dropped_view",
        "dropped_scalar_macro",
    ]


def test_a_column_added_again_after_a_drop_is_a_new_column(catalog: Catalog) -> None:
    table = a_table(catalog)
    first = catalog.now().state.column(table, "name").column_id
    with catalog.transaction() as transaction:
        transaction.drop_column(table, "name")
    with catalog.transaction() as transaction:
        transaction.add_column(table, ColumnSpec("name", "varchar"))
    assert catalog.now().state.column(table, "name").column_id > first


def test_old_rows_keep_the_initial_default_of_an_added_column(catalog: Catalog) -> None:
    table = a_table(catalog)
    with catalog.transaction() as transaction:
        transaction.add_column(table, ColumnSpec("n", "int32", default="42"))
    with catalog.transaction() as transaction:
        transaction.set_default(table, "n", None)
    column = catalog.now().state.column(table, "n")
    assert (column.initial_default, column.default_value) == ("42", None)
    with pytest.raises(InvalidInput, match="non-literal"), catalog.transaction() as transaction:
        transaction.add_column(
            table, ColumnSpec("m", "timestamp", default="now()", default_type="expression")
        )


def test_fields_are_added_renamed_and_dropped_inside_structs(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("s", struct(a="int32", b="int32"))])
    table = catalog.now().state.table("t")
    with catalog.transaction() as transaction:
        transaction.add_column(table, ColumnSpec("c", "varchar"), inside="s")
        transaction.rename_column(table, ("s", "a"), "first")
        transaction.drop_column(table, ("s", "b"))
        transaction.set_column_type(table, ("s", "first"), "bigint")
    state = catalog.now().state
    assert type_text(state, table, state.column(table, "s")) == "struct(first int64, c varchar)"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda one, table: one.drop_column(table, "nowhere"), NotFound),
        (lambda one, table: one.add_column(table, ColumnSpec("ID", "int32")), AlreadyExists),
        (lambda one, table: one.rename_column(table, "id", "NAME"), AlreadyExists),
        (lambda one, table: one.set_column_type(table, "id", "int32"), InvalidInput),
        (lambda one, table: one.set_column_type(table, "name", "int32"), InvalidInput),
        (lambda one, table: one.add_column(table, ColumnSpec("x", "money")), Unsupported),
        (lambda one, table: one.add_column(table, ColumnSpec("x", "decimal(99,1)")), InvalidInput),
        (lambda one, table: one.add_column(table, ColumnSpec("_ducklake_x", "int8")), InvalidInput),
        (
            lambda one, table: one.add_column(table, ColumnSpec("x", "int8", default=7)),  # type: ignore[arg-type]
            InvalidInput,
        ),
        (lambda one, table: one.set_default(table, "id", 7), InvalidInput),
        (lambda one, table: one.set_default(table, "id", "seven"), InvalidInput),
        (
            lambda one, table: one.create_table("x", [ColumnSpec("a", "int8", default="300")]),
            InvalidInput,
        ),
        (
            lambda one, table: one.create_table(
                "x", [ColumnSpec("a", list_of("int8"), default="[f()]")]
            ),
            Unsupported,
        ),
        (
            lambda one, table: one.add_column(
                table, ColumnSpec("a", list_of("int8"), default="[1]")
            ),
            Unsupported,
        ),
        (
            lambda one, table: one.add_column(table, ColumnSpec("x", "int8"), inside="id"),
            InvalidInput,
        ),
        (lambda one, table: one.set_partitioning(table, [("id", "century")]), InvalidInput),
        (lambda one, table: one.create_table("x", []), InvalidInput),
        (lambda one, table: one.create_table("x", [COLUMNS[0], COLUMNS[0]]), InvalidInput),
        (lambda one, table: one.create_macro("x", []), InvalidInput),
        (lambda one, table: one.drop_view("t"), NotFound),
        (lambda one, table: one.drop_schema("nowhere"), NotFound),
        (lambda one, table: one.create_table("x", COLUMNS, schema="nowhere"), NotFound),
        (lambda one, table: one.insert_rows(table, [{"nope": 1}]), InvalidInput),
    ],
)
def test_invalid_definitions_are_refused_and_change_nothing(
    catalog: Catalog, change: object, error: type[ForklakeError]
) -> None:
    table = a_table(catalog)
    before = catalog.current_snapshot()
    transaction = catalog.transaction()
    with pytest.raises(error) as caught:
        change(transaction, table)  # type: ignore[operator]
    assert caught.value.message
    assert transaction.commit() is None
    assert catalog.current_snapshot() == before


def test_the_last_column_and_partition_keys_cannot_be_dropped(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_table("t", COLUMNS, partition_by=[("id", "identity")])
    table = catalog.now().state.table("t")
    with catalog.transaction() as transaction, pytest.raises(InvalidInput, match="partition key"):
        transaction.drop_column(table, "id")
    with catalog.transaction() as transaction:
        transaction.set_partitioning(table, [])
        transaction.drop_column(table, "name")
        with pytest.raises(InvalidInput, match="only one left"):
            transaction.drop_column(table, "id")
    assert catalog.now().state.partitioning(table) == []


@pytest.mark.parametrize(
    ("column_type", "transform", "is_fine"),
    [
        ("blob", "identity", False),
        ("interval", "identity", False),
        ("float64", "identity", True),
        ("decimal(9,2)", "identity", True),
        ("date", "hour", True),
        ("timestamptz", "year", True),
        ("varchar", "year", False),
        ("int32", "day", False),
    ],
)
def test_partition_keys_need_types_with_distinct_texts(
    catalog: Catalog, column_type: str, transform: str, is_fine: bool
) -> None:
    transaction = catalog.transaction()
    columns, keys = [ColumnSpec("c", column_type)], [("c", transform)]
    if is_fine:
        table = transaction.create_table("t", columns, partition_by=keys)
        assert [key.transform for key in transaction.state.partitioning(table)] == [transform]
        return
    with pytest.raises(InvalidInput, match=f"'c' of type {column_type} cannot be partitioned"):
        transaction.create_table("t", columns, partition_by=keys)


def test_setting_the_same_partitioning_again_changes_nothing(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_table("t", COLUMNS, partition_by=[("id", "identity")])
    table = catalog.now().state.table("t")
    transaction = catalog.transaction()
    transaction.set_partitioning(table, [("ID", "identity")])
    assert transaction.commit() is None


def test_macros_keep_overloads_parameters_and_defaults(catalog: Catalog) -> None:
    overloads = [MacroSpec("a + 1", ["a"]), MacroSpec("a + b", ["a", "b"], {"b": "2"})]
    with catalog.transaction() as transaction:
        transaction.create_macro("m", overloads)
        transaction.create_macro("m", [MacroSpec("SELECT 1")], type="table")
    state = catalog.now().state
    macro = state.macro("M")
    assert [one.sql for one in state.children(MacroImplementation, macro.macro_id)] == [
        "a + 1",
        "a + b",
    ]
    assert [
        (one.parameter_name, one.default_value) for one in state.macro_parameters(macro, 1)
    ] == [
        ("a", None),
        ("b", "2"),
    ]
    assert state.macro("m", type="table").macro_id != macro.macro_id


def test_replacing_a_view_keeps_its_id(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_view("v", "SELECT 1", column_aliases="x")
    first = catalog.now().state.view("v")
    with catalog.transaction() as transaction:
        transaction.create_view("v", "SELECT 2", or_replace=True)
    second = catalog.now().state.view("v")
    assert (second.view_id, second.sql) == (first.view_id, "SELECT 2")
    assert [str(one) for one in catalog.snapshots()[-1].changes] == [
        f"altered_view:{first.view_id}"
    ]


def test_a_table_rename_is_recorded_as_alteration_and_new_name(catalog: Catalog) -> None:
    table = a_table(catalog)
    with catalog.transaction() as transaction:
        transaction.rename_table("t", 'we"ird')
    assert [str(one) for one in catalog.snapshots()[-1].changes] == [
        'created_table:"main"."we""ird"',
        f"altered_table:{table.table_id}",
    ]


def test_a_name_mapping_is_found_by_its_files(catalog: Catalog) -> None:
    table = a_table(catalog)
    column = catalog.now().state.column(table, "id")
    with catalog.transaction() as transaction:
        mapping = transaction.add_name_mapping(table, [("ID_IN_FILE", column.column_id)])
        transaction.add_data_files(
            table, [NewDataFile("s3://x/f", 1, 1, path_is_relative=False, mapping_id=mapping)]
        )
    (file,) = catalog.now().data_files(table)
    assert file.mapping_id is not None
    found, names = catalog.now().name_mapping(file.mapping_id)
    assert (found.table_id, found.type) == (table.table_id, "map_by_name")
    assert [(one.source_name, one.target_field_id) for one in names] == [("ID_IN_FILE", 1)]


def test_partition_values_and_statistics_are_found_by_their_files(catalog: Catalog) -> None:
    table = a_table(catalog)
    append(catalog, table, "1", "2")
    seen = catalog.now()
    ids = [file.data_file_id for file in seen.data_files(table)]
    statistics = seen.file_statistics(table, ids)
    assert [(one.data_file_id, one.min_value, one.max_value) for one in statistics] == [
        (ids[0], "0", "9"),
        (ids[1], "0", "9"),
    ]
    assert seen.partition_values(table, ids) == []


def test_the_option_with_the_narrowest_scope_applies(
    metastore: Metastore, catalog: Catalog
) -> None:
    a_table(catalog)

    def value() -> tuple[str | None, str]:
        options = catalog.options(table="t")
        return next((one, where) for name, one, where in options if name == "parquet_compression")

    assert value() == ("snappy", "default")
    metastore.set_option("parquet_compression", "gzip")
    assert value() == ("gzip", "global")
    catalog.set_option("parquet_compression", "zstd")
    assert value() == ("zstd", "catalog")
    catalog.set_option("parquet_compression", "lz4", schema="main")
    assert value() == ("lz4", "schema")
    catalog.set_option("parquet_compression", "brotli", table="t")
    assert value() == ("brotli", "table")
    catalog.set_option("PARQUET_COMPRESSION", None, table="t")
    assert value() == ("lz4", "schema")
    for name in ("main", None):
        catalog.set_option("parquet_compression", None, schema=name)
    metastore.set_option("PARQUET_compression", None)
    assert value() == ("snappy", "default")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("no_such_option", "1"),
        ("no_such_option", None),
        ("parquet_compression", "rar"),
        ("rewrite_delete_threshold", "1.5"),
        ("data_inlining_row_limit", "-1"),
        ("target_file_size", "big"),
        ("auto_compact", "maybe"),
        ("expire_older_than", "soon"),
        ("parquet_version", "3"),
    ],
)
def test_bad_options_are_refused(catalog: Catalog, name: str, value: str | None) -> None:
    with pytest.raises(InvalidInput):
        catalog.set_option(name, value)
    assert catalog.current_snapshot() == 1


def test_some_options_apply_to_whole_catalogs_only(catalog: Catalog) -> None:
    a_table(catalog)
    with pytest.raises(InvalidInput, match="cannot be set for a table"):
        catalog.set_option("expire_older_than", "7 days", table="t")


def test_files_stay_scheduled_for_deletion_until_they_are_removed(catalog: Catalog) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    files = [ScheduledFile(number, f"p/{number}", True, moment) for number in range(3)]
    catalog.schedule_deletion(files)
    catalog.schedule_deletion(files[:1])
    assert catalog.scheduled_files() == files
