"""The mirror: versions that are in the metastore are told to the files of a Delta log, in order.

Each version is put into the log once, if no file of that name is there; a file that is there must
be ours. So a mirror that was cut short anywhere is simply run again, by whoever, and a log in which
somebody else took a version is never overwritten: its mirror has diverged, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading
from forklake.delta.actions import AnyAction, Metadata, Protocol
from forklake.delta.mirror.checkpoints import write_checkpoint
from forklake.delta.mirror.commits import publish
from forklake.delta.wording import Wording
from forklake.errors import Conflict, ForklakeError, InvalidInput
from forklake.model.entities import DeltaTable, DeltaVersion, Table
from forklake.model.faces import FaceMode
from forklake.model.kinds import DELTA_ACTION, DELTA_TABLE, TABLE
from forklake.store.mirrors import MirrorStatus, find_status, put_status
from forklake.store.operations import Insert

_EVERY = 10  # versions between checkpoints, unless the table says otherwise
_INTERVAL = "delta.checkpointInterval"


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What a mirror has done: the versions that it told, and where it is."""

    versions: int
    status: MirrorStatus


class Mirror:
    """Mirrors one Delta table of a catalog to the files at its location."""

    def __init__(self, catalog: Catalog, table: Table) -> None:
        self._catalog = catalog
        self._table = table
        seen = catalog.now()
        self._face = FaceReading(seen, table)
        face = self._face.face
        if face.location is None or not is_mirrored(catalog, face):
            raise InvalidInput(
                f"The Delta table '{table.table_name}' is not mirrored: it has no location of its"
                " own.",
                remedy="Publish it to one.",
            )
        self.location = face.location
        blank = MirrorStatus(catalog_id=catalog.catalog_id, table_id=table.table_id)
        self.status = find_status(catalog.database, blank)

    def run(self) -> Mirrored:
        """Tell all versions that were not told yet."""
        done = 0
        try:
            for version in self._waiting():
                self._tell(version)
                done += 1
        except Conflict as reason:
            self._note(replace(self.status, state="DIVERGED", last_error=reason.message))
            raise
        except ForklakeError as reason:
            self._note(replace(self.status, state="FAILED", last_error=reason.message))
            raise
        if done or self.status.state != "CURRENT":
            self._note(replace(self.status, state="CURRENT", last_error=None))
        return Mirrored(done, self.status)

    def _waiting(self) -> Iterator[DeltaVersion]:
        yield from self._face.versions(self.status.mirrored_version + 1)

    def _note(self, status: MirrorStatus) -> None:
        put_status(self._catalog.database, status)
        self.status = status

    # One version

    def _tell(self, version: DeltaVersion) -> None:
        told = Wording(self._catalog, self._table, version, self.location)
        is_first = self.status.mirrored_version < 0
        actions = told.actions(is_first=is_first)
        publish(self.location, version.version, actions)
        self._keep(version, told, actions)
        status = replace(self.status, mirrored_version=version.version, state="LAGGING")
        interval = int(told.metadata.configuration.get(_INTERVAL) or _EVERY)
        if (is_first and version.version) or (version.version and version.version % interval == 0):
            write_checkpoint(self.location, version.version, told.state())
            status = replace(status, checkpoint_version=version.version)
        self._note(status)

    def _keep(self, version: DeltaVersion, told: Wording, actions: list[AnyAction]) -> None:
        """Remember what was told anew of the table, so that it is told once."""
        rows = [
            (
                self._catalog.catalog_id,
                version.begin_snapshot,
                self._table.table_id,
                version.version,
                action.kind,
                "",
                json.dumps(action.body(), separators=(",", ":"), ensure_ascii=False),
            )
            for action in actions
            if isinstance(action, Protocol | Metadata) and action.kind not in told.kept_kinds
        ]
        if rows:
            insert = Insert(DELTA_ACTION.name, DELTA_ACTION.columns, rows, skips_existing=True)
            with self._catalog.database.writing() as connection:
                connection.commit([insert])


def mirror_catalog(catalog: Catalog) -> list[tuple[Table, Mirrored | ForklakeError]]:
    """Mirror all Delta tables of a catalog that have something to tell; what came of each."""
    seen = catalog.now()
    done: list[tuple[Table, Mirrored | ForklakeError]] = []
    for face in seen.state.rows(DELTA_TABLE):
        table = seen.state.get(TABLE, (face.table_id,))
        if isinstance(table, Table) and is_mirrored(catalog, face):
            try:
                done.append((table, Mirror(catalog, table).run()))
            except ForklakeError as reason:  # the status tells; others go on
                done.append((table, reason))
    return done


def is_mirrored(catalog: Catalog, face: DeltaTable) -> bool:
    """Whether a face is told to files: it is the catalog's own, and has a place."""
    return (
        face.location is not None
        and face.mode == FaceMode.OWN
        and face.catalog_id == catalog.catalog_id
    )
