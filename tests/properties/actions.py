"""Random changes of a catalog, applied to a transaction and to the model.

An action returns False if it finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random

from forklake import (
    ColumnBounds,
    ColumnSpec,
    MacroSpec,
    NewDataFile,
    NewDeleteFile,
    Transaction,
    list_of,
    map_of,
    struct,
)
from forklake.model.entities import Table
from forklake.model.types import ColumnType
from forklake.model.values import from_text
from tests.properties.model import ModelColumn, ModelFile, ModelSchema, ModelState, ModelTable

Action = Callable[[Transaction, ModelState, Random], bool]

NAMES = ("a", "b", 'q"uote', "Ünï", "d.o.t")
TYPES: dict[str, ColumnType | str] = {
    "int32": "int32",
    "int64": "int64",
    "varchar": "varchar",
    "struct(x int32, y varchar)": struct(x="int32", y="varchar"),
    "list(element struct(k int64))": list_of(struct(k="int64")),
    "map(key varchar, value int32)": map_of("varchar", "int32"),
}
SCALARS = ("int32", "int64", "varchar")
ACTIONS: list[Action] = []
_numbers = count()  # paths are never used twice


def action(function: Action) -> Action:
    """Register an action."""
    ACTIONS.append(function)
    return function


def _new_path(transaction: Transaction) -> str:
    """Return an unused path in the catalog's folder."""
    return f"{transaction._catalog.row.path}{next(_numbers)}.parquet"


def _pick_table(
    transaction: Transaction, model: ModelState, random: Random
) -> tuple[Table, ModelTable] | None:
    places = [
        (schema_name, table_name)
        for schema_name, schema in model.schemas.items()
        for table_name in schema.tables
    ]
    if not places:
        return None
    schema_name, table_name = random.choice(sorted(places))
    table = transaction.table(table_name, schema_name)
    return table, model.schemas[schema_name].tables[table_name]


def _schema(model: ModelState, random: Random) -> tuple[str, ModelSchema]:
    name = random.choice(sorted(model.schemas))
    return name, model.schemas[name]


def _free(random: Random, taken: object) -> str | None:
    free = [name for name in NAMES if name not in taken]  # type: ignore[operator]
    return random.choice(free) if free else None


@action
def create_schema(transaction: Transaction, model: ModelState, random: Random) -> bool:
    name = _free(random, model.schemas)
    if name is None:
        return False
    transaction.create_schema(name)
    model.schemas[name] = ModelSchema()
    return True


@action
def rename_schema(transaction: Transaction, model: ModelState, random: Random) -> bool:
    name, schema = _schema(model, random)
    new_name = _free(random, model.schemas)
    if new_name is None:
        return False
    transaction.rename_schema(name, new_name)
    del model.schemas[name]
    model.schemas[new_name] = schema
    return True


@action
def drop_schema(transaction: Transaction, model: ModelState, random: Random) -> bool:
    if len(model.schemas) == 1 or random.random() < 0.5:
        return False
    name, _ = _schema(model, random)
    transaction.drop_schema(name, cascade=True)
    del model.schemas[name]
    return True


@action
def create_table(transaction: Transaction, model: ModelState, random: Random) -> bool:
    schema_name, schema = _schema(model, random)
    name = _free(random, {*schema.tables, *schema.views})
    if name is None:
        return False
    chosen = random.sample(sorted(TYPES), random.randint(1, 3))
    columns = [("id", "int32"), *((f"c{number}", kind) for number, kind in enumerate(chosen))]
    transaction.create_table(
        name, [ColumnSpec(one, TYPES[kind]) for one, kind in columns], schema=schema_name
    )
    schema.tables[name] = ModelTable({one: ModelColumn(kind) for one, kind in columns})
    return True


@action
def rename_table(transaction: Transaction, model: ModelState, random: Random) -> bool:
    schema_name, schema = _schema(model, random)
    new_name = _free(random, {*schema.tables, *schema.views})
    if not schema.tables or new_name is None:
        return False
    name = random.choice(sorted(schema.tables))
    transaction.rename_table(name, new_name, schema=schema_name)
    schema.tables[new_name] = schema.tables.pop(name)
    return True


@action
def drop_table(transaction: Transaction, model: ModelState, random: Random) -> bool:
    schema_name, schema = _schema(model, random)
    if not schema.tables:
        return False
    name = random.choice(sorted(schema.tables))
    transaction.drop_table(name, schema=schema_name)
    del schema.tables[name]
    return True


