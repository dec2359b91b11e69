"""Commit files: each version is written to the log once and never replaces an existing file.

Every commit carries its transaction key (`txnId` in `commitInfo`). If the file of a version exists,
its key shows who wrote it: an equal key means that the work was already done, any other key that
another writer took the version.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from forklake.delta.actions import AnyAction, CommitInfo, format_action
from forklake.delta.log.commits import JsonActions
from forklake.errors import Conflict, Corruption, InvalidInput
from forklake.files.conditional_put import put_if_absent


@dataclass(frozen=True, slots=True)
class WrittenCommit:
    """A commit of ours in the log."""

    version: int
    path: str
    is_new: bool  # False: an earlier attempt wrote it


def commit_path(location: str, version: int) -> str:
    """Return the path of the commit of a version."""
    return f"{location.rstrip('/')}/_delta_log/{version:020d}.json"


def encode_commit(actions: Sequence[AnyAction]) -> bytes:
    """Return the content of a commit file: one action on each line, `commitInfo` first."""
    in_order = sorted(actions, key=lambda action: action.kind != CommitInfo.kind)
    try:
        return "".join(f"{format_action(action)}\n" for action in in_order).encode()
    except UnicodeEncodeError as reason:
        raise InvalidInput(
            f"A commit has a surrogate character at {reason.object[: reason.end][-50:]!r}.",
            remedy="Use texts that can be encoded as UTF-8.",
        ) from reason


def write_commit(location: str, version: int, actions: Sequence[AnyAction]) -> WrittenCommit:
    """Write the commit of a version. Raise Conflict if another writer took the version."""
    key = _transaction_key(version, actions)
    path = commit_path(location, version)
    is_new = put_if_absent(path, encode_commit(actions))
    if not is_new:
        _require_own_commit(path, version, key)
    return WrittenCommit(version, path, is_new)


def _transaction_key(version: int, actions: Sequence[AnyAction]) -> str:
    match [action for action in actions if isinstance(action, CommitInfo)]:
        case [CommitInfo(txn_id=str(key))]:
            return key
    raise InvalidInput(
        f"The commit of version {version} does not have exactly one commitInfo with a txnId.",
        remedy="Add one: without it, a retry cannot recognize its own commit.",
    )


def _require_own_commit(path: str, version: int, key: str) -> None:
    info = _read_commit_info(path, version)
    if info.txn_id == key:
        return
    writer = info.extra.get("engineInfo")
    raise Conflict(
        f"Version {version} of the Delta table is taken: {path!r} is the commit of another writer "
        f"(operation {info.operation!r}, engine {writer!r}, transaction {info.txn_id!r}).",
        remedy="It is not overwritten. Stop the other writer; then import the log as another table,"
        " or delete the foreign commit and run `forklake delta mirror`.",
        path=path,
        version=version,
        operation=info.operation,
        engine_info=writer,
        txn_id=info.txn_id,
    )


def _read_commit_info(path: str, version: int) -> CommitInfo:
    """Return the commit info of a commit, or an empty one."""
    with suppress(Corruption):  # a file that cannot be parsed is not ours
        for action in JsonActions(path, version):
            if isinstance(action, CommitInfo):
                return action
    return CommitInfo()
