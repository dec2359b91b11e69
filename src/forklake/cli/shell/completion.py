"""Completion of SQL words and of the names that are visible in the session.

Names come from the metastore only: completion never runs Spark jobs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from forklake.cli.shell.dot_commands import COMMANDS
from forklake.cli.shell.input import is_dot_command
from forklake.cli.shell.words import FUNCTIONS, KEYWORDS
from forklake.errors import ForklakeError
from forklake.model.names import folded, quoted

if TYPE_CHECKING:
    from forklake.model.state import CatalogState
    from forklake.session.session import Session

_PART = r'(?:"[^"]*"|\w+)'
_PATH = rf"{_PART}(?:\.{_PART})*"
# Text before the cursor: the qualifiers of a name with their dots, and the beginning of its last
# part.
_TYPED = re.compile(rf'((?:{_PART}\.)*)("[^"]*|\w*)$')
_OF_RELATIONS = r"FROM|JOIN|INTO|UPDATE|TABLE|USE|DESCRIBE|SUMMARIZE"
_WANTS_RELATION = re.compile(rf"\b(?:{_OF_RELATIONS})\s+$", re.IGNORECASE)
_MENTIONED = re.compile(rf"\b(?:{_OF_RELATIONS})\s+({_PATH})(?:\s+(?:AS\s+)?(\w+))?", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z_]\w*", re.IGNORECASE)

# A name and its kind.
Candidate = tuple[str, str]


class SqlCompleter(Completer):
    """Completer of the name or word before the cursor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """Yield completions of the word before the cursor."""
        before = document.text_before_cursor
        if is_dot_command(document.text):
            yield from _complete(before.lstrip(), ((name, "command") for name in COMMANDS))
            return
        typed = _TYPED.search(before)
        assert typed is not None  # the pattern matches the empty text too
        path = [_unquote(one) for one in re.findall(_PART, typed[1])]
        names = list(self._find_names(path, document.text, before[: typed.start()]))
        yield from _complete(typed[2], names)

    def _find_names(self, path: list[str], text: str, before: str) -> Iterator[Candidate]:
        visible = _VisibleNames(self._session, text)
        try:
            if path:
                yield from visible.names_under(path)
                return
            yield from visible.relations()
            if _WANTS_RELATION.search(before):
                return
            yield from visible.columns()
        except ForklakeError:  # completion must not fail if the metastore cannot be read
            pass
        if not path:
            yield from ((word, "function") for word in FUNCTIONS)
            yield from ((word, "keyword") for word in KEYWORDS)


def _complete(typed: str, names: Iterable[Candidate]) -> Iterator[Completion]:
    """Yield the names that begin with the typed text, compared without case, each once."""
    is_quoted = typed.startswith('"')
    start = folded(typed.removeprefix('"'))
    shown = set()
    for name, what in names:
        if not folded(name).startswith(start) or name in shown:
            continue
        shown.add(name)
        is_word = what in ("keyword", "function", "command")
        text = name if is_word or (_PLAIN.fullmatch(name) and not is_quoted) else quoted(name)
        if what == "keyword" and typed.islower():
            text = name.lower()
        yield Completion(text, -len(typed), display=name, display_meta=what)


def _unquote(part: str) -> str:
    return part[1:-1] if part.startswith('"') else part


class _VisibleNames:
    """Names visible in a session and those that a statement mentions."""

    def __init__(self, session: Session, text: str) -> None:
        self._session = session
        self._mentioned = {
            folded(alias or path.rpartition(".")[2].strip('"')): path
            for path, alias in _MENTIONED.findall(text)
        }

    def relations(self) -> Iterator[Candidate]:
        """Yield relations and schemas of the catalog in use, and all attached catalogs."""
        if self._session.current is not None:
            alias, schema = self._session.current
            state = self._read_state(alias)
            yield from _list_relations(state, schema)
            yield from ((one.schema_name, "schema") for one in state.schemas())
        for one in self._session.attachments():
            yield one.alias, "catalog"

    def columns(self) -> Iterator[Candidate]:
        """Yield the columns of the tables that the statement mentions."""
        for path in self._mentioned.values():
            yield from self._read_columns(path)

    def names_under(self, path: list[str]) -> Iterator[Candidate]:
        """Yield the names that can follow a qualifier."""
        match path:
            case (one,):
                yield from self._read_columns(self._mentioned.get(folded(one), quoted(one)))
                yield from self._contents_of(one)
            case (alias, schema) if self._is_attached(alias):
                yield from _list_relations(self._read_state(alias), schema)
            case _:
                yield from self._read_columns(".".join(map(quoted, path)))

    def _contents_of(self, name: str) -> Iterator[Candidate]:
        """Yield the contents of a catalog, or of a schema of the catalog in use."""
        if self._is_attached(name):
            state = self._read_state(name)
            yield from ((one.schema_name, "schema") for one in state.schemas())
            yield from _list_relations(state, "main")
        elif self._session.current is not None:
            yield from _list_relations(self._read_state(self._session.current[0]), name)

    def _is_attached(self, alias: str) -> bool:
        return folded(alias) in {folded(one.alias) for one in self._session.attachments()}

    def _read_state(self, alias: str) -> CatalogState:
        return self._session.viewing(self._session.attachment(alias)).state

    def _read_columns(self, path: str) -> Iterator[Candidate]:
        try:
            place = self._session.resolve(path)
            view = self._session.viewing(place.attachment)
            table = self._session.find_table(view, place)
        except ForklakeError:  # the name is incomplete, or names a view
            return
        for column in view.state.columns(table):
            yield column.column_name, "column"


def _list_relations(state: CatalogState, schema: str) -> Iterator[Candidate]:
    if state.find_schema(schema) is None:
        return
    yield from ((one.table_name, "table") for one in state.tables(schema))
    yield from ((one.view_name, "view") for one in state.views(schema))
    yield from ((one.macro_name, "macro") for one in state.macros(schema))
