"""Refuse words and forms that our language rules exclude (see CONTRIBUTING.md).

Checked are comments, docstrings and other texts of Python files, comments of Java files, and all of
Markdown files and page templates. A line that needs an excluded word, such as a quoted message of
another program, ends in the marker `language: ok`.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "tests", "stress", "benchmarks", "examples", "tools", "docs")
Reader = Callable[[str], Iterator[tuple[int, str]]]  # the texts of a file, with their first lines
_MARKER = "language: ok"
_OF_OLDER_VERSIONS = re.compile(r"/upgrade/version_")  # dumps, which stay as they were made
_PROGRAMS = "|".join(
    "Arrow Delta DuckDB DuckLake Forklake Iceberg Java MariaDB MySQL Parquet PostgreSQL PySpark"
    " Python Spark SQLite sqlglot".split()
)


@dataclass(frozen=True)
class Rule:
    """An excluded pattern, and what to write in its place."""

    pattern: re.Pattern[str]
    advice: str


def _rule(pattern: str, advice: str) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), advice)


RULES = (
    _rule(
        r"\b(?:no|some|every|any)body\b|\bwho(?:m)?ever\b",
        "name the component, caller, client or transaction",
    ),
    _rule(r"\b(?:tells?|told|telling)\b", "code is not a person: return, report, pass, show"),
    _rule(r"\b(?:says?|said|hears?|heard)\b", "code is not a person: return, define, state"),
    _rule(r"\bknows?\b", "code is not a person: store, record, have; `known` is fine"),
    _rule(r"\basks?\b|\basked\b", "code is not a person: query, request, call"),
    _rule(r"\banew\b", "again, or newly"),
    _rule(r"(?<!there )\b(?:is|are|was|were) no\b(?! (?:longer|more|less)\b)", "is not a"),
    _rule(rf"\b(?:{_PROGRAMS})'s\b", "no possessive for programs: `Spark cast`"),
    _rule(
        r"\b\w*(?:behaviour|colour|favour|honour|neighbour|centre|licence|catalogue)\w*\b"
        r"|\b\w*(?:material|normal|recogn|optim|initial|serial|summar|organ|author|final|minim"
        r"|maxim|synchron|priorit|token|standard|categor)is(?:e[ds]?|ing|ation\w*)\b"
        r"|\banalys(?:e[ds]?|ing)\b",
        "American spelling",
    ),
)
_NOT_IMPERATIVE = re.compile(
    r"(?:A|All|An|And|Any|As|At|Both|By|Each|Every|For|From|How|If|In|It|Its|No|Not|Nothing|Of|On|One"
    r"|Only|Or|Rows?|So|That|The|These|They|This|Those|To|What|When|Where|Whether|Which|While|Who"
    r"|Whose|Why|With)\b"
)
_TEST = re.compile(r"test_")


@dataclass(frozen=True, order=True)
class Finding:
    """An excluded form at a place."""

    path: Path
    line: int
    text: str
    advice: str

    def __str__(self) -> str:
        place = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{place}:{self.line}: {self.text!r}: {self.advice}"


def check(paths: Iterable[Path]) -> Iterator[Finding]:
    """Yield the findings in files, and in the files below folders."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if (
                (read := _READERS.get(file.suffix))
                and file.is_file()
                and file.name != Path(__file__).name
                and not _OF_OLDER_VERSIONS.search(str(file))
            ):
                yield from _check_file(file, read)


def _check_file(file: Path, read: Reader) -> Iterator[Finding]:
    source = file.read_text()
    allowed = {number for number, line in enumerate(source.splitlines(), 1) if _MARKER in line}
    for first, text in read(source):
        for rule in RULES:
            for found in rule.pattern.finditer(text):
                line = first + text.count("\n", 0, found.start())
                if line not in allowed:
                    yield Finding(file, line, found.group(), rule.advice)
    if file.suffix == ".py":
        yield from _check_docstrings(file, ast.parse(source))


def _check_docstrings(file: Path, tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_noun(node):
            continue
        text = ast.get_docstring(node)
        if text and (found := _NOT_IMPERATIVE.match(text)):
            yield Finding(
                file, node.lineno + 1, found.group(), "docstrings of functions are imperative"
            )


def _is_noun(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a noun phrase suits a function: properties, and tests (statements)."""
    names = [ast.unparse(one) for one in node.decorator_list]
    return _TEST.match(node.name) is not None or any("property" in name for name in names)


def _read_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments and texts, each with the number of its first line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING, _MIDDLE):
            yield token.start[0], token.string


_MIDDLE = getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)  # since Python 3.12


def _read_java(source: str) -> Iterator[tuple[int, str]]:
    for found in re.finditer(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", source, re.DOTALL):
        yield source.count("\n", 0, found.start()) + 1, found.group()


def _read_all(source: str) -> Iterator[tuple[int, str]]:
    yield 1, source


_READERS: dict[str, Reader] = {
    ".py": _read_python,
    ".java": _read_java,
    ".md": _read_all,
    ".html": _read_all,
    ".sql": _read_all,
}


def main() -> int:
    """Print the findings in the paths of the command line, or in the whole project."""
    findings = sorted(check([Path(one).resolve() for one in sys.argv[1:]] or _whole_project()))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "Language: nothing found.")
    return 1 if findings else 0


def _whole_project() -> list[Path]:
    folders = [ROOT / name for name in FOLDERS]
    return [*folders, *ROOT.glob("*.md")]


if __name__ == "__main__":
    sys.exit(main())
