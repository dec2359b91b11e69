"""Named phases of all operations that change a lake, at which tests can inject failures.

Production code only reports that it reached one. A test sets `observer` to raise, or to kill this
process or the server at that point.
"""

from __future__ import annotations

from collections.abc import Callable

PHASES = (
    "write.started",
    "write.files",
    "write.footers",
    "delete.files",
    "create.begun",
    "create.allocated",
    "create.committed",
    "import.gathered",
    "import.allocated",
    "import.committed",
    "commit.begun",
    "commit.locked",
    "commit.checked",
    "commit.prepared",
    "commit.committed",
    "series.sent",
    "fork.begun",
    "fork.locked",
    "fork.prepared",
    "fork.committed",
    "materialize.locked",
    "materialize.copied",
    "materialize.committed",
    "drop.begun",
    "drop.locked",
    "drop.committed",
    "expire.begun",
    "expire.locked",
    "expire.forgotten",
    "sweep.locked",
    "sweep.prepared",
    "sweep.committed",
    "cleanup.locked",
    "cleanup.removed",
    "cleanup.committed",
    "orphans.locked",
    "orphans.removed",
    "reclaim.begun",
    "reclaim.forgotten",
    "reclaim.swept",
    "reclaim.committed",
    "move.frozen",
    "move.locked",
    "move.copied",
    "move.arrived",
    "move.switched",
    "move.erased",
    "move.cleaned",
    "mirror.linked",
    "mirror.published",
    "mirror.checkpointed",
    "mirror.noted",
    "firing.found",
    "firing.planned",
    "firing.claimed",
    "firing.ran",
    "firing.ended",
    "upgrade.locked",
    "upgrade.applied",
    "upgrade.committed",
)

observer: Callable[[str], None] | None = None


def reached(phase: str) -> None:
    """Call the observer, if there is one."""
    if observer is not None:
        observer(phase)
