"""Definitions of a remote catalog: schemas, tables, columns and views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forklake.client.documents import Document
from forklake.client.transport import Transport
from forklake.errors import InvalidInput

PAGE = 1000
MAIN = "main"
# A column: (name, type), or a mapping with the fields that add_column takes.
ColumnLike = tuple[str, Any] | Mapping[str, Any]


class RemoteDefinitions:
    """Base class of remote catalogs that reads and changes definitions."""

    _transport: Transport

    def _path(self, *parts: object) -> str:
        raise NotImplementedError

    def _post(self, path: str, body: Document) -> Document:
        document: Document = self._transport.change("POST", path, body)
        return document

    def _patch(self, path: str, changes: Document) -> Document:
        changed: Document = self._transport.change("PATCH", path, changes)
        return changed

    def _delete(self, path: str, **parameters: bool) -> None:
        self._transport.send("DELETE", path, parameters=parameters)

    def _fetch_pages(self, path: str, kind: str, version: int | None) -> Iterator[Document]:
        after: Any = None
        while True:
            response = self._transport.get(path, snapshot=version, after=after, limit=PAGE)
            yield from response[kind]
            after = response["next"]
            if after is None:
                return

    def snapshot_at(self, timestamp: datetime | None = None) -> int:
        """Return the id of the current snapshot, or of the one at a timestamp."""
        moment = None if timestamp is None else require_time_zone(timestamp).isoformat()
        response = self._transport.get(self._path("schemas"), timestamp=moment)
        return int(response["snapshot"])

    # Schemas

    def schemas(self, *, version: int | None = None) -> list[Document]:
        """Return the schemas, at the current or a given snapshot."""
        return list(self._transport.get(self._path("schemas"), snapshot=version)["schemas"])

    def create_schema(self, name: str, *, if_not_exists: bool = False) -> Document:
        """Create a schema."""
        body = {"name": name, "if_not_exists": if_not_exists}
        return self._post(self._path("schemas"), body)

    def rename_schema(self, name: str, new_name: str) -> Document:
        """Rename a schema. Its contents do not change."""
        return self._patch(self._path("schemas", name), {"name": new_name})

    def drop_schema(self, name: str, *, cascade: bool = False, if_exists: bool = False) -> None:
        """Drop a schema, with `cascade` together with its contents."""
        self._delete(self._path("schemas", name), cascade=cascade, if_exists=if_exists)

    # Tables

    def _table_path(self, name: str, schema: str, *parts: object) -> str:
        return self._path("schemas", schema, "tables", name, *parts)

    def table(self, name: str, schema: str = MAIN, *, version: int | None = None) -> Document:
        """Return a table with its columns, row count and size, now or at a given snapshot."""
        found: Document = self._transport.get(self._table_path(name, schema), snapshot=version)
        return found

    def tables(
        self,
        schema: str | None = None,
        *,
        version: int | None = None,
        timestamp: datetime | None = None,
    ) -> list[Document]:
        """Return the tables of one schema or of all, at the current or a given snapshot."""
        if version is None:
            version = self.snapshot_at(timestamp)
        names = (
            [one["name"] for one in self.schemas(version=version)] if schema is None else [schema]
        )
        return [
            one | {"schema_name": name}
            for name in names
            for one in self._fetch_pages(self._path("schemas", name, "tables"), "tables", version)
        ]

    def files(self, name: str, schema: str = MAIN, *, version: int | None = None) -> list[Document]:
        """Return the data files of a table, at the current or a given snapshot."""
        return list(self._fetch_pages(self._table_path(name, schema, "files"), "files", version))

    def create_table(
        self,
        name: str,
        columns: Sequence[ColumnLike],
        *,
        schema: str = MAIN,
        partition_by: Sequence[tuple[str, str]] = (),
        comment: str | None = None,
        if_not_exists: bool = False,
    ) -> Document:
        """Create a table. A partition key is a column and a transform, such as `identity`."""
        body = {
            "name": name,
            "columns": [_column_body(one) for one in columns],
            "partition_by": _partition_bodies(partition_by),
            "comment": comment,
            "if_not_exists": if_not_exists,
        }
        return self._post(self._path("schemas", schema, "tables"), body)

    def rename_table(self, name: str, new_name: str, *, schema: str = MAIN) -> Document:
        """Rename a table within its schema."""
        return self._patch(self._table_path(name, schema), {"name": new_name})

    def set_comment(self, table: str, comment: str | None, *, schema: str = MAIN) -> Document:
        """Set the comment of a table; None removes it."""
        return self._patch(self._table_path(table, schema), {"comment": comment})

    def set_partitioning(
        self, table: str, keys: Sequence[tuple[str, str]], *, schema: str = MAIN
    ) -> Document:
        """Set the partition keys for new files of a table."""
        return self._patch(
            self._table_path(table, schema), {"partition_by": _partition_bodies(keys)}
        )

    def set_sorted_by(
        self, table: str, keys: Sequence[tuple[str, bool, bool]], *, schema: str = MAIN
    ) -> Document:
        """Set the sort order of new files: tuples of column, is_descending and nulls_first."""
        names = ("column", "is_descending", "nulls_first")
        listed = [dict(zip(names, key, strict=True)) for key in keys]
        return self._patch(self._table_path(table, schema), {"sorted_by": listed})

    def drop_table(self, name: str, *, schema: str = MAIN, if_exists: bool = False) -> None:
        """Drop a table."""
        self._delete(self._table_path(name, schema), if_exists=if_exists)

    # Columns

    def add_column(
        self,
        table: str,
        name: str,
        type: Any,
        *,
        schema: str = MAIN,
        default: str | None = None,
        nulls_allowed: bool = True,
        comment: str | None = None,
    ) -> Document:
        """Add a column to a table. Existing rows return its default value."""
        body = {"name": name, "type": type, "default": default, "comment": comment}
        path = self._table_path(table, schema, "columns")
        return self._post(path, body | {"nulls_allowed": nulls_allowed})

    def rename_column(
        self, table: str, column: str, new_name: str, *, schema: str = MAIN
    ) -> Document:
        """Rename a column."""
        return self._patch(self._table_path(table, schema, "columns", column), {"name": new_name})

    def set_column_type(
        self, table: str, column: str, type: Any, *, schema: str = MAIN
    ) -> Document:
        """Widen the type of a column."""
        return self._patch(self._table_path(table, schema, "columns", column), {"type": type})

    def set_default(
        self, table: str, column: str, default: str | None, *, schema: str = MAIN
    ) -> Document:
        """Set the default of a column for new rows; None removes it."""
        return self._patch(self._table_path(table, schema, "columns", column), {"default": default})

    def set_column_comment(
        self, table: str, column: str, comment: str | None, *, schema: str = MAIN
    ) -> Document:
        """Set the comment of a column; None removes it."""
        return self._patch(self._table_path(table, schema, "columns", column), {"comment": comment})

    def allow_nulls(self, table: str, column: str, *, schema: str = MAIN) -> Document:
        """Allow nulls in a column. To forbid them, use SQL in a session."""
        path = self._table_path(table, schema, "columns", column)
        return self._patch(path, {"nulls_allowed": True})

    def drop_column(self, table: str, column: str, *, schema: str = MAIN) -> None:
        """Drop a column."""
        self._delete(self._table_path(table, schema, "columns", column))

    # Views

    def views(self, schema: str = MAIN, *, version: int | None = None) -> list[Document]:
        """Return the views of a schema, at the current or a given snapshot."""
        path = self._path("schemas", schema, "views")
        return list(self._transport.get(path, snapshot=version)["views"])

    def view(self, name: str, schema: str = MAIN, *, version: int | None = None) -> Document:
        """Return a view with its query, at the current or a given snapshot."""
        path = self._path("schemas", schema, "views", name)
        found: Document = self._transport.get(path, snapshot=version)
        return found

    def create_view(
        self,
        name: str,
        sql: str,
        *,
        schema: str = MAIN,
        or_replace: bool = False,
        if_not_exists: bool = False,
    ) -> Document:
        """Create a view. The service checks its query."""
        body = {"name": name, "sql": sql, "or_replace": or_replace}
        path = self._path("schemas", schema, "views")
        return self._post(path, body | {"if_not_exists": if_not_exists})

    def drop_view(self, name: str, *, schema: str = MAIN, if_exists: bool = False) -> None:
        """Drop a view."""
        self._delete(self._path("schemas", schema, "views", name), if_exists=if_exists)


def _column_body(column: ColumnLike) -> Document:
    if isinstance(column, Mapping):
        return dict(column)
    name, kind = column
    return {"name": name, "type": kind}


def _partition_bodies(keys: Sequence[tuple[str, str]]) -> list[Document]:
    return [{"column": column, "transform": transform} for column, transform in keys]


def require_time_zone(moment: datetime) -> datetime:
    """Return a timestamp that has a time zone, or raise InvalidInput."""
    if moment.tzinfo is None:
        raise InvalidInput(
            f"The timestamp {moment} has no time zone.",
            remedy="Set its time zone, such as tzinfo=datetime.UTC.",
        )
    return moment
