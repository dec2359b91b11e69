"""CREATE and DROP of schemas and tables. Views and macros have their own modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import AlreadyExists, InvalidInput, Unsupported
from forklake.session.names import joined_name
from forklake.sql.dialect import nodes
from forklake.sql.dialect.definitions import MACRO, TABLE_MACRO
from forklake.sql.results import Result
from forklake.sql.statements import macros, views
from forklake.sql.statements.atomic import atomic
from forklake.sql.statements.columns import column_specs, partition_keys
from forklake.sql.translate.relations import make_names_unique

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session

_FORMATS = frozenset({"parquet", "ducklake", "forklake"})


# CREATE


def run_create(session: Session, statement: exp.Create) -> Result:
    """Run CREATE of a schema, table, view or macro."""
    kind = str(statement.args["kind"]).upper()
    create = _CREATE_FUNCTIONS.get(kind)
    if create is None:
        raise Unsupported(
            f"CREATE {kind} is not supported.",
            remedy="Only schemas, tables, views and macros can be created.",
        )
    properties = statement.args.get("properties")
    for one in properties.expressions if properties else []:
        if isinstance(one, exp.TemporaryProperty):
            raise Unsupported(
                f"CREATE TEMP {kind} is not supported.", remedy=f"Write CREATE {kind}."
            )
    return create(session, statement)


def create_schema(session: Session, statement: exp.Create) -> Result:
    """Run CREATE SCHEMA."""
    if statement.args.get("replace"):
        raise Unsupported(
            "CREATE OR REPLACE SCHEMA is not supported.", remedy="Drop the schema first."
        )
    name = joined_name(nodes.name_parts(statement.this))
    session.create_schema(name, if_not_exists=bool(statement.args.get("exists")))
    return Result.done("CREATE SCHEMA")


def create_table(session: Session, statement: exp.Create) -> Result:
    """Run CREATE TABLE with columns or from the rows of a query."""
    target = statement.this
    if isinstance(target, exp.Table):
        target = exp.Schema(this=target)
    keys, comment, has_data = _table_properties(statement)
    if_not_exists = bool(statement.args.get("exists"))
    or_replace = bool(statement.args.get("replace"))
    if if_not_exists and or_replace:
        raise InvalidInput(
            "OR REPLACE and IF NOT EXISTS cannot be combined.", remedy="Write only one of them."
        )
    if statement.expression is not None:
        return _create_from_query(session, statement, target, keys, has_data)
    session.create_table(
        nodes.name_parts(target),
        column_specs(target.expressions),
        partition_by=keys,
        comment=comment,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
    )
    return Result.done("CREATE TABLE")


def _table_properties(
    statement: exp.Create,
) -> tuple[list[tuple[str, str]], str | None, bool]:
    """Return the partition keys, the comment, and whether rows are inserted (WITH DATA)."""
    keys: list[tuple[str, str]] = []
    comment, has_data = None, True
    properties = statement.args.get("properties")
    for one in properties.expressions if properties else []:
        match one:
            case exp.PartitionedByProperty():
                keys = partition_keys(one)
            case exp.WithDataProperty():
                has_data = not one.args.get("no")
            case exp.SchemaCommentProperty():
                comment = one.this.name
            case exp.FileFormatProperty() if one.name.lower() in _FORMATS:
                pass
            case _:
                raise Unsupported(
                    f"{one.sql('duckdb')} is not supported in CREATE TABLE.",
                    remedy="Remove it from the statement.",
                )
    return keys, comment, has_data


def _create_from_query(
    session: Session,
    statement: exp.Create,
    target: exp.Schema,
    keys: list[tuple[str, str]],
    has_data: bool,
) -> Result:
    name = nodes.name_parts(target)
    if_not_exists = bool(statement.args.get("exists"))
    or_replace = bool(statement.args.get("replace"))
    with atomic(session):
        if not or_replace and _is_taken(session, name, is_allowed=if_not_exists):
            return Result.counted("CREATE TABLE", 0)
        rows = _name_columns(session.query(statement.expression), target)
        if not has_data:
            session.create_table(name, rows.schema, partition_by=keys, or_replace=or_replace)
            return Result.counted("CREATE TABLE", 0)
        count = session.write(
            rows,
            name,
            mode="overwrite" if or_replace else "error",
            partition_by=keys,
            replace_schema=or_replace,
        )
    return Result.counted("CREATE TABLE", count)


def _is_taken(session: Session, name: Sequence[str], *, is_allowed: bool) -> bool:
    """Return whether a table or view exists. Raise AlreadyExists unless that is allowed."""
    place = session.resolve(name)
    state = session.viewing(place.attachment).state
    relation = state.find_relation(place.table, place.schema)
    if relation is not None and not is_allowed:
        raise AlreadyExists(
            f"Table or view '{place}' already exists",
            remedy="Choose another name, drop it, or write CREATE OR REPLACE.",
        )
    if relation is not None:
        session.record_definitions()
    return relation is not None


def _name_columns(rows: DataFrame, target: exp.Schema) -> DataFrame:
    """Return rows with the column names of the statement for the first columns."""
    given_names = [one.name for one in target.expressions]
    if any(isinstance(one, exp.ColumnDef) for one in target.expressions):
        raise InvalidInput(
            "CREATE TABLE … AS takes the types of columns from the query.",
            remedy="Name the columns without types, and cast in the query.",
        )
    if len(given_names) > len(rows.columns):
        raise InvalidInput(
            f"The statement names {len(given_names)} columns, but the query has"
            f" {len(rows.columns)}.",
            remedy="Name at most as many columns as the query has.",
        )
    names = make_names_unique([*given_names, *rows.columns[len(given_names) :]])
    return rows.toDF(*names) if names != rows.columns else rows


# DROP


def run_drop(session: Session, statement: exp.Drop) -> Result:
    """Run DROP of a schema, table, view or macro."""
    kind = str(statement.args["kind"]).upper()
    drop = _DROP_FUNCTIONS.get(kind)
    if drop is None:
        raise Unsupported(
            f"DROP {kind} is not supported.",
            remedy="Only schemas, tables, views and macros can be dropped.",
        )
    targets = statement.args["tables"]
    if len(targets) != 1:
        raise Unsupported(
            "DROP of several objects at once is not supported.",
            remedy="Write one DROP for each object.",
        )
    drop(session, nodes.name_parts(targets[0]), statement)
    return Result.done(f"DROP {kind}")


def drop_schema(session: Session, name: tuple[str, ...], statement: exp.Drop) -> None:
    """Run DROP SCHEMA; with CASCADE its contents are dropped as well."""
    is_cascade = bool(statement.args.get("cascade"))
    session.drop_schema(
        joined_name(name), cascade=is_cascade, if_exists=bool(statement.args.get("exists"))
    )


def drop_table(session: Session, name: tuple[str, ...], statement: exp.Drop) -> None:
    """Run DROP TABLE."""
    session.drop_table(name, if_exists=bool(statement.args.get("exists")))


_CREATE_FUNCTIONS: dict[str, Callable[[Session, exp.Create], Result]] = {
    "SCHEMA": create_schema,
    "TABLE": create_table,
    "VIEW": views.create_view,
    MACRO: macros.create_macro,
}
_DROP_FUNCTIONS: dict[str, Callable[[Session, tuple[str, ...], exp.Drop], None]] = {
    "SCHEMA": drop_schema,
    "TABLE": drop_table,
    "VIEW": views.drop_view,
    MACRO: macros.drop_macro,
    TABLE_MACRO: macros.drop_macro,
}
HANDLERS = {exp.Create: run_create, exp.Drop: run_drop}
