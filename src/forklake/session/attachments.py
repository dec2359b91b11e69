"""Attachments: catalogs under the aliases of a session.

All attachments of one metastore in a process share one `Metastore`, and so its connections; it is
closed with the last of them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore, open_metastore
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from forklake.files.locations import location_of, normalize_data_path
from forklake.files.paths import checked_data_path, resolve
from forklake.model.entities import Schema, Table
from forklake.model.names import folded
from forklake.model.options import Scope, checked_option
from forklake.model.state import CatalogState
from forklake.session.names import perhaps
from forklake.store.catalogs import CatalogRow, missing
from forklake.store.data_paths import refuse_overlap
from forklake.store.uri import Target, parse_uri

AUTOMATIC = "AUTOMATIC"


@dataclass(frozen=True, slots=True)
class AttachOptions:
    """Options of ATTACH."""

    catalog: str | None = None
    data_path: str | None = None
    metadata_schema: str | None = None
    metadata_catalog: str | None = None
    snapshot_version: int | None = None
    snapshot_time: datetime | str | None = None
    encrypted: bool | str | None = None
    data_inlining_row_limit: int | None = None
    create_if_not_exists: bool = False
    migrate_if_required: bool = True
    override_data_path: bool = False
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """Attached catalog of a session: its alias, and how it may be used."""

    alias: str
    metastore: Metastore
    catalog: Catalog
    pinned: SnapshotReads | None = None
    read_only: bool = False
    defaults: dict[str, str] = field(default_factory=dict)
    uri: str = ""
    metadata_schema: str | None = None
    metadata_catalog: str | None = None

    @property
    def address(self) -> str:
        """Location of the metastore; empty if it was attached without a URI."""
        return self.metastore.database.address if self.uri else ""

    @property
    def metadata_name(self) -> str:
        """Name under which the tables of the metastore itself can be read."""
        return self.metadata_catalog or f"__ducklake_metadata_{self.alias}"

    def require_writable(self) -> None:
        """Raise Forbidden if nothing can be changed through this attachment."""
        if self.pinned is not None:
            raise Forbidden(
                f"The catalog '{self.alias}' is attached at snapshot {self.pinned.snapshot_id}"
                " and so read-only.",
                remedy="Attach it without a snapshot to change it.",
            )
        if self.read_only:
            raise Forbidden(
                f"The catalog '{self.alias}' is attached read-only.",
                remedy="Attach it without read_only to change it.",
            )

    @property
    def data_path(self) -> str:
        """Folder below which the files of the catalog are, with a trailing slash."""
        return self.catalog.data_path()

    def folder(self, state: CatalogState, table: Table) -> str:
        """Return the folder of a table relative to the data path, with a trailing slash."""
        return self.catalog.table_folder(state, table)

    def located(self, path: str) -> str:
        """Return the full path for one that is relative to the data path."""
        return resolve(self.data_path, path, is_relative=True)

    def option(
        self,
        state: CatalogState,
        name: str,
        table: Table | None = None,
        schema: Schema | None = None,
    ) -> str | None:
        """Return the value of an option: from the metastore, else as attached, else the default."""
        wide = self.catalog.metastore_options()
        value, scope = state.option(name, table, schema, wide)
        return value if scope is not None else self.defaults.get(name, value)


class Attachments:
    """Attachments of a session and of its cursors, by alias."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._found: dict[str, Attachment] = {}
        self._sessions = 0

    def join(self) -> None:
        """Register one more session that uses these attachments."""
        with self._guard:
            self._sessions += 1

    def leave(self) -> None:
        """Unregister a session; the last one detaches everything."""
        with self._guard:
            self._sessions -= 1
            gone = list(self._found.values()) if not self._sessions else []
            if gone:
                self._found = {}
        for attachment in gone:
            self._give_back(attachment.metastore)

    def _give_back(self, metastore: Metastore) -> None:
        _metastores.give_back(metastore)

    def aliases(self) -> list[str]:
        """Return the aliases of the attached catalogs."""
        return [attachment.alias for attachment in self._found.values()]

    def all(self) -> list[Attachment]:
        """Return all attachments."""
        return list(self._found.values())

    def find(self, alias: str) -> Attachment | None:
        """Return the attachment of an alias, or None."""
        return self._found.get(folded(alias))

    def get(self, alias: str) -> Attachment:
        """Return the attachment of an alias; raise NotFound if there is none."""
        found = self.find(alias)
        if found is None:
            raise NotFound(
                f"No catalog is attached as '{alias}'.",
                remedy=perhaps(alias, self.aliases(), what="attached catalogs"),
                alias=alias,
            )
        return found

    def attach(self, uri: str, alias: str | None, options: AttachOptions) -> Attachment:
        """Attach a catalog under an alias; on any error, nothing is attached or created."""
        if not options.catalog:
            raise InvalidInput(
                "CATALOG is required. Please provide CATALOG when attaching the database."
            )
        alias = alias or options.catalog
        self._refuse_taken(alias, options.metadata_catalog)
        check_options(options)
        metastore = _metastores.take(uri, options)
        try:
            opened = _open_attachment(metastore, parse_uri(uri), alias, options)
            return self._add(
                replace(
                    opened,
                    uri=uri,
                    metadata_schema=options.metadata_schema,
                    metadata_catalog=options.metadata_catalog,
                )
            )
        except BaseException:
            _metastores.give_back(metastore)
            raise

    def attach_beside(self, attached: Metastore, catalog: Catalog, alias: str) -> Attachment:
        """Attach another catalog of a metastore that is already in use here."""
        beside = next(one for one in self.all() if one.metastore is attached)
        attachment = self._add(
            Attachment(
                alias,
                attached,
                catalog,
                uri=beside.uri,
                metadata_schema=beside.metadata_schema,
            )
        )
        _metastores.share(attached)
        return attachment

    def _add(self, attachment: Attachment) -> Attachment:
        with self._guard:
            self._refuse_taken(attachment.alias, attachment.metadata_catalog)
            self._found[folded(attachment.alias)] = attachment
        return attachment

    def _refuse_taken(self, *names: str | None) -> None:
        taken = {folded(one.metadata_name) for one in self.all()} | self._found.keys()
        for name in names:
            if name is not None and folded(name) in taken:
                raise AlreadyExists(
                    f"A catalog is already attached as '{name}': the alias already exists.",
                    remedy="Choose another alias, or detach that one.",
                )

    def detach(self, alias: str) -> None:
        """Remove an attachment; raise NotFound if there is none."""
        self.get(alias)
        with self._guard:
            gone = self._found.pop(folded(alias))
        self._give_back(gone.metastore)


