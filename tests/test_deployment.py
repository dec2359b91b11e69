"""Workflows, Dockerfile and compose.yaml, compared with the program and its files; none is run."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from forklake.cli.main import app
from forklake.crucible.settings import Settings
from tests.crucible.served import run_service

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICE_PAGE = (ROOT / "docs" / "service.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
PROGRAM: Any = typer.main.get_command(app)


def instructions(name: str) -> list[str]:
    """Return the arguments of an instruction of the Dockerfile, one text for each use."""
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def steps() -> Iterator[dict[str, Any]]:
    """Yield the steps of all workflows."""
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            yield from job["steps"]


def commands() -> Iterator[list[str]]:
    """Yield the command lines of all workflows, the image and compose.yaml, as words."""
    for step in steps():
        for line in step.get("run", "").splitlines():
            for command in line.split("&&"):
                yield shlex.split(command)
    for arguments in instructions("CMD"):
        yield json.loads(arguments)
    for service in COMPOSE["services"].values():
        if "command" in service:
            yield service["command"]


def program_commands() -> list[list[str]]:
    """Return what follows the name of the program in each command that runs it."""
    found = []
    for words in commands():
        places = [place for place, word in enumerate(words) if Path(word).name == "forklake"]
        if places and words[:2] != ["docker", "build"]:
            found.append(words[places[-1] + 1 :])
    return found


def test_workflows_check_test_build_and_document() -> None:
    assert [path.stem for path in WORKFLOWS] == ["build", "check", "docs", "test"]
    named = {yaml.safe_load(path.read_text())["name"] for path in WORKFLOWS}
    assert named == {path.stem for path in WORKFLOWS}


def test_actions_are_pinned_to_a_major_version() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    assert [one for one in used if not re.fullmatch(r"actions/[\w-]+@v\d+", one)] == []


def test_make_targets_of_workflows_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = {words[1] for words in commands() if words[0] == "make"}
    assert used == {"setup", "check", "test", "build", "docs"}
    assert used <= targets


def test_workflows_run_supported_versions_of_python() -> None:
    supported = {
        found[1]
        for one in PROJECT["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one))
    }
    matrix = yaml.safe_load((ROOT / ".github/workflows/check.yaml").read_text())
    used = set(matrix["jobs"]["check"]["strategy"]["matrix"]["python"])
    stated = {str(step.get("with", {}).get("python-version")) for step in steps()}
    used |= {one for one in stated if re.fullmatch(r"3\.\d+", one)}
    used |= set(re.findall(r"^FROM python:(3\.\d+)-", DOCKERFILE, re.MULTILINE))
    assert used <= supported
    assert min(used) == PROJECT["requires-python"].removeprefix(">=")


@pytest.mark.parametrize("words", program_commands(), ids=" ".join)
def test_commands_and_options_exist(words: list[str]) -> None:
    command = PROGRAM
    options = [name for parameter in command.params for name in parameter.opts] + ["--help"]
    for word in words:
        if word.startswith("--"):
            assert word in options
        elif hasattr(command, "commands"):
            command = command.commands[word]
            options += [name for parameter in command.params for name in parameter.opts]


def test_the_image_copies_files_of_the_repository() -> None:
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [words.split()[:-1] for words in instructions("COPY") if "--from" not in words]
    for path in {one for some in copied for one in some}:
        assert (ROOT / path).exists()
        assert f"!{path.removeprefix('./')}" in kept


def test_the_image_installs_extras_of_the_package() -> None:
    extras = PROJECT["optional-dependencies"]
    (installed,) = re.findall(r"\.whl\)\[([\w,]+)\]", DOCKERFILE)
    assert set(installed.split(",")) <= set(extras)
    assert "server" in installed


def test_ports_and_paths_are_those_of_the_service(tmp_path: Path) -> None:
    settings = Settings(metastore=f"ducklake:{tmp_path / 'lake.db'}", create=True)
    service = COMPOSE["services"]["forklake"]
    assert instructions("EXPOSE") == [str(settings.port)]
    assert service["ports"] == [f"127.0.0.1:{settings.port}:{settings.port}"]
    check = " ".join(service["healthcheck"]["test"])
    ((port, path),) = re.findall(r"http://127\.0\.0\.1:(\d+)(/[\w/]+)", check)
    assert port == str(settings.port)
    with run_service(settings, with_rules=False) as found:
        assert found.client().get(path).status_code == 200
    (home,) = instructions("WORKDIR")[-1:]
    assert f"lake:{home}" in service["volumes"]


def test_settings_of_compose_exist() -> None:
    service = COMPOSE["services"]["forklake"]
    mounted = [volume.split(":")[1] for volume in service["volumes"]]
    config = service["command"][service["command"].index("--config") + 1]
    assert config in mounted
    assert set(service["environment"]) == {"FORKLAKE_METASTORE"}
    for one in COMPOSE["services"].values():
        assert set(one["secrets"]) <= set(COMPOSE["secrets"])
        volumes = {volume.split(":")[0] for volume in one["volumes"]}
        assert {name for name in volumes if not name.startswith(".")} <= set(COMPOSE["volumes"])


def test_documentation_shows_compose_yaml() -> None:
    assert f"```yaml\n{(ROOT / 'compose.yaml').read_text()}```" in SERVICE_PAGE


def test_settings_shown_in_the_documentation_are_valid() -> None:
    for text in re.findall(r"```toml\n(.+?)```", SERVICE_PAGE, re.DOTALL):
        Settings.model_validate(tomllib.loads(text))
