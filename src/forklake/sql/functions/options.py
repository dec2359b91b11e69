"""SQL functions that list and set the options of a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from forklake.model.options import OPTIONS
from forklake.model.state import CatalogState
from forklake.session.attachments import Attachment
from forklake.sql.functions.places import qualify_table_name

if TYPE_CHECKING:
    from forklake.sql.session import Session


def list_options(session: Session, catalog: Attachment) -> Iterator[tuple[Any, ...]]:
    """Yield each option with its value for the catalog, then where schemas and tables set it."""
    state = session.viewing(catalog).state
    owners = list(_list_owners(state))
    for name, rule in OPTIONS.items():
        value = catalog.option(state, name)
        yield name, rule.description, value, "GLOBAL", None
        for scope, entry, owner_id in owners:
            own = state.own_options(owner_id)
            if name in own:
                yield name, rule.description, own[name], scope, entry


def _list_owners(state: CatalogState) -> Iterator[tuple[str, str, int]]:
    """Yield the schemas and tables as (scope, name, id that options are stored under)."""
    for schema in state.schemas():
        yield "SCHEMA", schema.schema_name, schema.schema_id
        for table in state.tables(schema.schema_name):
            yield "TABLE", f"{schema.schema_name}.{table.table_name}", table.table_id


def set_option(
    session: Session,
    catalog: Attachment,
    option: str,
    value: Any,
    schema: str | None = None,
    table_name: Sequence[str] | None = None,
) -> list[tuple[bool]]:
    """Set an option of the catalog, a schema or a table; NULL removes it."""
    table = None
    if table_name is not None:
        _, schema, table = qualify_table_name(session, catalog, table_name, schema)
    session.set_option(catalog.alias, option, value, schema=schema, table=table)
    return [(True,)]