@action
def add_column(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    name = _free(random, expected.columns)
    if name is None:
        return False
    kind = random.choice(sorted(TYPES))
    default = "7" if kind in SCALARS and random.random() < 0.5 else None
    transaction.add_column(table, ColumnSpec(name, TYPES[kind], default=default))
    expected.columns[name] = ModelColumn(kind, default=default, initial_default=default)
    for row in expected.rows.values():
        row[name] = None if default is None else from_text(kind, default)
    return True


@action
def drop_column(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    keys = {name for name, _ in expected.partitioning}
    free = sorted(set(expected.columns) - keys - {"id"})
    if not free:
        return False
    name = random.choice(free)
    transaction.drop_column(table, name)
    del expected.columns[name]
    for row in expected.rows.values():
        row.pop(name, None)
    return True


@action
def rename_column(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    new_name = _free(random, expected.columns)
    free = sorted(set(expected.columns) - {"id"})
    if new_name is None or not free:
        return False
    name = random.choice(free)
    transaction.rename_column(table, name, new_name)
    expected.columns = {
        new_name if one == name else one: column for one, column in expected.columns.items()
    }
    expected.partitioning = [
        (new_name if one == name else one, transform) for one, transform in expected.partitioning
    ]
    for row in expected.rows.values():
        if name in row:
            row[new_name] = row.pop(name)
    return True


@action
def change_column(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    name = random.choice(sorted(expected.columns))
    column = expected.columns[name]
    if random.random() < 0.5 and column.type == "int32":
        transaction.set_column_type(table, name, "int64")
        column.type = "int64"
    else:
        default = random.choice(["1", "2", None]) if column.type in SCALARS else None
        transaction.set_default(table, name, default)
        column.default = default
    return True


@action
def set_partitioning(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    scalars = sorted(name for name, one in expected.columns.items() if one.type in SCALARS)
    keys = [(name, "identity") for name in random.sample(scalars, random.randint(0, 1))]
    transaction.set_partitioning(table, keys)
    expected.partitioning = keys
    return True


@action
def change_view(transaction: Transaction, model: ModelState, random: Random) -> bool:
    schema_name, schema = _schema(model, random)
    if schema.views and random.random() < 0.5:
        name = random.choice(sorted(schema.views))
        if random.random() < 0.5:
            transaction.drop_view(name, schema=schema_name)
            del schema.views[name]
        else:
            schema.views[name] = f"SELECT {random.randint(0, 9)}"
            transaction.create_view(name, schema.views[name], schema=schema_name, or_replace=True)
        return True
    new_name = _free(random, {*schema.tables, *schema.views})
    if new_name is None:
        return False
    transaction.create_view(new_name, "SELECT 42", schema=schema_name)
    schema.views[new_name] = "SELECT 42"
    return True


@action
def change_macro(transaction: Transaction, model: ModelState, random: Random) -> bool:
    schema_name, schema = _schema(model, random)
    name = random.choice(NAMES)
    if name in schema.macros and random.random() < 0.5:
        transaction.drop_macro(name, schema=schema_name)
        del schema.macros[name]
        return True
    overloads = [("a + 1", ["a"]), ("a + b", ["a", "b"])][: random.randint(1, 2)]
    specs = [MacroSpec(sql, parameters) for sql, parameters in overloads]
    transaction.create_macro(name, specs, schema=schema_name, or_replace=True)
    schema.macros[name] = overloads
    return True


@action
def set_tag(transaction: Transaction, model: ModelState, random: Random) -> bool:
    key, value = random.choice(["comment", "owner"]), random.choice(["x", "y", None])
    found = _pick_table(transaction, model, random)
    if found is None or random.random() < 0.2:
        name, schema = _schema(model, random)
        transaction.set_tag(transaction.state.schema(name), key, value)
        tags = schema.tags
    elif random.random() < 0.5:
        transaction.set_tag(found[0], key, value)
        tags = found[1].tags
    else:
        column = random.choice(sorted(found[1].columns))
        transaction.set_column_tag(found[0], column, key, value)
        tags = found[1].columns[column].tags
    tags.pop(key, None)
    if value is not None:
        tags[key] = value
    return True


@action
def set_option(transaction: Transaction, model: ModelState, random: Random) -> bool:
    name = random.choice(["target_file_size", "parquet_compression"])
    value = {"target_file_size": "1000", "parquet_compression": "zstd"}[name]
    chosen = random.choice([value, None])
    schema_name, schema = _schema(model, random)
    place = random.choice(["catalog", "schema", "table"])
    if place == "catalog":
        transaction.set_option(name, chosen)
        options = model.options
    elif place == "schema" or not schema.tables:
        transaction.set_option(name, chosen, schema=schema_name)
        options = schema.options
    else:
        table = random.choice(sorted(schema.tables))
        transaction.set_option(name, chosen, schema=schema_name, table=table)
        options = schema.tables[table].options
    options.pop(name, None)
    if chosen is not None:
        options[name] = chosen
    return True


@action
def add_files(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    if _has_work(transaction, table):  # the model assigns row ids in the order of actions
        return False
    column_id = transaction.state.column(table, "id").column_id
    new: list[NewDataFile] = []
    for _ in range(random.randint(1, 3)):
        rows, low = random.randint(1, 9), random.randint(-50, 50)
        path = _new_path(transaction)
        bounds = ColumnBounds(
            column_id, value_count=rows, null_count=0, min_value=str(low), max_value=str(low + 9)
        )
        new.append(NewDataFile(path, rows, rows * 10, bounds=(bounds,)))
        expected.files[path] = ModelFile(rows, rows * 10, expected.next_row_id)
        expected.next_row_id += rows
        column = expected.columns["id"]
        old = column.bounds or (low, low + 9)
        column.bounds = (min(old[0], low), max(old[1], low + 9))
    transaction.add_data_files(table, new)
    return True


@action
def end_files(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None or not found[1].files:
        return False
    table, expected = found
    gone = random.sample(sorted(expected.files), random.randint(1, len(expected.files)))
    files = [file for file in transaction.data_files(table) if file.path in gone]
    if any(file.data_file_id < 0 for file in files):
        return False
    transaction.end_data_files(table, files)
    for path in gone:
        del expected.files[path]
    return True


@action
def add_delete_file(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    partial = sorted(path for path, file in expected.files.items() if file.live > 1)
    if not partial:
        return False
    path = random.choice(partial)
    (file,) = (one for one in transaction.data_files(table) if one.path == path)
    if file.data_file_id < 0 or _has_work(transaction, table):
        return False
    known = expected.files[path]
    count = known.rows - known.live + 1
    name = _new_path(transaction)
    transaction.add_delete_files(table, [NewDeleteFile(file.data_file_id, name, count, 5)])
    known.delete_file, known.positions = (name, count), set()
    return True


def _has_work(transaction: Transaction, table: Table) -> bool:
    # The model counts deletes one commit at a time.
    return table.table_id in transaction._draft.tables


@action
def delete_positions(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None:
        return False
    table, expected = found
    partial = sorted(
        path for path, one in expected.files.items() if one.live > 1 and not one.delete_file
    )
    if not partial:
        return False
    path = random.choice(partial)
    (file,) = (one for one in transaction.data_files(table) if one.path == path)
    if file.data_file_id < 0:
        return False
    known = expected.files[path]
    place = random.choice(sorted(set(range(known.rows)) - known.positions))
    transaction.delete_positions(table, file, [place])
    known.positions.add(place)
    return True


@action
def truncate(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None or random.random() < 0.5 or _has_work(transaction, found[0]):
        return False
    table, expected = found
    transaction.truncate(table)
    expected.files.clear()
    expected.rows.clear()
    for column in expected.columns.values():
        column.bounds = None
    return True


@action
def insert_rows(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None or _has_work(transaction, found[0]):
        return False
    table, expected = found
    rows = [{"id": random.randint(0, 99)} for _ in range(random.randint(1, 2))]
    transaction.insert_rows(table, rows)
    for row in rows:
        expected.rows[expected.next_row_id] = dict(row)
        expected.next_row_id += 1
    return True


@action
def change_rows(transaction: Transaction, model: ModelState, random: Random) -> bool:
    found = _pick_table(transaction, model, random)
    if found is None or not found[1].rows or _has_work(transaction, found[0]):
        return False
    table, expected = found
    row_id = random.choice(sorted(expected.rows))
    (row,) = (one for one in transaction.inlined_rows(table) if one.row_id == row_id)
    if random.random() < 0.5:
        transaction.delete_rows(table, [row])
        del expected.rows[row_id]
    else:
        transaction.update_rows(table, [(row, {"id": 1000})])
        expected.rows[row_id]["id"] = 1000
    return True
