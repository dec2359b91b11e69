"""The command that examines a metastore."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

_SERIOUS = 1  # the exit code


@command
def doctor(context: CommandContext) -> None:
    """Check a metastore for problems and show remedies.

    The exit code is 1 if a finding is serious.

    \b
    Examples:
      forklake doctor
      forklake doctor -m ducklake:postgres:dbname=lake --json
    """
    from forklake.catalog.doctor.checks import Weight
    from forklake.catalog.doctor.examination import checks_for, examine

    with context.open() as metastore:
        address, backend = metastore.database.address, metastore.database.dialect.name
        findings = examine(metastore)
    made = len(checks_for(backend))
    serious = [one for one in findings if one.weight is Weight.SERIOUS]

    def draw() -> Iterator[RenderableType]:
        for one in [*serious, *(one for one in findings if one.weight is not Weight.SERIOUS)]:
            yield f"{one.weight.value}: {one.check}: {escape(one.words)}"
            yield f"  {escape(one.remedy)}"
        found = f"{counted(len(findings), 'finding')}, {len(serious)} of them serious"
        yield f"{escape(address)} ({backend}): {counted(made, 'check')}, {found}."

    document = {
        "address": address,
        "backend": backend,
        "checks": made,
        "findings": [
            {
                "check": one.check,
                "weight": one.weight.value,
                "message": one.words,
                "remedy": one.remedy,
            }
            for one in findings
        ],
    }
    context.output.show(document, draw)
    if serious:
        raise typer.Exit(_SERIOUS)
