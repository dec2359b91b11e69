"""Replay: the state of a table that its log adds up to."""

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
from forklake.delta.log.paths import canonical
from forklake.delta.log.reading import DeltaLog, Version
from forklake.errors import Corruption, NotFound

# A data file as it is in the table: its path, and the deletion vector it is read with.
FileKey = tuple[str, str | None]


@dataclass(slots=True)
class State:
    """What is true of a table at a version."""

    version: int = -1
    protocol: Protocol | None = None
    metadata: Metadata | None = None
    adds: dict[FileKey, Add] = field(default_factory=dict)
    txns: dict[str, Txn] = field(default_factory=dict)
    domains: dict[str, DomainMetadata] = field(default_factory=dict)

    _said: set[tuple[str | None, ...]] = field(default_factory=set)  # by the version

    def apply(self, version: Version) -> None:
        """Go on to a version."""
        self.begin(version)
        for action in version.actions:
            self.note(action)

    def begin(self, version: Version) -> None:
        """Go on to a version whose actions are noted one by one."""
        self.version, self._said = version.number, set()
        if version.is_state:
            self.forget()

    def forget(self) -> None:
        """Know nothing of the versions before."""
        self.adds, self.txns, self.domains = {}, {}, {}
        self.protocol = self.metadata = None

    def note(self, action: AnyAction) -> None:
        """What comes of an action; Corruption if the version has said it before."""
        if rule := _RULES.get(action.kind):
            identity = rule.identity(action)
            _require_new(self._said, (action.kind, *identity), self.version)
            rule.apply(self, identity, action)

    def add(self, key: FileKey, action: Add) -> None:
        """A file is in the table from here on."""
        self.adds[key] = action

    def remove(self, key: FileKey) -> None:
        """A file is in the table no longer."""
        self.adds.pop(key, None)


def replay(log: DeltaLog, version: int | None = None) -> State:
    """The state at a version, or at the newest one."""
    wanted = log.latest_version if version is None else version
    state = State()
    for one in log.versions():
        if one.number > wanted:
            break
        state.apply(one)
    if state.version != wanted:
        raise NotFound(
            f"The Delta table at {log.root!r} has no version {wanted} any more, or not yet.",
            remedy=f"Name one from {log.first_version} to {log.latest_version}.",
            version=wanted,
        )
    require_columns(state)
    return state


def require_columns(state: State) -> None:
    """Corruption if the table has no schema at the end of its log."""
    if state.metadata is None or state.metadata.schema_string == NO_COLUMNS:
        raise Corruption(
            f"The Delta table has no schema at version {state.version}.",
            remedy="Give it columns with the engine that made it.",
            version=state.version,
        )


def file_key(action: Add | Remove) -> FileKey:
    """What an add and a remove of the same file in the table have in common."""
    vector = action.deletion_vector
    return canonical(action.path), None if vector is None else vector.unique_id


class _Rule(NamedTuple):
    """What a version may say only once, and what comes of it."""

    identity: Callable[..., tuple[str | None, ...]]
    apply: Callable[..., None]


def _set_protocol(state: State, identity: tuple[()], action: Protocol) -> None:
    state.protocol = action


def _set_metadata(state: State, identity: tuple[()], action: Metadata) -> None:
    state.metadata = action


def _add(state: State, identity: FileKey, action: Add) -> None:
    state.add(identity, action)


def _remove(state: State, identity: FileKey, action: Remove) -> None:
    state.remove(identity)


def _set_txn(state: State, identity: tuple[str], action: Txn) -> None:
    state.txns[action.app_id] = action


def _set_domain(state: State, identity: tuple[str], action: DomainMetadata) -> None:
    state.domains.pop(action.domain, None)
    if not action.removed:
        state.domains[action.domain] = action


_RULES: dict[str, _Rule] = {
    Protocol.kind: _Rule(lambda action: (), _set_protocol),
    Metadata.kind: _Rule(lambda action: (), _set_metadata),
    Add.kind: _Rule(file_key, _add),
    Remove.kind: _Rule(file_key, _remove),
    Txn.kind: _Rule(lambda action: (action.app_id,), _set_txn),
    DomainMetadata.kind: _Rule(lambda action: (action.domain,), _set_domain),
}


def _require_new(
    seen: set[tuple[str | None, ...]], said: tuple[str | None, ...], version: int
) -> None:
    if said in seen:
        kind, *identity = said
        raise Corruption(
            f"Version {version} says '{kind}' twice of {identity[0] if identity else 'the table'}.",
            remedy="The Delta log was written wrongly or damaged.",
            version=version,
        )
    seen.add(said)
