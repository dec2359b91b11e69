"""Catalog of a remote service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from forklake.client.definitions import PAGE, RemoteDefinitions, require_time_zone
from forklake.client.documents import Document, to_snapshot
from forklake.client.transport import Transport, path_of
from forklake.errors import InvalidInput
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.snapshots import Snapshot
from forklake.store.catalogs import CatalogRow


class RemoteCatalog(RemoteDefinitions):
    """Catalog of a service, with the methods of a catalog, and those that read and write data."""

    def __init__(self, transport: Transport, row: CatalogRow) -> None:
        self._transport = transport
        self.row = row

    def __repr__(self) -> str:
        return f"<RemoteCatalog {self.name!r} of {self._transport.url}>"

    @property
    def name(self) -> str:
        """Name of the catalog when it was opened."""
        return self.row.catalog_name

    @property
    def catalog_id(self) -> CatalogId:
        """Id of the catalog, which a rename does not change."""
        return self.row.catalog_id

    def _path(self, *parts: object) -> str:
        return path_of("catalogs", self.name, *parts)

    # History

    def current_snapshot(self) -> SnapshotId:
        """Return the newest snapshot."""
        return SnapshotId(self.snapshot_at())

    def snapshots(self, *, limit: int | None = None) -> list[Snapshot]:
        """Return the newest snapshots, oldest first, including those inherited by a fork."""
        if limit is not None and limit < 1:
            raise InvalidInput(
                f"The limit of snapshots is {limit}, but must be at least 1.",
                remedy="Use a limit of 1 or more.",
            )
        found: list[Snapshot] = []
        before: int | None = None
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            response = self._transport.get(self._path("snapshots"), before=before, limit=size)
            found = [*map(to_snapshot, response["snapshots"]), *found]
            before = response["next"]
            if before is None:
                break
        return found

    # Options

    def options(
        self, *, schema: str | None = None, table: str | None = None
    ) -> list[tuple[str, str | None, str]]:
        """Return each option with its effective value and the scope where it is set."""
        response = self._transport.get(self._path("options"), schema=schema, table=table)
        return [(one["name"], one["value"], one["scope"]) for one in response["options"]]

    def set_option(
        self, name: str, value: object, *, schema: str | None = None, table: str | None = None
    ) -> None:
        """Set an option; None removes the setting."""
        scope = {"schema": schema, "table": table}
        self._transport.send(
            "PUT", self._path("options", name), parameters=scope, body={"value": value}
        )

    def set_options(
        self,
        values: Mapping[str, object],
        *,
        schema: str | None = None,
        table: str | None = None,
    ) -> None:
        """Set several options, one request each; None removes a setting."""
        for name, value in values.items():
            self.set_option(name, value, schema=schema, table=table)

    def extend(self, ttl: timedelta | None) -> datetime | None:
        """Set the time to live, counted from now; None removes the expiry. Return the expiry."""
        seconds = None if ttl is None else int(ttl.total_seconds())
        self._transport.change("PATCH", self._path(), {"ttl_seconds": seconds})
        return None if ttl is None else datetime.now(UTC) + ttl

    # Data

    def mirrors(self) -> list[Document]:
        """Return the Delta tables of the catalog with the progress of their mirrors."""
        return list(self._transport.get(self._path("mirrors"))["mirrors"])

    def maintain(
        self,
        operation: str,
        *,
        table: str | None = None,
        schema: str | None = None,
        older_than: datetime | None = None,
        dry_run: bool = False,
        wait_seconds: float = 0.0,
    ) -> Document:
        """Start `expire`, `cleanup`, `merge`, `flush` or `rewrite`, and return the run."""
        body = {
            "table": table,
            "schema_name": schema,
            "older_than": None if older_than is None else require_time_zone(older_than).isoformat(),
            "dry_run": dry_run,
            "wait_seconds": wait_seconds,
        }
        return self._post(self._path("maintenance", operation), body)

    def maintenance_runs(self) -> list[Document]:
        """Return the maintenance runs since the service started, newest first."""
        return list(self._transport.get(self._path("maintenance", "runs"))["runs"])

    # Access

    def grants(self) -> list[Document]:
        """Return the roles granted on the catalog."""
        return list(self._transport.get(self._path("grants"))["grants"])

    def grant(self, principal: str, role: str) -> None:
        """Grant a role to a principal."""
        self._transport.change("PUT", self._path("grants", principal), {"role": role})

    def revoke(self, principal: str) -> None:
        """Revoke the role of a principal."""
        self._transport.change("DELETE", self._path("grants", principal))

    def token(self, rights: Sequence[str], seconds: int) -> str:
        """Create a token that is limited to this catalog and expires after some seconds."""
        body = {"rights": list(rights), "seconds": seconds}
        return str(self._transport.change("POST", self._path("tokens"), body)["token"])
