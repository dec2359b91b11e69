"""Snapshots that one statement reads: one of each catalog, however often it is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput, NotFound
from forklake.model.names import folded
from forklake.sql.query.timestamps import CURRENT, ReadPoint

if TYPE_CHECKING:
    from forklake.catalog.catalog_view import CatalogView
    from forklake.model.state import CatalogState
    from forklake.session.attachments import Attachment
    from forklake.session.name_resolution import TableName
    from forklake.sql.query.macros import FoundMacro
    from forklake.sql.session import Session


class StateCache:
    """Cache of the catalog states that a statement reads."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._views: dict[tuple[str, ReadPoint], CatalogView] = {}

    def view(self, attachment: Attachment, read_point: ReadPoint) -> CatalogView:
        """Return a catalog at a snapshot or time."""
        key = folded(attachment.alias), read_point
        if key not in self._views:
            self._views[key] = self.session.viewing(
                attachment, version=read_point.version, timestamp=read_point.timestamp
            )
        return self._views[key]

    def resolve(self, parts: Sequence[str], read_point: ReadPoint = CURRENT) -> TableName:
        """Return the catalog, schema and table that a name means at a snapshot or time."""

        def state_of(attachment: Attachment) -> CatalogState:
            return self.view(attachment, read_point).state

        return self.session.resolve_in(parts, state_of)

    def find_macro(
        self, parts: Sequence[str], type: str, read_point: ReadPoint = CURRENT
    ) -> FoundMacro | None:
        """Find a macro; without a schema, in the current schema or in `main`."""
        try:
            place = self.resolve(parts, read_point)
        except (NotFound, InvalidInput):
            return None
        state = self.view(place.attachment, read_point).state
        schemas = [place.schema] if len(parts) > 1 else [place.schema, "main"]
        for schema in schemas:
            if state.find_schema(schema) is None:
                continue
            found = state.find_macro(place.table, schema, type=type)
            if found is not None:
                return place.attachment, state, found
        return None