def check_options(options: AttachOptions) -> None:
    """Raise InvalidInput for options that are wrong in themselves, before anything is opened."""
    if options.snapshot_version is not None and options.snapshot_time is not None:
        raise InvalidInput(
            "Cannot specify both SNAPSHOT_VERSION and SNAPSHOT_TIME.",
            remedy="Set only one of them.",
        )
    if options.data_inlining_row_limit is not None:
        checked_option("data_inlining_row_limit", options.data_inlining_row_limit, Scope.CATALOG)
    _is_encrypted(options.encrypted)
    if options.data_path is not None:
        checked_data_path(options.data_path)


def _is_encrypted(encrypted: bool | str | None) -> bool | None:
    """Return whether encryption is requested; None leaves it to the catalog."""
    if encrypted is None or str(encrypted).upper() == AUTOMATIC:
        return None
    _, text = checked_option("encrypted", encrypted, Scope.CATALOG)
    return text == "true"


def _open_attachment(
    metastore: Metastore, target: Target, alias: str, options: AttachOptions
) -> Attachment:
    catalog = _find_or_create(metastore, target, options)
    _check_encryption(catalog, options)
    return attachment_of(metastore, catalog, alias, options)


def attachment_of(
    metastore: Metastore, catalog: Catalog, alias: str, options: AttachOptions
) -> Attachment:
    """Return a catalog under an alias, with the snapshot and the defaults of the options."""
    defaults = {}
    if options.data_inlining_row_limit is not None:
        defaults["data_inlining_row_limit"] = str(options.data_inlining_row_limit)
    pinned = None
    if options.snapshot_version is not None:
        pinned = catalog.at(version=options.snapshot_version)
    elif options.snapshot_time is not None:
        pinned = catalog.at(timestamp=moment(options.snapshot_time))
    return Attachment(alias, metastore, catalog, pinned, options.read_only, defaults)


