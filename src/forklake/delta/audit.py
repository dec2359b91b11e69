"""Audit of Delta tables: whether the metastore, the log and the files agree.

The audit changes and repairs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.snapshot_reads import Snapshotted
from forklake.delta.actions import CommitInfo, Metadata, Protocol
from forklake.delta.comparison import (
    Sides,
    column_drift,
    file_drift,
    missing_files,
    protocol_drift,
)
from forklake.delta.log.delta_log import DeltaLog, Version
from forklake.delta.log.replay import replay
from forklake.delta.overview import Standing, standings
from forklake.errors import ForklakeError
from forklake.store.delta_log import actions_without_version


class FindingKind(StrEnum):
    """Kinds of problems of a Delta table."""

    VERSION_GAP = "version gap"
    STRAY_ACTION = "stray action"
    LAG = "lag"
    MIRROR_FAILED = "mirror failed"
    NOT_READABLE = "not readable"
    FOREIGN_COMMIT = "foreign commit"
    DRIFT = "drift"
    MISSING_FILE = "missing file"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a Delta table."""

    table: str
    kind: FindingKind
    message: str


def audit_catalog(catalog: Catalog) -> list[Finding]:
    """Return all problems of the Delta tables of a catalog."""
    return [one for standing in standings(catalog) for one in audit_table(catalog, standing)]


def audit_table(catalog: Catalog, standing: Standing) -> list[Finding]:
    """Return all problems of one Delta table."""
    audit = _Audit(catalog, standing)
    told = [(kind, message) for kind, check in _OF_THE_METASTORE for message in check(audit)]
    if audit.compared >= 0:  # otherwise nothing is mirrored yet, which `_lag` reports
        told += _of_the_log(audit)
    return [Finding(standing.name, *one) for one in dict.fromkeys(told)]


class _Audit:
    """Audit of one table. Its log is compared at the newest version that it should have."""

    def __init__(self, catalog: Catalog, standing: Standing) -> None:
        self.catalog = catalog
        self.standing = standing
        self.location = standing.face.location or ""
        self.face = FaceReading(catalog.now(), standing.table)
        self.versions = self.face.versions()
        self.compared = (
            standing.version if standing.is_followed else standing.status.mirrored_version
        )

    def seen(self) -> Snapshotted:
        """Return the catalog at the compared version."""
        if self.compared == self.standing.version:
            return self.catalog.now()
        return self.catalog.at(version=self.face.version(self.compared).begin_snapshot)


def _of_the_log(audit: _Audit) -> Iterator[tuple[FindingKind, str]]:
    try:
        log = DeltaLog(audit.location).open()
        state = replay(log, audit.compared)
        sides = Sides(state, audit.seen(), audit.standing.table, audit.location)
    except ForklakeError as reason:
        yield FindingKind.NOT_READABLE, reason.message
        return
    for kind, ahead in _AHEAD:
        yield from _as_far_as_readable(kind, ahead(audit, log))
    for kind, compare in _OF_BOTH_SIDES:
        yield from _as_far_as_readable(kind, compare(sides))


def _as_far_as_readable(
    kind: FindingKind, messages: Iterable[str]
) -> Iterator[tuple[FindingKind, str]]:
    try:
        for message in messages:
            yield kind, message
    except ForklakeError as reason:
        yield FindingKind.NOT_READABLE, reason.message


# Checks of the metastore alone


def _gaps(audit: _Audit) -> Iterator[str]:
    """Yield gaps, except before versions with full state: checkpoints bridge lost commits."""
    for before, after in pairwise(audit.versions):
        if after.version == before.version + 1:
            continue
        said = {
            one.kind
            for one in audit.face.actions((Protocol.kind, Metadata.kind), after.version)
            if one.version == after.version
        }
        if said != {Protocol.kind, Metadata.kind}:
            yield f"Version {before.version} is followed by version {after.version}."


def _strays(audit: _Audit) -> Iterator[str]:
    catalog, table = audit.catalog, audit.standing.table
    for version in actions_without_version(catalog.database, catalog.catalog_id, table.table_id):
        yield f"There are actions of version {version}, but this version does not exist."


def _lag(audit: _Audit) -> Iterator[str]:
    if lag := audit.standing.lag:
        last = audit.standing.version
        yield f"Versions {last - lag + 1} to {last} are not mirrored yet."


def _failure(audit: _Audit) -> Iterator[str]:
    status = audit.standing.status
    if not audit.standing.is_followed and status.last_error is not None:
        yield f"{status.state}: {status.last_error}"


# Checks of versions in the log after the compared one


def _behind(audit: _Audit, log: DeltaLog) -> Iterator[str]:
    if audit.standing.is_followed and log.latest_version > audit.compared:
        yield (
            f"The log has version {log.latest_version}, but the table follows it only up to version"
            f" {audit.compared}. Run `forklake delta import` again."
        )


def _foreign_commits(audit: _Audit, log: DeltaLog) -> Iterator[str]:
    """Yield commits of other writers. Our own exist if the mirror stopped after writing them."""
    if audit.standing.is_followed:
        return
    ours = {(one.version, one.transaction_id) for one in audit.versions}
    for row in audit.face.actions((CommitInfo.kind,), audit.compared + 1):
        ours.add((row.version, json.loads(row.body).get("txnId")))
    for version in log.versions(audit.compared):
        info = version.commit_info or CommitInfo()
        if (version.number, info.txn_id) not in ours:
            yield _described(version, info)


def _described(version: Version, info: CommitInfo) -> str:
    engine = info.extra.get("engineInfo")
    return (
        f"Version {version.number} of the log is the commit of another writer (operation"
        f" {info.operation!r}, engine {engine!r})."
    )


_OF_THE_METASTORE: tuple[tuple[FindingKind, Callable[[_Audit], Iterable[str]]], ...] = (
    (FindingKind.VERSION_GAP, _gaps),
    (FindingKind.STRAY_ACTION, _strays),
    (FindingKind.LAG, _lag),
    (FindingKind.MIRROR_FAILED, _failure),
)
_AHEAD: tuple[tuple[FindingKind, Callable[[_Audit, DeltaLog], Iterable[str]]], ...] = (
    (FindingKind.LAG, _behind),
    (FindingKind.FOREIGN_COMMIT, _foreign_commits),
)
_OF_BOTH_SIDES: tuple[tuple[FindingKind, Callable[[Sides], Iterable[str]]], ...] = (
    (FindingKind.DRIFT, file_drift),
    (FindingKind.DRIFT, column_drift),
    (FindingKind.DRIFT, protocol_drift),
    (FindingKind.MISSING_FILE, missing_files),
)
