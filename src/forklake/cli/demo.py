"""The demo: ten thousand forks of a catalog on a throw-away metastore, with measured numbers."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from forklake.cli.output import Output, heading, tolerate_any_text
from forklake.cli.steps import Steps


def demo(
    forks: Annotated[int, typer.Option(min=10, help="Forks to make.")] = 10_000,
    files: Annotated[int, typer.Option(min=10, help="Data files of the catalog.")] = 1_000,
    processes: Annotated[int, typer.Option(min=1, help="Processes that commit.")] = 4,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the metastore.")] = False,
) -> None:
    """Show what forks do, on a throw-away metastore."""
    output = Output()
    with _folder(keep=keep) as folder:
        steps = Steps(folder, output)
        steps.say(
            "Forklake: a lakehouse whose catalogs can be forked in a millisecond.",
            f"The metastore is a SQLite file, {folder / 'forklake.db'}. All numbers are measured.",
        )
        with steps.metastore:
            steps.create(files)
            names = steps.fork(forks)
            steps.commit(names[: min(200, forks)], processes)
            steps.isolate(names)
            steps.look_back(names[2])
            steps.drop(names[forks // 2 :])
            steps.draw_tree(names)
        output.draw([heading("What to try next"), *_suggestions(steps.uri if keep else None)])


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="forklake-demo-"))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _suggestions(uri: str | None) -> list[str]:
    """Commands that work as they stand, on the metastore that was kept or on a new one."""
    program = "forklake"
    if shutil.which(program) is None:
        beside = Path(sys.executable).with_name(program)
        program = os.path.relpath(beside)
    if uri is not None:
        program = f"{program} -m {uri}"
        commands = ["tree sales", "tables agent-000003", "snapshots agent-000003", "catalogs"]
    else:
        commands = [
            "init",
            "create sales",
            "fork sales agent --count 1000",
            "catalogs --prefix agent- --limit 5",
            "tree",
            "drop --prefix agent- --yes",
        ]
    return [f"  {program} {command}" for command in commands]


if __name__ == "__main__":
    tolerate_any_text()
    typer.run(demo)
