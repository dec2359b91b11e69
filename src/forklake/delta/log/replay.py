"""Replay of a Delta log: the state of a table after its versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from forklake.delta.actions import (
    NO_COLUMNS,
    Add,
    AnyAction,
    DomainMetadata,
    Metadata,
    Protocol,
    Remove,
    Txn,
)
from forklake.delta.log.delta_log import DeltaLog, LogVersion
from forklake.delta.log.paths import canonical_path
from forklake.errors import Corruption, NotFound

# Identifies an entry of a data file: canonical path, and unique id of its deletion vector.
FileKey = tuple[str, str | None]


@dataclass(slots=True)
class LogState:
    """The state of a table at a version."""

    version: int = -1
    protocol: Protocol | None = None
    metadata: Metadata | None = None
    adds: dict[FileKey, Add] = field(default_factory=dict)
    txns: dict[str, Txn] = field(default_factory=dict)
    domains: dict[str, DomainMetadata] = field(default_factory=dict)

    _identities: set[tuple[str | None, ...]] = field(default_factory=set)  # of the current version

    def apply(self, version: LogVersion) -> None:
        """Apply all actions of a version."""
        self.begin_version(version)
        for action in version.actions:
            self.apply_action(action)

    def begin_version(self, version: LogVersion) -> None:
        """Begin a version whose actions are then passed to `apply_action` one by one."""
        self.version, self._identities = version.number, set()
        if version.is_state:
            self.clear()

    def clear(self) -> None:
        """Clear the state of earlier versions."""
        self.adds, self.txns, self.domains = {}, {}, {}
        self.protocol = self.metadata = None

    def apply_action(self, action: AnyAction) -> None:
        """Apply an action. Raise Corruption if its version already has one for the same object."""
        if rule := _RULES.get(action.kind):
            identity = rule.identity(action)
            _require_new(self._identities, (action.kind, *identity), self.version)
            rule.apply(self, identity, action)

    def add_file(self, key: FileKey, action: Add) -> None:
        """Add a file."""
        self.adds[key] = action

    def remove_file(self, key: FileKey) -> None:
        """Remove a file."""
        self.adds.pop(key, None)


def replay(log: DeltaLog, version: int | None = None) -> LogState:
    """Return the state at a version, by default the newest one."""
    wanted = log.latest_version if version is None else version
    state = LogState()
    for one in log.versions():
        if one.number > wanted:
            break
        state.apply(one)
    if state.version != wanted:
        raise NotFound(
            f"The Delta table at {log.root!r} has no version {wanted}.",
            remedy=f"Use a version from {log.first_version} to {log.latest_version}.",
            version=wanted,
        )
    require_columns(state)
    return state


def require_columns(state: LogState) -> None:
    """Raise Corruption if the table has no schema at the end of its log."""
    if state.metadata is None or state.metadata.schema_string == NO_COLUMNS:
        raise Corruption(
            f"The Delta table has no schema at version {state.version}.",
            remedy="Add columns to it with the engine that created the table.",
            version=state.version,
        )


def file_key(action: Add | Remove) -> FileKey:
    """Return the key that the add and the remove of one file entry share."""
    vector = action.deletion_vector
    return canonical_path(action.path), None if vector is None else vector.unique_id


class _Rule(NamedTuple):
    """How an action is applied, and the identity that may occur only once in a version."""

    identity: Callable[..., tuple[str | None, ...]]
    apply: Callable[..., None]


def _set_protocol(state: LogState, identity: tuple[()], action: Protocol) -> None:
    state.protocol = action


def _set_metadata(state: LogState, identity: tuple[()], action: Metadata) -> None:
    state.metadata = action


def _add_file(state: LogState, identity: FileKey, action: Add) -> None:
    state.add_file(identity, action)


def _remove_file(state: LogState, identity: FileKey, action: Remove) -> None:
    state.remove_file(identity)


def _set_txn(state: LogState, identity: tuple[str], action: Txn) -> None:
    state.txns[action.app_id] = action


def _set_domain(state: LogState, identity: tuple[str], action: DomainMetadata) -> None:
    state.domains.pop(action.domain, None)
    if not action.removed:
        state.domains[action.domain] = action


_RULES: dict[str, _Rule] = {
    Protocol.kind: _Rule(lambda action: (), _set_protocol),
    Metadata.kind: _Rule(lambda action: (), _set_metadata),
    Add.kind: _Rule(file_key, _add_file),
    Remove.kind: _Rule(file_key, _remove_file),
    Txn.kind: _Rule(lambda action: (action.app_id,), _set_txn),
    DomainMetadata.kind: _Rule(lambda action: (action.domain,), _set_domain),
}


def _require_new(
    seen: set[tuple[str | None, ...]], identity: tuple[str | None, ...], version: int
) -> None:
    if identity in seen:
        kind, *parts = identity
        raise Corruption(
            f"Version {version} has two actions '{kind}' for {parts[0] if parts else 'the table'}.",
            remedy="The Delta log is damaged or was written incorrectly: restore it from a backup.",
            version=version,
        )
    seen.add(identity)
