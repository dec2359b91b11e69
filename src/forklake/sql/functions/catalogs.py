"""Functions that list the catalogs of a metastore, show their attachment, and fork them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.model.options import as_age
from forklake.model.requests import ForkRequest
from forklake.session.attachments import Attachment

if TYPE_CHECKING:
    from forklake.sql.session import Session

# Names that DuckLake clients use for databases.
_CATALOG_TYPES = {"postgresql": "postgres"}


def list_catalogs(session: Session, catalog: Attachment | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield the live catalogs of the metastore of one attached catalog, or of all attached ones."""
    attached = session.attachments() if catalog is None else [catalog]
    metastores = {id(one.metastore): one.metastore for one in attached}
    for metastore in metastores.values():
        for row in session.guard.list_catalogs(metastore):
            yield (
                row.catalog_id,
                row.catalog_name,
                row.catalog_uuid,
                row.parent_catalog_id,
                row.begin_snapshot,
                row.end_snapshot,
            )


def list_settings(session: Session, catalog: Attachment) -> list[tuple[Any, ...]]:
    """Return where a catalog is stored and how it is attached."""
    kind = catalog.metastore.database.dialect.name
    row = catalog.catalog.row
    return [
        (
            _CATALOG_TYPES.get(kind, kind),
            version("forklake"),
            catalog.data_path,
            row.catalog_id,
            row.catalog_name,
            row.catalog_uuid,
            catalog.address,
            catalog.metadata_name,
            catalog.read_only or catalog.pinned is not None,
        )
    ]


def fork_catalog(
    session: Session,
    parent: str,
    new_name: str,
    data_path: str | None = None,
    if_not_exists: bool = False,
    mode: str = "inherit",
    at: int | None = None,
    ttl: str | None = None,
) -> list[tuple[int, str, bool]]:
    """Fork a catalog that is attached, or another one of the same metastore.

    A catalog that is attached at a snapshot is forked at that snapshot, unless `at` is given.
    """
    if session.in_transaction:
        raise InvalidInput(
            f"The fork '{new_name}' cannot be created inside a transaction, because it could not be"
            " rolled back.",
            remedy="Run COMMIT or ROLLBACK first.",
        )
    metastore, name = session.find_catalog(parent)
    request = ForkRequest(
        name,
        [new_name],
        at=_find_pinned_snapshot(session, parent) if at is None else at,
        data_path=data_path,
        mode=mode.lower(),
        if_not_exists=if_not_exists,
        ttl=None if ttl is None else as_age(ttl),
    )
    (fork,), created = session.guard.fork(metastore, request)
    return [(fork.catalog_id, fork.catalog_name, bool(created))]


def _find_pinned_snapshot(session: Session, parent: str) -> int | None:
    for attachment in session.attachments():
        if folded(attachment.alias) == folded(parent) and attachment.pinned is not None:
            return attachment.pinned.snapshot_id
    return None
