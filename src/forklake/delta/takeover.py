"""Takeover of a Delta table: from following its log to owning it.

The commit of the takeover adds a writer feature that makes other writers refuse the table. From
then on the metastore is the log of record, and the mirror writes the files that were read before.
"""

from __future__ import annotations

from dataclasses import replace

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading, find_face
from forklake.delta.actions import Metadata, Protocol
from forklake.delta.features import require_writable
from forklake.delta.mirror.commits import commit_path
from forklake.delta.mirror_writer import Mirror, MirrorResult
from forklake.delta.stored_actions import find_stored_action
from forklake.errors import Conflict, InvalidInput
from forklake.files.systems import exists
from forklake.model.delta_tables import FaceCommit, FaceMode
from forklake.model.entities import Table
from forklake.store.mirrors import MirrorStatus, put_status


def take_over(catalog: Catalog, table: Table) -> MirrorResult:
    """Become the owner of a Delta table. It must be imported up to its newest version."""
    seen = catalog.now()
    reading = FaceReading(seen, table)
    if reading.face.location is None or reading.face.catalog_id != catalog.catalog_id:
        raise InvalidInput(
            f"The Delta table '{table.table_name}' belongs to another catalog.",
            remedy="Publish it to a separate location: `forklake delta publish`.",
        )
    if reading.face.mode == FaceMode.OWN:
        return Mirror(catalog, table).run()
    _require_writable(reading)
    version = reading.latest().version
    _require_newest(reading.face.location, version, table)
    # Before the commit: a mirror that finds the table owned must find the mirrored version too.
    put_status(
        catalog.database,
        MirrorStatus(
            catalog_id=catalog.catalog_id, table_id=table.table_id, mirrored_version=version
        ),
    )
    with catalog.transaction(message="Taken over", seen=seen) as transaction:
        delta_table = find_face(transaction.state, table)
        assert delta_table is not None
        transaction.change_face(replace(delta_table, mode=FaceMode.OWN.value))
        transaction.tell(table, FaceCommit("UPGRADE PROTOCOL"))
    return Mirror(catalog, table).run()


def _require_newest(location: str, version: int, table: Table) -> None:
    """Raise Conflict if the log has newer versions.

    A writer that commits after this check makes the mirror diverge.
    """
    if exists(commit_path(location, version + 1)):
        raise Conflict(
            f"The log of the Delta table '{table.table_name}' has newer versions than {version}.",
            remedy="Import them first with `forklake delta import`, and stop other writers.",
        )


def _require_writable(reading: FaceReading) -> None:
    """Raise Unsupported if the log requires writer features that Forklake does not support."""
    protocol, metadata = (
        find_stored_action(reading, Protocol),
        find_stored_action(reading, Metadata),
    )
    if protocol is not None and metadata is not None:
        require_writable(protocol, metadata)
