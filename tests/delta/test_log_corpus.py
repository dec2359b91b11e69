"""Delta logs of other writers, which must yield the files on which other readers agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forklake.delta.features import explain_unreadable
from forklake.delta.log.checkpoints import read_state
from forklake.delta.log.delta_log import DeltaLog, LogVersion
from forklake.delta.log.log_files import list_log
from forklake.delta.log.replay import LogState, replay
from forklake.errors import ForklakeError

# Describes no table, though its files were counted.
UNUSABLE = {"delta_deltalog-state-reconstruction-without-metadata"}
# Here `/p` is removed as `file:/p`, which the expected count overlooked.
MISCOUNTED = {
    "kernelrs_golden_canonicalized-paths-special-a",
    "kernelrs_golden_canonicalized-paths-special-b",
}
# Valid logs whose deletion vectors or data files are missing.
LEFT_TO_DATA = {
    "delta_partitioned-table-with-dv-large",
    "delta_table-with-dv-large",
    "delta_table-with-dv-small",
}


def tables(corpus: Path, *statuses: str) -> list[dict[str, Any]]:
    listed = json.loads((corpus / "corpus.json").read_text())["tables"]
    return [table for table in listed if table["status"] in statuses]


def states(log: DeltaLog) -> dict[int, tuple[int, int]]:
    """Return the numbers of live files, and of those with a deletion vector, by version."""
    state, counted = LogState(), {}
    for version in log.versions():
        state.apply(version)
        vectors = sum(vector is not None for _, vector in state.adds)
        counted[version.number] = len(state.adds), vectors
    return counted


def test_every_version_has_the_files_that_readers_see(delta_corpus: Path) -> None:
    wrong = {}
    for table in tables(delta_corpus, "ok", "log_only"):
        name = table["name"]
        if name in UNUSABLE | MISCOUNTED:
            continue
        counted = states(DeltaLog(str(delta_corpus / name / "table")).open())
        expected = {table["latest_version"]: (table["active_files"], table["active_dvs"])}
        if expected.items() - counted.items() or _missed(delta_corpus / name, counted):
            wrong[name] = counted
    assert wrong == {}


def _missed(folder: Path, counted: dict[int, tuple[int, int]]) -> dict[str, Any]:
    seen = folder / "versions.json"
    known = json.loads(seen.read_text()) if seen.exists() else {}
    return {
        version: one["files"]
        for version, one in known.items()
        if "files" in one and counted[int(version)][0] != one["files"]
    }


def test_every_checkpoint_equals_the_state_of_the_commits(delta_corpus: Path) -> None:
    compared, wrong = 0, []
    for table in tables(delta_corpus, "ok"):
        root = str(delta_corpus / table["name"] / "table")
        files, log = list_log(f"{root}/_delta_log"), DeltaLog(root).open()
        replayed = [one.number for one in log.versions() if not one.is_state]
        for version in files.checkpoints.keys() & replayed:
            for checkpoint in files.checkpoints[version]:
                held = LogState()
                held.apply(
                    LogVersion(version, 0, None, read_state(checkpoint, files), is_state=True)
                )
                compared += 1
                if _outline(held) != _outline(replay(log, version)):
                    wrong.append((table["name"], version))
    assert wrong == []
    assert compared > 50


def _outline(state: LogState) -> tuple[object, ...]:
    files = {key: (add.size, add.partition_values) for key, add in state.adds.items()}
    return state.protocol, files, state.txns.keys(), state.domains


def test_invalid_logs_are_refused(delta_corpus: Path) -> None:
    accepted = set()
    for table in tables(delta_corpus, "negative"):
        try:
            state = replay(DeltaLog(str(delta_corpus / table["name"] / "table")).open())
        except ForklakeError:
            continue
        if explain_unreadable(state.protocol) is None:
            accepted.add(table["name"])
    assert accepted == LEFT_TO_DATA
