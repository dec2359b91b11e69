"""Publication of a lake table, of any catalog or fork, as a Delta table over the same files."""

from __future__ import annotations

import uuid

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.file_actions import refuse_other_names
from forklake.delta.mirror_writer import Mirror, MirrorResult
from forklake.delta.schema import DeltaColumnMapping, delta_fields, schema_string
from forklake.delta.table_import import canonical_location
from forklake.errors import AlreadyExists, Unsupported
from forklake.files.locations import normalize_data_path
from forklake.files.systems import exists
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.store.data_paths import refuse_location


def publish_table(catalog: Catalog, table_name: str, schema: str, location: str) -> MirrorResult:
    """Publish a table as a Delta table at a location, and mirror its current version there."""
    root = canonical_location(location)
    if exists(f"{root}/_delta_log/{0:020d}.json"):
        raise AlreadyExists(
            f"There is already a Delta table at {root!r}.", remedy="Publish to another location."
        )
    with catalog.database.reading() as connection:
        refuse_location(connection, normalize_data_path(root))
    seen = catalog.now()
    table = seen.state.table(table_name, schema)
    require_publishable(seen, table)
    with catalog.transaction(message=f"Published to {root}") as transaction:
        found = transaction.table(table_name, schema)
        transaction.add_face(found, str(uuid.uuid4()), root, FaceMode.OWN)
    return Mirror(catalog, table).run()


def require_publishable(seen: SnapshotReads, table: Table) -> None:
    """Raise Unsupported, with the reason, if Delta readers would not see the rows of the table."""
    fields = seen.state.fields(table)
    schema_string(delta_fields(fields, DeltaColumnMapping.NAME))  # raises for other types
    if seen.inlined_rows(table):
        raise Unsupported(
            f"Table '{table.table_name}' has inlined rows, which are not in files: Delta readers"
            " would not find them.",
            remedy="Write them to files first: run flush_inlined_data.",
        )
    found = seen.data_files(table)
    files = [file.data_file_id for file in found]
    imported = {one.data_file_id for one in seen.file_actions(table, files)}
    refuse_other_names(seen, table, [one for one in found if one.data_file_id not in imported])
    for field in _fields_with_initial_default(fields):
        rows = seen.file_statistics(table, files)
        having = {row.data_file_id for row in rows if row.column_id == field.column_id}
        if set(files) - having:
            raise Unsupported(
                f"Files of table '{table.table_name}' lack the column '{field.name}': Forklake"
                f" returns its default {field.initial_default!r} for their rows, but Delta readers"
                " would return NULL.",
                remedy="Rewrite these files: run merge_adjacent_files, or UPDATE the column to"
                " itself.",
            )


def _fields_with_initial_default(fields: tuple[Field, ...]) -> list[Field]:
    found = [one for one in fields if one.initial_default is not None]
    return found + [one for field in fields for one in _fields_with_initial_default(field.fields)]
