"""ALTER of tables, views and schemas, and COMMENT ON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from forklake.catalog.definitions import COMMENT
from forklake.catalog.transaction import Transaction
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.model.entities import Table, View
from forklake.model.fields import Field
from forklake.model.types import ColumnType
from forklake.session.names import joined_name
from forklake.sql.dialect import nodes
from forklake.sql.results import Result
from forklake.sql.statements.atomic import atomic
from forklake.sql.statements.columns import (
    LITERAL,
    column_spec,
    column_type,
    default_of,
    partition_keys,
    refuse_constraint,
)
from forklake.sql.statements.views import rename_view

if TYPE_CHECKING:
    from forklake.model.state import CatalogState
    from forklake.sql.session import Session

NameParts = tuple[str, ...]


def run_alter(session: Session, statement: exp.Alter) -> Result:
    """Run ALTER."""
    kind, name = str(statement.args["kind"]), nodes.name_parts(statement.this)
    try:
        _require_object(session, kind, name)
    except NotFound:
        if not statement.args.get("exists"):
            raise
        session.record_definitions()
        return Result.done(f"ALTER {kind}")
    with atomic(session):
        for action in statement.args["actions"]:
            _run_action(session, kind, name, action)
    return Result.done(f"ALTER {kind}")


def _require_object(session: Session, kind: str, name: NameParts) -> None:
    """Raise NotFound if the object to be changed does not exist."""
    if kind == "SCHEMA":
        attachment, schema = session.schema_place(joined_name(name))
        session.viewing(attachment).state.schema(schema)
        return
    place = session.resolve(name)
    view = session.viewing(place.attachment)
    if kind == "VIEW":
        view.state.view(place.table, place.schema)
    else:
        session.find_table(view, place)


def _run_action(session: Session, kind: str, name: NameParts, action: exp.Expr) -> None:
    if kind == "TABLE":
        _ACTIONS[type(action)](session, name, action)
    elif isinstance(action, exp.AlterRename) and kind == "VIEW":
        rename_view(session, name, _read_new_name(action))
    elif isinstance(action, exp.AlterRename):
        session.rename_schema(joined_name(name), _read_new_name(action))
    else:
        raise Unsupported(
            f"ALTER {kind} can only rename.", remedy=f"Write ALTER {kind} … RENAME TO …."
        )


# Actions on tables


def _add_column(session: Session, name: NameParts, action: exp.ColumnDef) -> None:
    path = nodes.name_parts(action.this)
    spec = column_spec(action)
    if not spec.nulls_allowed:
        raise Unsupported(
            "ADD COLUMN … NOT NULL is not supported.",
            remedy="Add the column, fill it by an UPDATE, then ALTER COLUMN … SET NOT NULL.",
        )
    if spec.default_type != LITERAL:
        raise InvalidInput(
            "We cannot add a column with a non-literal default value.",
            remedy="Add it without a default, then set the default for new rows: ALTER COLUMN …"
            " SET DEFAULT.",
        )
    if action.args.get("exists") and _has_column(session, name, path):
        return
    session.add_column(name, joined_name(path), spec.type, default=spec.default)
    if spec.comment is not None:
        _comment_column(session, name, path, spec.comment)


def _drop_column(session: Session, name: NameParts, action: exp.Drop) -> None:
    if action.args["kind"] == "CONSTRAINT":
        raise Unsupported(
            "DROP CONSTRAINT is not supported.", remedy="Tables have no constraints to drop."
        )
    path = nodes.name_parts(action.args["tables"][0])
    if not action.args.get("exists") or _has_column(session, name, path):
        session.drop_column(name, joined_name(path))


def _has_column(session: Session, name: NameParts, path: NameParts) -> bool:
    place = session.resolve(name)
    view = session.viewing(place.attachment)
    table = session.find_table(view, place)
    if isinstance(view, Transaction):
        view.record_table(table)
    try:
        view.state.column(table, *path)
    except NotFound:
        return False
    return True


def _rename_column(session: Session, name: NameParts, action: exp.RenameColumn) -> None:
    session.rename_column(name, joined_name(nodes.name_parts(action.this)), action.args["to"].name)


def _rename_table(session: Session, name: NameParts, action: exp.AlterRename) -> None:
    session.rename_table(name, _read_new_name(action))


def _read_new_name(action: exp.AlterRename) -> str:
    parts = nodes.name_parts(action.this)
    if len(parts) != 1:
        raise Unsupported(
            f"RENAME TO {'.'.join(parts)} cannot move an object to another schema.",
            remedy="Write the new name without a schema.",
        )
    return parts[0]


def _alter_column(session: Session, name: NameParts, action: exp.AlterColumn) -> None:
    path = nodes.name_parts(action.this)
    if "allow_null" in action.args:
        session.set_not_null(name, joined_name(path), not action.args["allow_null"])
    elif action.args.get("drop"):
        session.set_default(name, joined_name(path), None)
    elif action.args.get("dtype") is not None:
        _set_type(session, name, path, action)
    else:
        _set_default(session, name, path, action.args["default"])


def _set_type(session: Session, name: NameParts, path: NameParts, action: exp.AlterColumn) -> None:
    for clause in ("using", "collate"):
        if action.args.get(clause) is not None:
            raise Unsupported(
                f"{clause.upper()} is not supported in ALTER COLUMN.",
                remedy="Add a new column and fill it by an UPDATE.",
            )
    session.set_column_type(name, joined_name(path), column_type(action.args["dtype"]))


def _set_default(session: Session, name: NameParts, path: NameParts, node: exp.Expr) -> None:
    place = session.resolve(name)
    view = session.viewing(place.attachment)
    kind = _find_column_type(view.state, session.find_table(view, place), path)
    default, default_type = default_of(node, kind)
    session.set_default(name, joined_name(path), default, default_type=default_type)


def _find_column_type(state: CatalogState, table: Table, path: NameParts) -> ColumnType:
    """Return the type of a column, including its nested fields."""
    column_id = state.column(table, *path).column_id
    pending = list(state.fields(table))
    while (field := pending.pop()).column_id != column_id:
        pending.extend(field.fields)
    return _to_column_type(field)


def _to_column_type(field: Field) -> ColumnType:
    return ColumnType(field.type, tuple((one.name, _to_column_type(one)) for one in field.fields))


def _set_layout(session: Session, name: NameParts, action: exp.AlterSet) -> None:
    (layout,) = action.expressions
    if isinstance(layout, exp.PartitionedByProperty):
        session.set_partitioning(name, partition_keys(layout))
    else:
        session.set_sorted_by(name, [_sort_key(one) for one in layout.expressions])


def _reset_layout(session: Session, name: NameParts, action: nodes.AlterReset) -> None:
    if action.name == "SORTED":
        session.set_sorted_by(name, [])
    else:
        session.set_partitioning(name, [])


def _sort_key(node: exp.Ordered) -> tuple[str, bool, bool]:
    """Return the name of a column, whether it is sorted descending, and whether NULLs are first."""
    column = node.this
    if not isinstance(column, exp.Column | exp.Identifier) or len(nodes.name_parts(column)) != 1:
        raise Unsupported(
            f"A table cannot be sorted by {column.sql('duckdb')}.",
            remedy="Sort it by columns, without expressions or nested fields.",
        )
    return column.name, bool(node.args.get("desc")), bool(node.args.get("nulls_first"))


def _refuse_add_constraint(session: Session, name: NameParts, action: exp.AddConstraint) -> None:
    refuse_constraint(action.expressions[0])
    raise Unsupported(
        "ADD CONSTRAINT is not supported.", remedy="Remove the constraint from the statement."
    )


# Comments


def run_comment(session: Session, statement: exp.Comment) -> Result:
    """Run COMMENT ON: set a comment, or remove it with NULL."""
    kind, name = str(statement.args["kind"]), nodes.name_parts(statement.this)
    text = None if isinstance(statement.expression, exp.Null) else statement.expression.name
    if kind == "SCHEMA":
        attachment, schema = session.schema_place(joined_name(name))
        with session.changing(attachment) as change:
            change.transaction.set_tag(change.transaction.state.schema(schema), COMMENT, text)
    elif kind == "COLUMN":
        _comment_column(session, *_split_column_name(session, name), text)
    else:
        _comment_relation(session, kind, name, text)
    return Result.done("COMMENT")


def _comment_relation(session: Session, kind: str, name: NameParts, text: str | None) -> None:
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        relation: Table | View
        if kind == "VIEW":
            relation = change.transaction.state.view(place.table, place.schema)
        else:
            relation = session.find_table(change.transaction, place)
        change.transaction.set_tag(relation, COMMENT, text)


def _comment_column(session: Session, table: NameParts, path: NameParts, text: str | None) -> None:
    place = session.resolve(table)
    with session.changing(place.attachment) as change:
        relation = session.find_table(change.transaction, place)
        change.transaction.set_column_tag(relation, path, COMMENT, text)


def _split_column_name(session: Session, name: NameParts) -> tuple[NameParts, NameParts]:
    """Split a name into those of the table and the column: `t.c`, `lake.main.t.s.x`."""
    for length in range(min(3, len(name) - 1), 0, -1):
        try:
            place = session.resolve(name[:length])
            session.find_table(session.viewing(place.attachment), place)
        except NotFound:
            continue
        return name[:length], name[length:]
    raise NotFound(
        f"No table with the column '{'.'.join(name)}' exists.",
        remedy="Write table.column, or catalog.schema.table.column.",
    )


_ACTIONS: dict[type[exp.Expr], Callable[[Session, NameParts, Any], None]] = {
    exp.ColumnDef: _add_column,
    exp.Drop: _drop_column,
    exp.RenameColumn: _rename_column,
    exp.AlterRename: _rename_table,
    exp.AlterColumn: _alter_column,
    exp.AlterSet: _set_layout,
    nodes.AlterReset: _reset_layout,
    exp.AddConstraint: _refuse_add_constraint,
}
HANDLERS = {exp.Alter: run_alter, exp.Comment: run_comment}
