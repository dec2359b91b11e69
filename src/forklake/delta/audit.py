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
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import CommitInfo, Metadata, Protocol
from forklake.delta.comparison import (
    TableComparison,
    find_column_drift,
    find_file_drift,
    find_missing_files,
    find_protocol_drift,
)
from forklake.delta.log.delta_log import DeltaLog, LogVersion
from forklake.delta.log.replay import replay
from forklake.delta.overview import DeltaTableStatus, list_delta_tables
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
    return [one for status in list_delta_tables(catalog) for one in audit_table(catalog, status)]


def audit_table(catalog: Catalog, status: DeltaTableStatus) -> list[Finding]:
    """Return all problems of one Delta table."""
    audit = _Audit(catalog, status)
    problems = [(kind, message) for kind, check in _METASTORE_CHECKS for message in check(audit)]
    if audit.compared >= 0:  # otherwise nothing is mirrored yet, which `_check_lag` reports
        problems += _check_log(audit)
    return [Finding(status.name, *one) for one in dict.fromkeys(problems)]


class _Audit:
    """Audit of one table. Its log is compared at the newest version that it should have."""

    def __init__(self, catalog: Catalog, status: DeltaTableStatus) -> None:
        self.catalog = catalog
        self.status = status
        self.location = status.delta_table.location or ""
        self.reading = FaceReading(catalog.now(), status.table)
        self.versions = self.reading.versions()
        self.compared = status.version if status.is_followed else status.mirror.mirrored_version

    def read_catalog(self) -> SnapshotReads:
        """Return the catalog at the compared version."""
        if self.compared == self.status.version:
            return self.catalog.now()
        return self.catalog.at(version=self.reading.version(self.compared).begin_snapshot)


def _check_log(audit: _Audit) -> Iterator[tuple[FindingKind, str]]:
    try:
        log = DeltaLog(audit.location).open()
        state = replay(log, audit.compared)
        comparison = TableComparison(
            state, audit.read_catalog(), audit.status.table, audit.location
        )
    except ForklakeError as reason:
        yield FindingKind.NOT_READABLE, reason.message
        return
    for kind, check_later in _LATER_VERSION_CHECKS:
        yield from _until_unreadable(kind, check_later(audit, log))
    for kind, check_content in _CONTENT_CHECKS:
        yield from _until_unreadable(kind, check_content(comparison))


def _until_unreadable(
    kind: FindingKind, messages: Iterable[str]
) -> Iterator[tuple[FindingKind, str]]:
    try:
        for message in messages:
            yield kind, message
    except ForklakeError as reason:
        yield FindingKind.NOT_READABLE, reason.message


# Checks of the metastore alone


def _find_gaps(audit: _Audit) -> Iterator[str]:
    """Yield gaps, except before versions with full state: checkpoints bridge lost commits."""
    for before, after in pairwise(audit.versions):
        if after.version == before.version + 1:
            continue
        stored_kinds = {
            one.kind
            for one in audit.reading.actions((Protocol.kind, Metadata.kind), after.version)
            if one.version == after.version
        }
        if stored_kinds != {Protocol.kind, Metadata.kind}:
            yield f"Version {before.version} is followed by version {after.version}."


def _find_stray_actions(audit: _Audit) -> Iterator[str]:
    catalog, table = audit.catalog, audit.status.table
    for version in actions_without_version(catalog.database, catalog.catalog_id, table.table_id):
        yield f"There are actions of version {version}, but this version does not exist."


def _check_lag(audit: _Audit) -> Iterator[str]:
    if lag := audit.status.lag:
        last = audit.status.version
        yield f"Versions {last - lag + 1} to {last} are not mirrored yet."


def _check_mirror_error(audit: _Audit) -> Iterator[str]:
    mirror = audit.status.mirror
    if not audit.status.is_followed and mirror.last_error is not None:
        yield f"{mirror.state}: {mirror.last_error}"


# Checks of versions in the log after the compared one


def _check_follower_lag(audit: _Audit, log: DeltaLog) -> Iterator[str]:
    if audit.status.is_followed and log.latest_version > audit.compared:
        yield (
            f"The log has version {log.latest_version}, but the table follows it only up to version"
            f" {audit.compared}. Run `forklake delta import` again."
        )


def _find_foreign_commits(audit: _Audit, log: DeltaLog) -> Iterator[str]:
    """Yield commits of other writers. Our own exist if the mirror stopped after writing them."""
    if audit.status.is_followed:
        return
    ours = {(one.version, one.transaction_id) for one in audit.versions}
    for row in audit.reading.actions((CommitInfo.kind,), audit.compared + 1):
        ours.add((row.version, json.loads(row.body).get("txnId")))
    for version in log.versions(audit.compared):
        info = version.commit_info or CommitInfo()
        if (version.number, info.txn_id) not in ours:
            yield _describe_foreign_commit(version, info)


def _describe_foreign_commit(version: LogVersion, info: CommitInfo) -> str:
    engine = info.extra.get("engineInfo")
    return (
        f"Version {version.number} of the log is the commit of another writer (operation"
        f" {info.operation!r}, engine {engine!r})."
    )


_METASTORE_CHECKS: tuple[tuple[FindingKind, Callable[[_Audit], Iterable[str]]], ...] = (
    (FindingKind.VERSION_GAP, _find_gaps),
    (FindingKind.STRAY_ACTION, _find_stray_actions),
    (FindingKind.LAG, _check_lag),
    (FindingKind.MIRROR_FAILED, _check_mirror_error),
)
_LATER_VERSION_CHECKS: tuple[
    tuple[FindingKind, Callable[[_Audit, DeltaLog], Iterable[str]]], ...
] = (
    (FindingKind.LAG, _check_follower_lag),
    (FindingKind.FOREIGN_COMMIT, _find_foreign_commits),
)
_CONTENT_CHECKS: tuple[tuple[FindingKind, Callable[[TableComparison], Iterable[str]]], ...] = (
    (FindingKind.DRIFT, find_file_drift),
    (FindingKind.DRIFT, find_column_drift),
    (FindingKind.DRIFT, find_protocol_drift),
    (FindingKind.MISSING_FILE, find_missing_files),
)
