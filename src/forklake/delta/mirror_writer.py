"""Mirror: write the versions of a Delta table from the metastore to the files of its log, in order.

Each version is written with put-if-absent; a file that exists already must be our own. So an
interrupted mirror can be resumed by any worker, and a version that another writer took is never
overwritten: the state of the mirror becomes DIVERGED instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.file_listings import keep_listing
from forklake.delta.actions import AnyAction, Metadata, Protocol, parse
from forklake.delta.commit_actions import Stated, Wording
from forklake.delta.files import text_of
from forklake.delta.mirror.checkpoints import write_checkpoint
from forklake.delta.mirror.commits import publish
from forklake.delta.version_batch import Chapter
from forklake.errors import Conflict, ForklakeError, InvalidInput
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import DeltaTable, DeltaVersion, Table
from forklake.model.kinds import DELTA_ACTION, DELTA_TABLE, TABLE
from forklake.store.delta_tables import schema_versions
from forklake.store.mirrors import MirrorStatus, find_status, put_status
from forklake.store.operations import Insert
from forklake.store.phases import reached

_AT_ONCE = 100  # versions in a batch
_EVERY = 10  # default number of versions between checkpoints
_INTERVAL = "delta.checkpointInterval"


@dataclass(frozen=True, slots=True)
class Mirrored:
    """Result of a mirror run: the number of versions written, and the status."""

    versions: int
    status: MirrorStatus


class Mirror:
    """Mirror of one Delta table of a catalog to the log at its location."""

    def __init__(self, catalog: Catalog, table: Table) -> None:
        self._catalog = catalog
        self._table = table
        self._log = FaceReading(catalog.now(), table)
        self._face = self._log.face
        if self._face.location is None or not is_mirrored(catalog, self._face):
            raise InvalidInput(
                f"The Delta table '{table.table_name}' is not mirrored: this catalog has no"
                " location for it.",
                remedy="Publish it to a location: `forklake delta publish`.",
            )
        self.location = self._face.location
        blank = MirrorStatus(catalog_id=catalog.catalog_id, table_id=table.table_id)
        self.status = find_status(catalog.database, blank)

    def run(self) -> Mirrored:
        """Write all versions that are not mirrored yet."""
        begin = self.status.mirrored_version
        done = 0
        try:
            for versions in self._waiting():
                done += self._tell_all(versions)
        except Conflict as reason:
            self._note(state="DIVERGED", last_error=reason.message)
            raise
        except ForklakeError as reason:
            self._note(state="FAILED", last_error=reason.message)
            raise
        if self.status.mirrored_version != begin or self.status.state != "CURRENT":
            self._note(state="CURRENT", last_error=None)
        return Mirrored(done, self.status)

    def _waiting(self) -> Iterator[Sequence[DeltaVersion]]:
        """Yield the versions that are not mirrored yet, in batches."""
        versions = self._log.versions(self.status.mirrored_version + 1)
        if self.status.mirrored_version < 0:
            versions = self._still_known(versions)
        for start in range(0, len(versions), _AT_ONCE):
            yield versions[start : start + _AT_ONCE]

    def _still_known(self, versions: list[DeltaVersion]) -> list[DeltaVersion]:
        """Return the versions after the last expired one: a new log may begin at any version."""
        numbers = [one.begin_snapshot for one in versions]
        known = schema_versions(self._catalog.database, self._catalog.catalog_id, numbers)
        gone = [place for place, number in enumerate(numbers) if number not in known]
        return versions[gone[-1] + 1 :] if gone else versions

    def _note(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)
        put_status(self._catalog.database, self.status)

    # Writing versions

    def _tell_all(self, versions: Sequence[DeltaVersion]) -> int:
        chapter = Chapter(self._catalog, self._table, self._face, versions)
        stated = self._stated(chapter, versions[0])
        for version in versions:
            stated = self._tell(Wording(chapter, version, stated, self.location), version)
        self._note(state="LAGGING")
        reached("mirror.noted")
        return len(versions)

    def _stated(self, chapter: Chapter, version: DeltaVersion) -> Stated:
        """Return the protocol and metadata in effect before a version."""
        log = FaceReading(chapter.view(version), self._table)
        found = [
            log.newest_action(kind.kind, before=version.version) for kind in (Protocol, Metadata)
        ]
        return Stated().after(parse(one.kind, json.loads(one.body)) for one in found if one)

    def _tell(self, told: Wording, version: DeltaVersion) -> Stated:
        is_first = self.status.mirrored_version < 0
        actions = told.actions(is_first=is_first)
        publish(self.location, version.version, actions)
        reached("mirror.published")
        self._keep(version, told, actions)
        self.status = replace(self.status, mirrored_version=version.version)
        interval = int(told.metadata.configuration.get(_INTERVAL) or _EVERY)
        if version.version and (is_first or version.version % interval == 0):
            write_checkpoint(self.location, version.version, told.state())
            reached("mirror.checkpointed")
            self.status = replace(self.status, checkpoint_version=version.version)
            keep_listing(self._catalog, self._table)
        return told.stated.after(actions)

    def _keep(self, version: DeltaVersion, told: Wording, actions: list[AnyAction]) -> None:
        """Store new protocol and metadata actions, so that later versions do not repeat them."""
        rows = [
            (
                self._catalog.catalog_id,
                version.begin_snapshot,
                self._table.table_id,
                version.version,
                action.kind,
                "",
                text_of(action),
            )
            for action in actions
            if isinstance(action, Protocol | Metadata) and action.kind not in told.kept_kinds
        ]
        if rows:
            insert = Insert(DELTA_ACTION.name, DELTA_ACTION.columns, rows, skips_existing=True)
            with self._catalog.database.writing() as connection:
                connection.commit([insert])


def mirror_catalog(catalog: Catalog) -> list[tuple[Table, Mirrored | ForklakeError]]:
    """Mirror all Delta tables of a catalog, and return the result or error of each."""
    seen = catalog.now()
    done: list[tuple[Table, Mirrored | ForklakeError]] = []
    for face in seen.state.rows(DELTA_TABLE):
        table = seen.state.get(TABLE, (face.table_id,))
        if isinstance(table, Table) and is_mirrored(catalog, face):
            try:
                done.append((table, Mirror(catalog, table).run()))
            except ForklakeError as reason:  # stored in the status; go on with other tables
                done.append((table, reason))
    return done


def is_mirrored(catalog: Catalog, face: DeltaTable) -> bool:
    """Return whether this catalog mirrors a Delta table: it owns it, and has a location."""
    return (
        face.location is not None
        and face.mode == FaceMode.OWN
        and face.catalog_id == catalog.catalog_id
    )
