"""Schema files: the definitions of a metastore as scripts to read, and to load by hand."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from forklake.store.schema.definitions import Definition, Kind
from forklake.store.schema.description import Backend
from forklake.store.schema.metastore import OPTIONAL, define_metastore, define_tables, find_form

_WIDTH = 100
_ORIGIN = "Generated from src/forklake/store/schema by `make schema`: do not edit."
_RULE = """
Every row that a catalog can see is valid for the snapshots [begin_snapshot, end_snapshot).
A fork reads its ancestors' rows up to the snapshot it was forked at (ducklake_catalog_lineage)
and ends inherited rows with tombstones, so that forking copies nothing."""
_OPTIONAL = """
Tables that a metastore has only if they are used. Each group is created when it is first needed:
access rules with `forklake access init`, automations with the first automation, stamps when a
service is configured with them."""


def schema_files() -> dict[str, str]:
    """Return the text of each schema file, by its name."""
    scripts = {f"{one}.sql": _metastore_script(one) for one in Backend}
    return scripts | {f"{one}-optional.sql": _optional_script(one) for one in Backend}


def _metastore_script(backend: Backend) -> str:
    form = find_form(backend)
    begin, commit = (["BEGIN;", ""], ["", "COMMIT;"]) if form.is_transactional else ([], [])
    lines = [
        *_comment(f"{_ORIGIN}\n\n{form.header}\n{_RULE}"),
        "",
        *_statements(form.preparation),
        *begin,
        *_statements(define_metastore(backend)),
        *commit,
    ]
    return "\n".join(lines) + "\n"


def _optional_script(backend: Backend) -> str:
    definitions = [one for group in OPTIONAL for one in define_tables(group, backend)]
    lines = [*_comment(f"{_ORIGIN}\n{_OPTIONAL}"), "", *_statements(definitions)]
    return "\n".join(lines) + "\n"


def _statements(definitions: Iterable[Definition]) -> list[str]:
    lines: list[str] = []
    last = None
    for one in definitions:
        if one.section:
            lines += ["", *_comment(_wrap(one.section))]
        if one.kind in {Kind.TABLE, Kind.VIEW} or (one.kind is Kind.ROWS and last is not Kind.ROWS):
            lines.append("")
        lines += [*(_comment(_wrap(one.comment)) if one.comment else ()), f"{one.text};"]
        last = one.kind
    return lines if not lines or lines[0] else lines[1:]


def _wrap(text: str) -> str:
    return textwrap.fill(text, _WIDTH - 3, break_long_words=False, break_on_hyphens=False)


def _comment(text: str) -> Iterator[str]:
    return (f"-- {line}".rstrip() for line in text.splitlines())
