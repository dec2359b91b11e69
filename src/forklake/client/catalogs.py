"""A catalog behind a service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from forklake.client.documents import Document, snapshot
from forklake.client.transport import Transport, path_of
from forklake.errors import InvalidInput
from forklake.model.ids import CatalogId
from forklake.model.snapshots import Snapshot
from forklake.store.catalogs import CatalogRow

_PAGE = 1000
MAIN = "main"


class RemoteCatalog:
    """One catalog of a service: the verbs of a catalog that need no data."""

    def __init__(self, transport: Transport, row: CatalogRow) -> None:
        self._transport = transport
        self.row = row

    def __repr__(self) -> str:
        return f"<RemoteCatalog {self.name!r} of {self._transport.url}>"

    @property
    def name(self) -> str:
        """Its name when it was opened."""
        return self.row.catalog_name

    @property
    def catalog_id(self) -> CatalogId:
        """Its number, which a rename does not change."""
        return self.row.catalog_id

    def _path(self, *parts: object) -> str:
        return path_of("catalogs", self.name, *parts)

    # What is in it

    def schemas(self, *, version: int | None = None) -> list[Document]:
        """The schemas, now or as it was."""
        told = self._transport.get(self._path("schemas"), snapshot=version)
        return list(told["schemas"])

    def table(self, name: str, schema: str = MAIN, *, version: int | None = None) -> Document:
        """A table: its columns, rows and bytes, now or as it was."""
        found: Document = self._transport.get(
            self._path("schemas", schema, "tables", name), snapshot=version
        )
        return found

    def tables(
        self,
        schema: str | None = None,
        *,
        version: int | None = None,
        timestamp: datetime | None = None,
    ) -> list[Document]:
        """The tables of a schema, or of all, now or as it was; each by its name."""
        if version is None:
            version = self.snapshot_at(timestamp)
        names = (
            [one["name"] for one in self.schemas(version=version)] if schema is None else [schema]
        )
        return [
            one | {"schema_name": name}
            for name in names
            for one in self._pages(self._path("schemas", name, "tables"), "tables", version)
        ]

    def _pages(self, path: str, kind: str, version: int | None) -> Iterator[Document]:
        after: Any = None
        while True:
            told = self._transport.get(path, snapshot=version, after=after, limit=_PAGE)
            yield from told[kind]
            after = told["next"]
            if after is None:
                return

    def files(self, name: str, schema: str = MAIN, *, version: int | None = None) -> list[Document]:
        """The data files of a table, now or as it was."""
        path = self._path("schemas", schema, "tables", name, "files")
        return list(self._pages(path, "files", version))

    def views(self, schema: str = MAIN) -> list[Document]:
        """The views of a schema."""
        return list(self._transport.get(self._path("schemas", schema, "views"))["views"])

    # Its past

    def snapshot_at(self, timestamp: datetime | None = None) -> int:
        """The newest snapshot, or the one of a moment."""
        moment = None if timestamp is None else _zoned(timestamp).isoformat()
        told = self._transport.get(self._path("schemas"), timestamp=moment)
        return int(told["snapshot"])

    def snapshots(self, *, limit: int | None = None) -> list[Snapshot]:
        """The history, oldest first: also what happened before it was forked off."""
        if limit is not None and limit < 1:
            raise InvalidInput(f"{limit} snapshots cannot be listed.", remedy="Use 1 or more.")
        found: list[Snapshot] = []
        before: int | None = None
        while limit is None or len(found) < limit:
            wanted = _PAGE if limit is None else min(_PAGE, limit - len(found))
            told = self._transport.get(self._path("snapshots"), before=before, limit=wanted)
            found = [*map(snapshot, told["snapshots"]), *found]
            before = told["next"]
            if before is None:
                break
        return found

    # Changing it

    def create_schema(self, name: str, *, if_not_exists: bool = False) -> Document:
        """A new schema."""
        body = {"name": name, "if_not_exists": if_not_exists}
        return self._made(self._path("schemas"), body)

    def drop_schema(self, name: str, *, cascade: bool = False) -> None:
        """End a schema, with `cascade` all that is in it too."""
        path = self._path("schemas", name)
        self._transport.send("DELETE", path, wanted={"cascade": cascade})

    def create_table(
        self,
        name: str,
        columns: Sequence[tuple[str, Any]],
        *,
        schema: str = MAIN,
        if_not_exists: bool = False,
    ) -> Document:
        """A new table of columns, each a name and a type."""
        told = [{"name": column, "type": kind} for column, kind in columns]
        body = {"name": name, "columns": told, "if_not_exists": if_not_exists}
        return self._made(self._path("schemas", schema, "tables"), body)

    def drop_table(self, name: str, *, schema: str = MAIN) -> None:
        """End a table."""
        self._transport.change("DELETE", self._path("schemas", schema, "tables", name))

    def _made(self, path: str, body: Document) -> Document:
        made: Document = self._transport.change("POST", path, body)
        return made

    # Options

    def options(
        self, *, schema: str | None = None, table: str | None = None
    ) -> list[tuple[str, str | None, str]]:
        """Each option with the value in force and where it was set."""
        told = self._transport.get(self._path("options"), schema=schema, table=table)
        return [(one["name"], one["value"], one["scope"]) for one in told["options"]]

    def set_option(
        self, name: str, value: object, *, schema: str | None = None, table: str | None = None
    ) -> None:
        """Set an option; None removes it."""
        wanted = {"schema": schema, "table": table}
        self._transport.send(
            "PUT", self._path("options", name), wanted=wanted, body={"value": value}
        )

    def set_options(
        self,
        values: Mapping[str, object],
        *,
        schema: str | None = None,
        table: str | None = None,
    ) -> None:
        """Set options one after the other; None removes one."""
        for name, value in values.items():
            self.set_option(name, value, schema=schema, table=table)

    def extend(self, ttl: timedelta | None) -> datetime | None:
        """Let it live for so long from now on, or without limit; until when that is."""
        seconds = None if ttl is None else int(ttl.total_seconds())
        self._transport.change("PATCH", self._path(), {"ttl_seconds": seconds})
        return None if ttl is None else datetime.now(UTC) + ttl

    # Who may use it

    def grants(self) -> list[Document]:
        """Who has which role."""
        return list(self._transport.get(self._path("grants"))["grants"])

    def grant(self, principal: str, role: str) -> None:
        """Give a principal a role."""
        self._transport.change("PUT", self._path("grants", principal), {"role": role})

    def revoke(self, principal: str) -> None:
        """Take a principal's role away."""
        self._transport.change("DELETE", self._path("grants", principal))

    def token(self, rights: Sequence[str], seconds: int) -> str:
        """A credential for this catalog alone, for some time."""
        body = {"rights": list(rights), "seconds": seconds}
        return str(self._transport.change("POST", self._path("tokens"), body)["token"])


def _zoned(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise InvalidInput(f"The timestamp {moment} has no time zone.", remedy="Add one.")
    return moment
