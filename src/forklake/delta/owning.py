"""Taking a Delta table over: from following its log to owning it.

The commit that does it tells every other writer to keep away. From then on the metastore is the log
of record, and the mirror writes the files that it used to read.
"""

from __future__ import annotations

from dataclasses import replace

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading, find_face
from forklake.delta.mirroring import Mirror, Mirrored
from forklake.errors import InvalidInput
from forklake.model.entities import Table
from forklake.model.faces import FaceCommit, FaceMode
from forklake.store.mirrors import MirrorStatus, put_status


def take_over(catalog: Catalog, table: Table) -> Mirrored:
    """Own a Delta table that was followed up to its newest version."""
    seen = catalog.now()
    reading = FaceReading(seen, table)
    if reading.face.location is None or reading.face.catalog_id != catalog.catalog_id:
        raise InvalidInput(
            f"The Delta table '{table.table_name}' is another catalog's.",
            remedy="Publish it to a place of its own.",
        )
    if reading.face.mode == FaceMode.OWN:
        return Mirror(catalog, table).run()
    told = reading.latest().version  # which is in the log already
    status = MirrorStatus(
        catalog_id=catalog.catalog_id, table_id=table.table_id, mirrored_version=told
    )
    with catalog.transaction(message="Taken over", seen=seen) as transaction:
        face = find_face(transaction.state, table)
        assert face is not None
        transaction.change_face(replace(face, mode=FaceMode.OWN.value))
        transaction.tell(table, FaceCommit("UPGRADE PROTOCOL"))
    put_status(catalog.database, status)
    return Mirror(catalog, table).run()
