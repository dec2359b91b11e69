"""Dot commands of the shell: one table, which .help shows."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forklake.cli.output import make_table
from forklake.cli.results import SHOWN, RowFormat
from forklake.cli.scripts import Script
from forklake.errors import InvalidInput, NotFound
from forklake.model.names import quoted

if TYPE_CHECKING:
    from forklake.cli.shell.shell import Shell


@dataclass(frozen=True, slots=True)
class DotCommand:
    """Dot command with its usage, its meaning and the allowed number of arguments."""

    usage: str
    meaning: str
    run: Callable[..., None]
    least: int = 0
    most: int = 0


def run_dot_command(shell: Shell, text: str) -> None:
    """Parse and run an input such as `.limit 5`."""
    try:
        name, *arguments = shlex.split(text.strip().removesuffix(";"))
    except ValueError:
        raise InvalidInput("A quote is not closed.", remedy="Add the closing quote.") from None
    command = COMMANDS.get(name)
    if command is None:
        raise NotFound(f"The command {name} does not exist.", remedy="List all with .help.")
    if not command.least <= len(arguments) <= command.most:
        raise InvalidInput(
            f"The arguments are wrong. Usage: {command.usage}.", remedy="List all with .help."
        )
    command.run(shell, *arguments)


def _show_help(shell: Shell) -> None:
    rows = [(one.usage, one.meaning) for one in COMMANDS.values()]
    shell.output.draw([make_table(("command", "meaning"), rows)])


def _make_command(text: str) -> Callable[..., None]:
    """Return a function that runs a statement with the arguments of the command in place of {}."""
    return lambda shell, *arguments: shell.run(Script(text.format(*arguments)))


def _show_schema(shell: Shell, *name: str) -> None:
    shell.run(Script(f"DESCRIBE {name[0]}" if name else "SHOW ALL TABLES"))


def _set_format(shell: Shell, name: str) -> None:
    shell.row_format = RowFormat(_require_choice(name, [form.value for form in RowFormat]))


def _set_timer(shell: Shell, switch: str) -> None:
    shell.has_timer = _require_choice(switch, ["on", "off"]) == "on"


def _set_limit(shell: Shell, count: str) -> None:
    if not count.isdecimal() or int(count) < 1:
        raise InvalidInput(f"{count!r} is not a number of rows.", remedy="Write .limit 500.")
    shell.limit = int(count)


def _require_choice(word: str, choices: list[str]) -> str:
    if word not in choices:
        raise InvalidInput(
            f"{word!r} is not a valid choice.", remedy=f"Use {' or '.join(choices)}."
        )
    return word


def _run_file(shell: Shell, file: str) -> None:
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise NotFound(
            f"The file {file!r} cannot be read: {reason}.", remedy="Pass a readable text file."
        ) from None
    shell.run(Script(text, source=file))


def _fork_catalog(shell: Shell, name: str) -> None:
    if shell.session.current is None:
        raise NotFound("No catalog is in use.", remedy="Choose one to fork: USE name.")
    parent, _ = shell.session.current
    shell.session.fork(parent, name, attach_as=name)
    shell.session.use(quoted(name))
    shell.output.draw([f"Forked {parent} as {name}, which is attached and in use."])


def _end_shell(shell: Shell) -> None:
    shell.is_over = True


COMMANDS = {
    one.usage.split()[0]: one
    for one in (
        DotCommand(".help", "Show this list.", _show_help),
        DotCommand(".databases", "List the attached catalogs.", _make_command("SHOW DATABASES")),
        DotCommand(
            ".tables",
            "List the tables of the schema in use.",
            _make_command("SHOW TABLES"),
        ),
        DotCommand(
            ".schema [TABLE]", "Show the columns of all tables, or of one.", _show_schema, 0, 1
        ),
        DotCommand(".fork NEW", "Fork the catalog in use, and use the fork.", _fork_catalog, 1, 1),
        DotCommand(".read FILE", "Run a script.", _run_file, 1, 1),
        DotCommand(".mode table|json|csv", "Set the output format of rows.", _set_format, 1, 1),
        DotCommand(
            ".limit N",
            f"Set the maximum number of rows; tables default to {SHOWN}.",
            _set_limit,
            1,
            1,
        ),
        DotCommand(".timer on|off", "Show the time that each statement takes.", _set_timer, 1, 1),
        DotCommand(".quit", "Leave the shell; so does Ctrl-D.", _end_shell),
        DotCommand(".exit", "Leave the shell.", _end_shell),
    )
}
