"""Examples of the documentation, all of which must run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import forklake
from forklake.crucible.settings import Settings
from forklake.engines.spark.engine import Engine
from tests.crucible.served import run_service

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SERVICE = "http://127.0.0.1:8480"  # the address of a service in examples
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def examples(page: Path, language: str) -> list[str]:
    """Return the code blocks of a language on a page."""
    return [code for name, code in _BLOCK.findall(page.read_text()) if name == language]


def python_pages() -> list[Any]:
    """Return the pages with Python code; those that use sessions need Spark."""
    found = []
    for page in PAGES:
        code = "\n".join(examples(page, "python"))
        if code:
            needs_spark = "forklake.connect(" in code or SERVICE in code
            found.append(pytest.param(page, marks=[pytest.mark.jvm] if needs_spark else []))
    return found


@pytest.mark.parametrize("page", python_pages(), ids=str)
def test_python_examples_run_from_top_to_bottom(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    code = "\n".join(examples(page, "python"))
    if request.node.get_closest_marker("jvm"):
        request.getfixturevalue("engine")  # the shared Spark of the tests
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with service_for(code) as address:
        try:
            exec(compile(code.replace(SERVICE, address), str(page), "exec"), names)
        finally:
            for name in {"session", "metastore"} & set(names):
                names[name].close()


@contextmanager
def service_for(code: str) -> Iterator[str]:
    """Yield the address of a service, running it if the code uses one."""
    if SERVICE not in code:
        yield SERVICE
        return
    settings = Settings(metastore="ducklake:service.db", create=True, data_path="served/")
    with run_service(settings, with_rules=False) as found:
        yield found.address


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page, "console")], ids=str)
def test_commands_run_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": found, "COLUMNS": "100"}
    environment |= {name: os.environ[name] for name in {"JAVA_HOME"} & set(os.environ)}
    for line in "".join(examples(page, "console")).splitlines():
        command = line.removeprefix("$ ")
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            environment[name] = value
            continue
        done = subprocess.run(
            shlex.split(command),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


OF_METADATA = ROOT / "docs" / "tables.md"  # its queries run on the metadata database itself
OF_SESSIONS = [page for page in PAGES if examples(page, "sql") and page != OF_METADATA]


@pytest.mark.parametrize("page", OF_SESSIONS, ids=str)
def test_statements_run_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    monkeypatch.chdir(tmp_path)
    with forklake.connect(engine.spark) as session:
        for code in examples(page, "sql"):
            for result in session.run(code):
                assert result.arrow().num_columns, code


def test_queries_run_on_a_metastore_with_a_fork(tmp_path: Path) -> None:
    with forklake.open(f"ducklake:{tmp_path / 'metastore.db'}", create=True) as metastore:
        catalog = metastore.create_catalog("sales")
        with catalog.transaction(author="ada") as transaction:
            table = transaction.create_table("t", [forklake.ColumnSpec("id", "int32")])
            transaction.add_data_files(table, [forklake.NewDataFile("f", 1, 1)])
        metastore.fork("sales", "agent-1")
        with metastore.database.reading() as connection:
            for code in examples(OF_METADATA, "sql"):
                assert connection.fetch(code), code


def test_pages_refer_to_existing_files() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https://)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
        for target in re.findall(r"`((?:tests|stress|examples)/[\w/.]+)`", page.read_text()):
            assert (ROOT / target).exists(), f"{page.name}: {target}"


def test_glossary_refers_to_existing_modules() -> None:
    modules = re.findall(r"`(forklake(?:\.\w+)+)`", (ROOT / "docs/glossary.md").read_text())
    assert modules
    for name in modules:
        assert find_spec(name) is not None, name


def test_glossary_defines_each_term_once() -> None:
    terms = re.findall(r"^\| \*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert terms
    assert len(terms) == len(set(terms))
