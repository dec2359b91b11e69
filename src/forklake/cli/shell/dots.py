"""The commands that begin with a dot: one table, which .help shows."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forklake.cli.formatting import quoted
from forklake.cli.output import table
from forklake.cli.results import SHOWN, Form
from forklake.cli.scripts import Script
from forklake.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from forklake.cli.shell.shell import Shell


@dataclass(frozen=True, slots=True)
class DotCommand:
    """A command: its words after the dot, what it does, and how many arguments it takes."""

    usage: str
    meaning: str
    run: Callable[..., None]
    least: int = 0
    most: int = 0


def run_dot_command(shell: Shell, text: str) -> None:
    """Run what was typed: a dot, a name and arguments."""
    try:
        name, *arguments = shlex.split(text.strip().removesuffix(";"))
    except ValueError:
        raise InvalidInput("A quote is not closed.", remedy="Close it.") from None
    command = COMMANDS.get(name)
    if command is None:
        raise NotFound(f"There is no command {name}.", remedy="See .help.")
    if not command.least <= len(arguments) <= command.most:
        raise InvalidInput(f"The command is {command.usage}.", remedy="See .help.")
    command.run(shell, *arguments)


def _help(shell: Shell) -> None:
    rows = [(one.usage, one.meaning) for one in COMMANDS.values()]
    shell.output.draw([table(("command", "meaning"), rows)])


def _sql(text: str) -> Callable[..., None]:
    """A command that is short for a statement, in which {} is its argument."""
    return lambda shell, *arguments: shell.run(Script(text.format(*arguments)))


def _schema(shell: Shell, *name: str) -> None:
    shell.run(Script(f"DESCRIBE {name[0]}" if name else "SHOW ALL TABLES"))


def _mode(shell: Shell, name: str) -> None:
    shell.form = Form(_chosen(name, [form.value for form in Form]))


def _timer(shell: Shell, switch: str) -> None:
    shell.has_timer = _chosen(switch, ["on", "off"]) == "on"


def _limit(shell: Shell, count: str) -> None:
    if not count.isdecimal() or int(count) < 1:
        raise InvalidInput(f"{count!r} is no number of rows.", remedy="Say .limit 500.")
    shell.limit = int(count)


def _chosen(word: str, known: list[str]) -> str:
    if word not in known:
        raise InvalidInput(f"{word!r} cannot be chosen.", remedy=f"Choose {' or '.join(known)}.")
    return word


def _read(shell: Shell, file: str) -> None:
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise NotFound(
            f"The file {file!r} cannot be read: {reason}.", remedy="Name another one."
        ) from None
    shell.run(Script(text, source=file))


def _fork(shell: Shell, name: str) -> None:
    if shell.session.current is None:
        raise NotFound("No catalog is in use that could be forked.", remedy="USE one first.")
    parent, _ = shell.session.current
    shell.session.fork(parent, name, attach_as=name)
    shell.session.use(quoted(name))
    shell.output.draw([f"{name} is a fork of {parent}, attached and in use."])


def _quit(shell: Shell) -> None:
    shell.is_over = True


COMMANDS = {
    one.usage.split()[0]: one
    for one in (
        DotCommand(".help", "Show this list.", _help),
        DotCommand(".databases", "List the attached catalogs.", _sql("SHOW DATABASES")),
        DotCommand(".tables", "List the tables of the schema in use.", _sql("SHOW TABLES")),
        DotCommand(".schema [TABLE]", "Show the columns of all tables, or of one.", _schema, 0, 1),
        DotCommand(".fork NEW", "Fork the catalog in use, and use the fork.", _fork, 1, 1),
        DotCommand(".read FILE", "Run a script.", _read, 1, 1),
        DotCommand(".mode table|json|csv", "Choose the form of rows.", _mode, 1, 1),
        DotCommand(".limit N", f"Show at most so many rows; of tables, {SHOWN}.", _limit, 1, 1),
        DotCommand(".timer on|off", "Tell how long each statement took.", _timer, 1, 1),
        DotCommand(".quit", "Leave; so does Ctrl-D.", _quit),
        DotCommand(".exit", "Leave.", _quit),
    )
}
