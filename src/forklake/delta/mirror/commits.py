"""Commits: the file of one version, put into the log once and never over somebody else's.

Every commit carries the key of its transaction (`txnId` in `commitInfo`). Whoever finds a file in
its place looks at the key: the same one means that the work was done before, any other one that
another writer took the version.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from forklake.delta.actions import AnyAction, CommitInfo, to_text
from forklake.delta.log.commits import JsonActions
from forklake.errors import Conflict, Corruption, InvalidInput
from forklake.files.putting import put_if_absent


@dataclass(frozen=True, slots=True)
class Published:
    """A commit of ours that is in the log."""

    version: int
    path: str
    is_new: bool  # False: it was there already


def commit_path(location: str, version: int) -> str:
    """Where the commit of a version is."""
    return f"{location.rstrip('/')}/_delta_log/{version:020d}.json"


def commit_bytes(actions: Sequence[AnyAction]) -> bytes:
    """The file of a commit: one action a line, `commitInfo` first."""
    in_order = sorted(actions, key=lambda action: action.kind != CommitInfo.kind)
    try:
        return "".join(f"{to_text(action)}\n" for action in in_order).encode()
    except UnicodeEncodeError as reason:
        raise InvalidInput(
            f"A commit holds half of a character, at {reason.object[: reason.end][-50:]!r}.",
            remedy="Use texts that can be written as UTF-8.",
        ) from reason


def publish(location: str, version: int, actions: Sequence[AnyAction]) -> Published:
    """Put the commit of a version into the log; Conflict if another writer's is there."""
    key = _transaction_key(version, actions)
    path = commit_path(location, version)
    is_new = put_if_absent(path, commit_bytes(actions))
    if not is_new:
        _require_same(path, version, key)
    return Published(version, path, is_new)


def _transaction_key(version: int, actions: Sequence[AnyAction]) -> str:
    match [action for action in actions if isinstance(action, CommitInfo)]:
        case [CommitInfo(txn_id=str(key))]:
            return key
    raise InvalidInput(
        f"The commit of version {version} has not exactly one commitInfo with a txnId.",
        remedy="Give it one: a commit that nobody can know again cannot be published safely.",
    )


def _require_same(path: str, version: int, key: str) -> None:
    info = _info_in(path, version)
    if info.txn_id == key:
        return
    writer = info.extra.get("engineInfo")
    raise Conflict(
        f"Version {version} of the Delta table is taken: {path!r} is the commit of another writer "
        f"(operation {info.operation!r}, engine {writer!r}, transaction {info.txn_id!r}).",
        remedy="Import that version, or keep other writers away; it is not overwritten.",
        path=path,
        version=version,
        operation=info.operation,
        engine_info=writer,
        txn_id=info.txn_id,
    )


def _info_in(path: str, version: int) -> CommitInfo:
    """Who made a commit; an empty answer if it does not say."""
    with suppress(Corruption):  # whatever it is, it is not ours
        for action in JsonActions(path, version):
            if isinstance(action, CommitInfo):
                return action
    return CommitInfo()
