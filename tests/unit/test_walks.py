"""The walks of docs/architecture.md: each hop exists, and none returns to a package above."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

_HOP = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)
_TEXT = Path("docs/architecture.md").read_text().split("## Walks", 1)[1].split("\n## ", 1)[0]
WALKS = {one.split("**", 1)[0]: _HOP.findall(one) for one in re.split(r"\n\*\*", _TEXT)[1:]}


def _layers() -> list[list[str]]:
    """Return the packages of each layer, highest first."""
    settings = tomllib.loads(Path("pyproject.toml").read_text())
    contract = next(
        one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    return [re.findall(r"forklake\.(\w+)", one) for one in contract["layers"]]


def _resolve(hop: str) -> object:
    parts = hop.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(["forklake", *parts[:length]]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise AssertionError(hop)


@pytest.mark.parametrize("walk", WALKS)
def test_each_hop_exists_and_goes_down(walk: str) -> None:
    heights = []
    for hop in WALKS[walk]:
        assert callable(_resolve(hop)), hop
        heights += [number for number, names in enumerate(_layers()) if hop.split(".")[0] in names]
    assert len(heights) == len(WALKS[walk]) > 1
    assert heights == sorted(heights)


def test_all_walks_are_read() -> None:
    assert len(WALKS) == 7