def _find_or_create(metastore: Metastore, target: Target, options: AttachOptions) -> Catalog:
    assert options.catalog is not None
    given = None if options.data_path is None else normalize_data_path(options.data_path)
    row = metastore.find(options.catalog)
    if row is not None:
        return Catalog(metastore, _with_data_path(metastore, row, given, options))
    if not options.create_if_not_exists:
        raise missing(options.catalog)
    if options.read_only or options.snapshot_version is not None or options.snapshot_time:
        raise InvalidInput(
            f"The catalog '{options.catalog}' does not exist and cannot be created read-only.",
            remedy="Attach it once without read_only or a snapshot.",
        )
    path = given or _default_data_path(target, options.catalog)
    catalog = metastore.create_catalog(options.catalog, data_path=path, if_not_exists=True)
    if _is_encrypted(options.encrypted):
        catalog.set_option("encrypted", True)
    return catalog


def _with_data_path(
    metastore: Metastore, row: CatalogRow, given: str | None, options: AttachOptions
) -> CatalogRow:
    """Return the row of a catalog with the data path to use."""
    if given is None or _is_same(given, row.data_path):
        return row
    if row.data_path is not None and not options.override_data_path:
        raise InvalidInput(
            f"The data path {given!r} does not match existing data path {row.data_path!r}"
            f" of the catalog '{row.catalog_name}'.",
            remedy="Omit data_path, or set override_data_path if the files were moved.",
        )
    with metastore.database.reading() as connection:
        refuse_overlap(connection, given, ignored=row.data_path)
    return replace(row, data_path=given)


def _is_same(given: str, stored: str | None) -> bool:
    return stored is not None and location_of(given) == location_of(stored)


def _default_data_path(target: Target, catalog: str) -> str:
    if not target.is_file:
        raise InvalidInput(
            f"The new catalog '{catalog}' has no data path, so its files have no location.",
            remedy="Set data_path to a folder, or to a bucket and prefix.",
        )
    return f"{target.location}.files"


def _check_encryption(catalog: Catalog, options: AttachOptions) -> None:
    wanted = _is_encrypted(options.encrypted)
    value, _ = catalog.refresh().option("encrypted", metastore=catalog.metastore_options())
    if wanted is not None and wanted != (value == "true"):
        are = "are" if value == "true" else "are not"
        raise InvalidInput(
            f"The files of the catalog '{catalog.name}' {are} encrypted: this cannot be changed.",
            remedy="Attach it without the option ENCRYPTED.",
        )


def moment(time: datetime | str) -> datetime:
    """Return a timestamp; without a time zone it is in UTC."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            raise InvalidInput(
                f"The timestamp {time!r} cannot be read.", remedy="Write 2024-01-31 12:00:00."
            ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


class _Metastores:
    """Open metastores of this process, each with the number of its attachments."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: dict[tuple[str, ...], tuple[Metastore, int]] = {}

    def take(self, uri: str, options: AttachOptions) -> Metastore:
        """Return the metastore for an attach string; the caller must give it back."""
        target = parse_uri(uri)
        place = target.location
        if target.is_file:
            place = str(Path(place).resolve())  # one metastore, however its path is written
        key = (target.backend, place, options.metadata_schema or "")
        with self._guard:
            metastore, count = self._open.get(key, (None, 0))
            if metastore is None:
                metastore = open_metastore(
                    uri,
                    create=options.create_if_not_exists,
                    metadata_schema=options.metadata_schema,
                )
            self._open[key] = (metastore, count + 1)
        return metastore

    def share(self, metastore: Metastore) -> None:
        """Count one more attachment."""
        with self._guard:
            self._count(metastore, 1)

    def give_back(self, metastore: Metastore) -> None:
        """Count one attachment less; the last one closes the metastore."""
        with self._guard:
            is_unused = self._count(metastore, -1) == 0
        if is_unused:
            metastore.close()

    def _count(self, metastore: Metastore, change: int) -> int:
        ((key, count),) = (
            (key, count) for key, (found, count) in self._open.items() if found is metastore
        )
        if count + change:
            self._open[key] = (metastore, count + change)
        else:
            del self._open[key]
        return count + change


_metastores = _Metastores()
