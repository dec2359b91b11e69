"""Commit tags: the run and the worktask that each commit names, to find its snapshots later."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from forklake.model.snapshots import CommitInfo, Snapshot

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class CommitTag:
    """Commit tag of a worktask, or of the run as a whole."""

    run_id: str
    workbook: str
    task: str | None = None

    @property
    def key(self) -> str:
        """Idempotency key of the commit: retries of the same worktask commit once."""
        return f"{self.run_id}/{self.task}" if self.task else self.run_id

    def apply_to(self, info: CommitInfo = CommitInfo()) -> CommitInfo:  # noqa: B008 - it is frozen
        """Return the tagged commit info. An author and a message that are set are kept."""
        facts = {"run": self.run_id, "task": self.task, "note": info.extra_info}
        about = f"task {self.task}" if self.task else f"run {self.run_id}"
        return CommitInfo(
            author=info.author or self.workbook,
            message=info.message or about,
            extra_info=json.dumps({name: fact for name, fact in facts.items() if fact}),
            idempotency_key=info.idempotency_key,
        )


def snapshots_by_task(history: Iterable[Snapshot], run_id: str) -> dict[str | None, list[int]]:
    """Return the snapshots of a run by worktask. Those of the whole run have the key None."""
    found: dict[str | None, list[int]] = {}
    for snapshot in history:
        facts = facts_of(snapshot.commit_extra_info)
        if facts.get("run") == run_id:
            found.setdefault(facts.get("task"), []).append(snapshot.snapshot_id)
    return found


def facts_of(extra_info: str | None) -> dict[str, str]:
    """Decode a commit tag. Return an empty dict for extra information of other writers."""
    try:
        found = json.loads(extra_info or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class SnapshotHistory(Protocol):
    """Catalog with a list of snapshots, local or of a service."""

    def snapshots(self, *, limit: int | None = None) -> list[Snapshot]:
        """Return the newest `limit` snapshots, oldest first."""


def snapshots_since(catalog: SnapshotHistory, since: int) -> list[Snapshot]:
    """Return the snapshots after `since`, read in pages instead of the whole history."""
    limit = _PAGE
    while True:
        found = catalog.snapshots(limit=limit)
        if len(found) < limit or found[0].snapshot_id <= since:
            return [one for one in found if one.snapshot_id > since]
        limit *= 4
