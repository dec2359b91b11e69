"""Random statements, each as a session call and as DuckDB SQL.

Expressions are limited to those that mean the same in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from forklake import Session
from forklake.engines.spark.types import spark_type
from forklake.session.changing.merge_into import (
    MergeClause,
    when_matched,
    when_not_matched,
    when_not_matched_by_source,
)
from forklake.session.insert import insert_rows
from tests.spark.oracle.model import KEY, Column
from tests.spark.oracle.values import (
    WIDER,
    ListOf,
    Struct,
    Type,
    arrow,
    cast,
    default_text,
    duckdb_text,
    lake,
    literal,
    quoted,
    sql,
    value,
)

Connection = duckdb.DuckDBPyConnection

# Columns that a table may begin with, besides the key.
POSSIBLE = (
    Column("h", "int16"),
    Column("i", "int32"),
    Column("b", "int64", default="7"),
    Column("g", "float32"),
    Column("f", "float64"),
    Column("v", "varchar"),
    Column("n", "decimal(9,2)"),
    Column("d", "date"),
    Column("ts", "timestamp"),
    Column("o", "boolean"),
    Column("s", Struct((("x", "int32"), ("y", "varchar")))),
    Column("l", ListOf("int32")),
    Column("ls", ListOf(Struct((("a", "int32"), ("b", "varchar"))))),
)
_NEW_NAMES = ("c1", "c2", "a b", "Größe", "select", "x.y", "i", "v", "s", "d", "n")
_NEW_FIELDS = ("x", "y", "z", "a", "b", "of")
_NEW_TYPES = tuple(one.type for one in POSSIBLE)


@dataclass(frozen=True)
class Statement:
    """A statement for both sides; each returns the number of affected rows, or None if unknown."""

    text: str
    on_lake: Callable[[Session, str], int | None]
    on_duckdb: Callable[[Connection, str], int | None]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Scene:
    """Input of a random statement: columns, keys and source of randomness."""

    columns: tuple[Column, ...]
    keys: Sequence[int]
    partition_keys: frozenset[str]
    fresh_keys: Iterator[int]
    random: Random

    def plain(self) -> list[Column]:
        """Columns that are not nested."""
        return [one for one in self.columns if isinstance(one.type, str)]

    def changeable(self) -> list[Column]:
        """Return all columns but the key."""
        return [one for one in self.columns if one.name != KEY]


def _executed(connection: Connection, text: str) -> int | None:
    row = connection.execute(duckdb_text(text)).fetchone()
    return int(row[0]) if row else None


# Rows


def _rows(scene: Scene, keys: Sequence[int], columns: Sequence[Column]) -> pa.Table:
    held = {
        one.name: pa.array(
            [key if one.name == KEY else value(one.type, scene.random) for key in keys],
            arrow(one.type),
        )
        for one in columns
    }
    return pa.table(held)


def frame(session: Session, rows: pa.Table, columns: Sequence[Column]) -> DataFrame:
    """Return rows as a DataFrame."""
    schema = StructType([StructField(one.name, spark_type(lake(one.type))) for one in columns])
    return session.engine.spark.createDataFrame(rows, schema)


def _inserted(rows: pa.Table) -> Callable[[Connection, str], int | None]:
    def insert(connection: Connection, table: str) -> int | None:
        connection.register("given", rows)
        try:
            return _executed(connection, f"INSERT INTO {table} BY NAME FROM given")
        finally:
            connection.unregister("given")

    return insert


def _some_columns(scene: Scene) -> tuple[Column, ...]:
    """Return most columns, in another order."""
    kept = [one for one in scene.columns if one.name == KEY or scene.random.random() < 0.7]
    return tuple(scene.random.sample(kept, len(kept)))


def _new_keys(scene: Scene, most: int) -> list[int]:
    return [next(scene.fresh_keys) for _ in range(scene.random.randint(1, most))]


def insert_values(scene: Scene) -> Statement:
    """Build an INSERT of Python rows, by name or by position."""
    by_name = scene.random.random() < 0.5
    columns = _some_columns(scene) if by_name else scene.columns
    rows = _rows(scene, _new_keys(scene, 8), columns)
    listed = rows.to_pylist()
    given: Any = listed if by_name else [tuple(row.values()) for row in listed]
    return Statement(
        f"insert {given}",
        lambda session, name: insert_rows(session, name, given),
        _inserted(rows),
        scene.columns,
    )


def insert_frame(scene: Scene) -> Statement:
    """Build an INSERT of a DataFrame, written as one file or several."""
    by_name = scene.random.random() < 0.5
    columns = _some_columns(scene) if by_name else scene.columns
    rows = _rows(scene, _new_keys(scene, 12), columns)
    parts = scene.random.choice([0, 0, 2])

    def write(session: Session, name: str) -> int:
        made = frame(session, rows, columns)
        made = made.repartition(parts) if parts else made
        return session.write(made, name, by_name=by_name)

    return Statement(
        f"write, {parts} parts, by_name={by_name}: {rows.to_pylist()}",
        write,
        _inserted(rows),
        scene.columns,
    )


def overwrite(scene: Scene) -> Statement:
    """Build an overwrite of all rows with a DataFrame."""
    rows = _rows(scene, _new_keys(scene, 12), scene.columns)

    def on_duckdb(connection: Connection, table: str) -> int | None:
        connection.execute(f"DELETE FROM {table}")
        return _inserted(rows)(connection, table)

    return Statement(
        f"overwrite: {rows.to_pylist()}",
        lambda session, name: session.write(
            frame(session, rows, scene.columns), name, mode="overwrite"
        ),
        on_duckdb,
        scene.columns,
    )


# Conditions


def condition(scene: Scene, *, of: str = "", depth: int = 2) -> str:
    """Return a condition on the columns of a table, as Spark SQL."""
    random = scene.random
    if depth and random.random() < 0.4:
        one, other = (condition(scene, of=of, depth=depth - 1) for _ in range(2))
        return random.choice([f"({one} AND {other})", f"({one} OR {other})", f"(NOT {one})"])
    column = random.choice(scene.columns)
    path, kind = f"{of}{quoted(column.name)}", column.type
    if isinstance(kind, Struct) and random.random() < 0.7:
        field, kind = random.choice(kind.fields)
        path += f".{quoted(field)}"
    if not isinstance(kind, str) or random.random() < 0.2:
        return f"({path} IS {random.choice(['', 'NOT '])}NULL)"
    if column.name == KEY and scene.keys:
        some = random.sample(list(scene.keys), min(len(scene.keys), random.randint(1, 4)))
        return random.choice(
            [f"({path} IN ({', '.join(map(str, some))}))", f"({path} < {some[0]})"]
        )
    if kind == "varchar" and random.random() < 0.3:
        return f"({path} LIKE '{random.choice(['a', 'ab', 'x', 'é', ''])}%')"
    if kind.startswith("float") and random.random() < 0.3:
        return f"({path} = {cast(kind, '0.0')})"  # also matches the negative zero
    if random.random() < 0.2:
        return f"({path} IN ({literal(kind, random)}, {literal(kind, random)}))"
    return f"({path} {random.choice(['=', '<>', '<', '<=', '>', '>='])} {literal(kind, random)})"


# Deleting and updating


def delete(scene: Scene) -> Statement:
    """Build a DELETE by condition."""
    where = condition(scene)
    return Statement(
        f"delete where {where}",
        lambda session, name: session.delete(name, where),
        lambda connection, table: _executed(connection, f"DELETE FROM {table} WHERE {where}"),
        scene.columns,
    )


def delete_using(scene: Scene) -> Statement:
    """Build a DELETE of the rows that match a source."""
    rows = _source(scene)
    where = f"target.{KEY} = source.{KEY} AND {condition(scene, of='target.')}"

    def on_duckdb(connection: Connection, table: str) -> int | None:
        connection.register("given", rows)
        try:
            return _executed(
                connection, f"DELETE FROM {table} AS target USING given AS source WHERE {where}"
            )
        finally:
            connection.unregister("given")

    return Statement(
        f"delete using {rows[KEY].to_pylist()} where {where}",
        lambda session, name: session.delete(
            name, where, using=frame(session, rows, scene.columns)
        ),
        on_duckdb,
        scene.columns,
    )


def truncate(scene: Scene) -> Statement:
    """Build a DELETE of all rows."""
    return Statement(
        "truncate",
        lambda session, name: session.truncate(name),
        lambda connection, table: _executed(connection, f"DELETE FROM {table}"),
        scene.columns,
    )


def _assigned(scene: Scene, column: Column, *, of: str = "", source: bool = False) -> str:
    """Return a random new value for a column, as SQL."""
    random, kind = scene.random, column.type
    own = f"{of}{quoted(column.name)}"
    choices = ["NULL", own]
    if source:
        choices += [f"source.{quoted(column.name)}"] * 3
    if column.default is not None or not isinstance(kind, str):
        choices.append("DEFAULT" if column.default is not None else "NULL")
    if isinstance(kind, str):
        choices += [literal(kind, random)] * 3
        if kind.startswith("int"):
            choices.append(f"CASE WHEN {own} BETWEEN -5 AND 100 THEN {own} + 10 ELSE 7 END")
        same = [one for one in scene.changeable() if one.type == kind]
        choices.append(f"{of}{quoted(random.choice(same).name)}")
    return random.choice(choices)


def _assignments(
    scene: Scene, *, of: str = "", source: bool = False
) -> tuple[dict[str, str], dict[str, str]]:
    """Return new values by column, for Spark and for DuckDB."""
    some = scene.random.sample(scene.changeable(), scene.random.randint(1, 2))
    mine: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for column in some:
        name, kind = quoted(column.name), column.type
        if isinstance(kind, Struct) and scene.random.random() < 0.7:
            field, inside = scene.random.choice(kind.fields)
            if isinstance(inside, str):
                given = literal(inside, scene.random)
                mine[f"{name}.{quoted(field)}"] = given
                parts = (
                    f"{quoted(one)} := {given if one == field else f'{of}{name}.{quoted(one)}'}"
                    for one, _ in kind.fields
                )
                theirs[name] = f"struct_pack({', '.join(parts)})"
                continue
        mine[name] = theirs[name] = _assigned(scene, column, of=of, source=source)
        if mine[name] == "DEFAULT":
            theirs[name] = cast(str(kind), str(column.default))
    return mine, theirs


def _set(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {text}" for name, text in values.items())


def _inserting(columns: Sequence[Column]) -> str:
    names = [quoted(one.name) for one in columns]
    return f"INSERT ({', '.join(names)}) VALUES ({', '.join(f'source.{one}' for one in names)})"


def update(scene: Scene) -> Statement:
    """Build an UPDATE by condition."""
    where = condition(scene)
    mine, theirs = _assignments(scene)
    return Statement(
        f"update set {_set(mine)} where {where}",
        lambda session, name: session.update(name, mine, where),
        lambda connection, table: _executed(
            connection, f"UPDATE {table} SET {_set(theirs)} WHERE {where}"
        ),
        scene.columns,
    )


def _source(scene: Scene) -> pa.Table:
    """Return rows with all columns: some have existing keys, some new ones."""
    known = scene.random.sample(list(scene.keys), min(len(scene.keys), scene.random.randint(0, 6)))
    return _rows(scene, [*known, *_new_keys(scene, 4)], scene.columns)


def update_from(scene: Scene) -> Statement:
    """Build an UPDATE with values of a source."""
    rows = _source(scene)
    where = condition(scene, of="target.")
    mine, theirs = _assignments(scene, of="target.", source=True)
    on = f"target.{KEY} = source.{KEY}"

    def on_duckdb(connection: Connection, table: str) -> int | None:
        connection.register("given", rows)
        try:
            return _executed(
                connection,
                f"UPDATE {table} AS target SET {_set(theirs)} FROM given AS source"
                f" WHERE {on} AND {where}",
            )
        finally:
            connection.unregister("given")

    return Statement(
        f"update set {_set(mine)} from {rows.to_pylist()} where {where}",
        lambda session, name: session.update(
            name, mine, where, source=frame(session, rows, scene.columns), on=on
        ),
        on_duckdb,
        scene.columns,
    )


def merge(scene: Scene) -> Statement:
    """Build a MERGE INTO with random clauses."""
    rows = _source(scene)
    clauses: list[MergeClause] = []
    texts: list[str] = []
    random = scene.random

    def add(begun: Any, text: str, own: str | None, choices: Sequence[str]) -> None:
        text += f" AND {own}" if own else ""
        match random.choice(choices):
            case "update":
                of_source = "BY SOURCE" not in text
                mine, theirs = _assignments(scene, of="target.", source=of_source)
                clauses.append(begun.update(mine))
                texts.append(f"{text} THEN UPDATE SET {_set(theirs)}")
            case "update all":
                clauses.append(begun.update())
                everything = {
                    quoted(one.name): f"source.{quoted(one.name)}" for one in scene.columns
                }
                texts.append(f"{text} THEN UPDATE SET {_set(everything)}")
            case "delete":
                clauses.append(begun.delete())
                texts.append(f"{text} THEN DELETE")
            case "nothing":
                clauses.append(begun.do_nothing())
                texts.append(f"{text} THEN DO NOTHING")
            case "insert":
                some = _some_columns(scene)
                values = {quoted(one.name): f"source.{quoted(one.name)}" for one in some}
                clauses.append(begun.insert(values))
                texts.append(f"{text} THEN {_inserting(some)}")
            case "insert all":
                clauses.append(begun.insert())
                texts.append(f"{text} THEN {_inserting(scene.columns)}")

    def perhaps(likelihood: float, of: str) -> str | None:
        return condition(scene, of=of) if random.random() < likelihood else None

    if random.random() < 0.8:
        changes = ("update", "update", "update all", "delete", "nothing")
        first = perhaps(0.5, "target.")
        if first is not None:
            add(when_matched(first), "WHEN MATCHED", first, changes)
        add(when_matched(), "WHEN MATCHED", None, changes[:4])
    if random.random() < 0.6 or not clauses:
        own = perhaps(0.4, "source.")
        add(when_not_matched(own), "WHEN NOT MATCHED", own, ("insert", "insert all"))
    if random.random() < 0.3:
        own, text = perhaps(0.7, "target."), "WHEN NOT MATCHED BY SOURCE"
        add(when_not_matched_by_source(own), text, own, ("update", "delete"))
    on = f"target.{KEY} = source.{KEY}"

    def on_lake(session: Session, name: str) -> int:
        counts = session.merge(name, frame(session, rows, scene.columns), on, clauses)
        return counts.inserted + counts.updated + counts.deleted

    def on_duckdb(connection: Connection, table: str) -> int | None:
        connection.register("given", rows)
        try:
            return _executed(
                connection,
                f"MERGE INTO {table} AS target USING given AS source ON {on} {' '.join(texts)}",
            )
        finally:
            connection.unregister("given")

    return Statement(
        f"merge {rows.to_pylist()} {' '.join(texts)}", on_lake, on_duckdb, scene.columns
    )


# Columns


def _altered(text: str) -> Callable[[Connection, str], int | None]:
    def alter(connection: Connection, table: str) -> None:
        connection.execute(duckdb_text(f"ALTER TABLE {table} {text}"))

    return alter


def _unused(names: Sequence[str], taken: Sequence[str], random: Random) -> str | None:
    free = [one for one in names if one.lower() not in {name.lower() for name in taken}]
    return random.choice(free) if free else None


def add_column(scene: Scene) -> Statement | None:
    """Build the addition of a column, with or without a default."""
    name = _unused(_NEW_NAMES, [one.name for one in scene.columns], scene.random)
    if name is None or len(scene.columns) > 12:
        return None
    kind = scene.random.choice(_NEW_TYPES)
    default = None
    if isinstance(kind, str) and scene.random.random() < 0.6:
        default = default_text(kind, scene.random)
    shown = "" if default is None else f" DEFAULT {cast(str(kind), default)}"
    return Statement(
        f"add column {name} {kind}{shown}",
        lambda session, table: session.add_column(table, quoted(name), lake(kind), default=default),
        _altered(f"ADD COLUMN {quoted(name)} {sql(kind)}{shown}"),
        (*scene.columns, Column(name, kind, default)),
    )


def _droppable(scene: Scene) -> list[Column]:
    return [one for one in scene.changeable() if one.name not in scene.partition_keys]


def drop_column(scene: Scene) -> Statement | None:
    """Build the removal of a column, or return None if few are left."""
    if len(_droppable(scene)) < 3:
        return None
    gone = scene.random.choice(_droppable(scene))
    return Statement(
        f"drop column {gone.name}",
        lambda session, table: session.drop_column(table, quoted(gone.name)),
        _altered(f"DROP COLUMN {quoted(gone.name)}"),
        tuple(one for one in scene.columns if one != gone),
    )


def rename_column(scene: Scene) -> Statement | None:
    """Build the renaming of a column."""
    old = scene.random.choice(_droppable(scene) or [None])
    new = _unused(_NEW_NAMES, [one.name for one in scene.columns], scene.random)
    if old is None or new is None:
        return None
    return Statement(
        f"rename column {old.name} to {new}",
        lambda session, table: session.rename_column(table, quoted(old.name), new),
        _altered(f"RENAME COLUMN {quoted(old.name)} TO {quoted(new)}"),
        tuple(replace(one, name=new) if one == old else one for one in scene.columns),
    )


def widen(scene: Scene) -> Statement | None:
    """Build the promotion of a column to a wider type."""
    possible = [one for one in scene.changeable() if one.type in WIDER]
    if not possible:
        return None
    column = scene.random.choice(possible)
    kind = scene.random.choice(WIDER[str(column.type)])
    return Statement(
        f"widen {column.name} from {column.type} to {kind}",
        lambda session, table: session.set_column_type(table, quoted(column.name), kind),
        _altered(f"ALTER COLUMN {quoted(column.name)} TYPE {sql(kind)}"),
        tuple(replace(one, type=kind) if one == column else one for one in scene.columns),
    )


def _with_struct(scene: Scene) -> tuple[Column, list[str], Struct] | None:
    """Return a column that contains a struct, the path to the struct, and the struct."""
    found: list[tuple[Column, list[str], Struct]] = []
    for column in scene.columns:
        match column.type:
            case Struct() as inside:
                found.append((column, [column.name], inside))
            case ListOf(Struct() as inside):
                found.append((column, [column.name, "element"], inside))
    return scene.random.choice(found) if found else None


def _with_fields(
    scene: Scene, column: Column, fields: Sequence[tuple[str, Type]]
) -> tuple[Column, ...]:
    inside = Struct(tuple(fields))
    kind = ListOf(inside) if isinstance(column.type, ListOf) else inside
    return tuple(replace(one, type=kind) if one == column else one for one in scene.columns)


def _dotted(path: Sequence[str]) -> str:
    return ".".join(map(quoted, path))


def add_field(scene: Scene) -> Statement | None:
    """Build the addition of a struct field."""
    found = _with_struct(scene)
    name = found and _unused(_NEW_FIELDS, [one for one, _ in found[2].fields], scene.random)
    if found is None or name is None:
        return None
    column, path, inside = found
    kind = scene.random.choice(["int32", "varchar", "float64", "date"])
    default = default_text(kind, scene.random) if scene.random.random() < 0.4 else None
    shown = "" if default is None else f" DEFAULT {cast(kind, default)}"
    full = _dotted([*path, name])
    return Statement(
        f"add field {full} {kind}{shown}",
        lambda session, table: session.add_column(table, full, lake(kind), default=default),
        _altered(f"ADD COLUMN {full} {sql(kind)}{shown}"),
        _with_fields(scene, column, [*inside.fields, (name, kind)]),
    )


def drop_field(scene: Scene) -> Statement | None:
    """Build the removal of a struct field."""
    found = _with_struct(scene)
    if found is None or len(found[2].fields) < 2:
        return None
    column, path, inside = found
    gone = scene.random.choice(inside.fields)
    full = _dotted([*path, gone[0]])
    return Statement(
        f"drop field {full}",
        lambda session, table: session.drop_column(table, full),
        _altered(f"DROP COLUMN {full}"),
        _with_fields(scene, column, [one for one in inside.fields if one != gone]),
    )


def rename_field(scene: Scene) -> Statement | None:
    """Build the renaming of a struct field."""
    found = _with_struct(scene)
    new = found and _unused(_NEW_FIELDS, [one for one, _ in found[2].fields], scene.random)
    if found is None or new is None:
        return None
    column, path, inside = found
    old, kind = scene.random.choice(inside.fields)
    full = _dotted([*path, old])
    return Statement(
        f"rename field {full} to {new}",
        lambda session, table: session.rename_column(table, full, new),
        _altered(f"RENAME COLUMN {full} TO {quoted(new)}"),
        _with_fields(
            scene, column, [(new, kind) if one == old else (one, own) for one, own in inside.fields]
        ),
    )


def set_default(scene: Scene) -> Statement | None:
    """Build the change of a default, which applies to new rows only."""
    column = scene.random.choice([one for one in scene.plain() if one.name != KEY] or [None])
    if column is None:
        return None
    default = default_text(str(column.type), scene.random) if scene.random.random() < 0.8 else None
    return Statement(
        f"set default of {column.name} to {default!r}",
        lambda session, table: session.set_default(table, quoted(column.name), default),
        lambda connection, table: None,
        tuple(replace(one, default=default) if one == column else one for one in scene.columns),
    )


ROWS = (
    insert_values,
    insert_frame,
    insert_frame,
    delete,
    delete_using,
    update,
    update,
    update_from,
    merge,
    merge,
    overwrite,
    truncate,
)
COLUMNS = (
    add_column,
    add_column,
    drop_column,
    rename_column,
    widen,
    add_field,
    drop_field,
    rename_field,
    set_default,
)
