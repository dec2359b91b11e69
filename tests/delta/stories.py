"""Random Delta logs, and a small model of the expected state at each of their versions.

The model identifies files by number; paths, vectors and actions are only their encoding in the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

from hypothesis import strategies as st

from forklake.files.vectors import inline_vector
from tests.delta.hand_written import PROTOCOL, Body, HandWrittenLog, add, commit_info, remove

ROWS = 10  # of every file
_HAS_MORE = -1  # marks a version that already has actions unrelated to files
# Types of partition columns, with texts of the log and the corresponding texts of the lake.
VALUES: dict[str, dict[str | None, str | None]] = {
    "string": {"a b": "a b", "x/y=%:ü北\n'": "x/y=%:ü北\n'", "": None, None: None},
    "long": {"-7": "-7", "9223372036854775807": "9223372036854775807", None: None},
    "boolean": {"true": "true", "false": "false", "": None},
    "date": {"2024-02-29": "2024-02-29", "0001-01-01": "0001-01-01"},
    "decimal(5,2)": {"1.5": "1.50", "-999.99": "-999.99"},
    "double": {"NaN": "nan", "-Infinity": "-inf", "0.1": "0.1"},
    "timestamp": {
        "2024-01-31 12:00:00": "2024-01-31 12:00:00+00",
        "2024-01-31T12:00:00.000001Z": "2024-01-31 12:00:00.000001+00",
    },
    "timestamp_ntz": {"2024-01-31 12:00:00.5": "2024-01-31 12:00:00.5"},
    "binary": {"ab": "ab", "\\u0000\\u00FF": "\\x00\\xFF"},
}
_NAMES = ("plain", "with space", "per%25cent", "ünï北", "plus+and&", "hash#mark?", "p=a%2Fb/x")
_RELATIVE: tuple[Callable[[str], str], ...] = (
    quote,
    lambda path: quote(path, safe=""),
    lambda path: "".join(f"%{one:02x}" for one in path.encode()),
    lambda path: f"./{quote(path)}",
)
_ABSOLUTE = ("", "file:", "file://")


@dataclass(frozen=True, slots=True)
class File:
    """A file of the table, by its path in the file system."""

    path: str
    is_absolute: bool
    values: dict[str, str | None]

    def spell(self, way: int) -> str:
        """Return the path in one of the spellings that a log may use."""
        if self.is_absolute:
            return _ABSOLUTE[way % len(_ABSOLUTE)] + quote(self.path)
        return _RELATIVE[way % len(_RELATIVE)](self.path)


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """The expected state at a version."""

    time: int
    deleted: dict[int, int]  # live files, with their numbers of deleted rows
    actions: tuple[Body, ...]  # the state as a checkpoint records it


class RandomLog:
    """A log that is written version by version, as drawn by a strategy."""

    def __init__(self, log: HandWrittenLog, draw: Callable[[Any], Any]) -> None:
        self._log = log
        self._draw = draw
        kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=3, unique=True))
        self.keys = {f"p{number} ü": kind for number, kind in enumerate(kinds)}
        self.files: list[File] = []
        self.truths: list[ExpectedVersion] = []
        self._vectors: dict[int, Body] = {}  # of live files; {} without one
        self._adds: dict[int, Body] = {}  # the last add of each file
        self._columns = 1
        self._txns: dict[str, Body] = {}

    # Versions

    def add_version(self) -> None:
        """Write the next version."""
        number, actions, touched = len(self.truths), [], set[int]()
        kinds = self._draw(st.lists(st.sampled_from(_STEPS), max_size=4))
        for step in kinds:
            actions += step(self, touched)
        if number == 0 or self._draw(st.integers(0, 4)) == 0:
            self._columns += self._draw(st.booleans())
            actions += [PROTOCOL, self.metadata()]
        time = self._draw(st.integers(1, 50))
        is_exact = self._draw(st.booleans())
        more = {"inCommitTimestamp": time} if is_exact else {}
        actions.append(commit_info(time + 3 * is_exact, **more))
        self._log.commit(number, *self._draw(st.permutations(actions)))
        before = self.truths[-1].time if self.truths else -1
        deleted = {one: self._draw_deletes(one) for one in self._vectors}
        state = (PROTOCOL, self.metadata(), *self._txns.values(), *self._adds.values())
        self.truths.append(ExpectedVersion(max(time, before + 1), deleted, state))

    def metadata(self) -> Body:
        """Return the current metadata of the table."""
        types = {f"c{number}": "long" for number in range(self._columns)} | self.keys
        fields = [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in types.items()
        ]
        return {
            "metaData": {
                "id": "one",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": list(self.keys),
                "configuration": {},
            }
        }

    def _draw_deletes(self, file: int) -> int:
        vector = self._vectors[file].get("deletionVector")
        return 0 if vector is None else int(vector["cardinality"])

    def _spell_path(self, file: int) -> str:
        return self.files[file].spell(self._draw(st.integers(0, 11)))

    def _add_body(self, file: int, vector: Body) -> Body:
        of = {"partitionValues": self.files[file].values, "stats": f'{{"numRecords":{ROWS}}}'}
        actions = add(self._spell_path(file), **of, **vector)
        self._vectors[file], self._adds[file] = vector, actions
        return actions

    def _remove_body(self, file: int) -> Body:
        del self._adds[file]
        return remove(self._spell_path(file), **self._vectors.pop(file))

    def _choose_file(self, touched: set[int]) -> int | None:
        left = sorted(self._vectors.keys() - touched)
        if not left:
            return None
        file: int = self._draw(st.sampled_from(left))
        touched.add(file)
        return file

    # Steps of a version

    def add(self, touched: set[int]) -> list[Body]:
        """Add a new file."""
        file = len(self.files)
        name = f"{self._draw(st.sampled_from(_NAMES))}-{file}"
        is_absolute = self._draw(st.integers(0, 3)) == 0
        values = {
            key: self._draw(st.sampled_from(sorted(VALUES[kind], key=str)))
            for key, kind in self.keys.items()
        }
        path = f"{self._log.root.parent}/else where/{name}" if is_absolute else name
        self.files.append(File(path, is_absolute, values))
        touched.add(file)
        return [self._add_body(file, {})]

    def remove(self, touched: set[int]) -> list[Body]:
        """Remove a live file."""
        file = self._choose_file(touched)
        return [] if file is None else [self._remove_body(file)]

    def delete_rows(self, touched: set[int]) -> list[Body]:
        """Change the deleted rows of a file, possibly to none."""
        file = self._choose_file(touched)
        if file is None:
            return []
        rows = self._draw(st.lists(st.integers(0, ROWS - 1), max_size=4, unique=True))
        vector = inline_vector(sorted(rows))
        fields = {
            "storageType": vector.storage_type,
            "pathOrInlineDv": vector.path_or_inline,
            "sizeInBytes": vector.size_in_bytes,
            "cardinality": vector.cardinality,
        }
        actions = {"deletionVector": fields} if rows else {}
        if actions == self._vectors[file]:
            return []
        return [self._remove_body(file), self._add_body(file, actions)]

    def add_again(self, touched: set[int]) -> list[Body]:
        """Add a live file again."""
        file = self._choose_file(touched)
        return [] if file is None else [self._add_body(file, self._vectors[file])]

    def remove_nothing(self, touched: set[int]) -> list[Body]:
        """Remove a file that is not live, or a live one under another deletion vector."""
        gone = [one for one in range(len(self.files)) if one not in touched]
        if not gone:
            return []
        file = self._draw(st.sampled_from(gone))
        touched.add(file)
        other = inline_vector([9, 99]).path_or_inline
        fields = {"storageType": "i", "pathOrInlineDv": other, "sizeInBytes": 1, "cardinality": 2}
        return [remove(self._spell_path(file), deletionVector=fields)]

    def add_unrelated_actions(self, touched: set[int]) -> list[Body]:
        """Return actions that concern no file."""
        if _HAS_MORE in touched:
            return []
        touched.add(_HAS_MORE)
        self._txns["a"] = {"txn": {"appId": "a", "version": len(self.truths)}}
        cdc: Body = {"cdc": {"path": "c", "partitionValues": {}, "size": 1}}
        return [self._txns["a"], {"news": {"of": 1}}, cdc]

    # Checkpoints

    def checkpoint(self, version: int) -> None:
        """Write a checkpoint of a random kind."""
        kind = self._draw(st.sampled_from(("classic", "parts", "parquet", "json")))
        actions = self.truths[version].actions
        if kind == "classic":
            self._log.checkpoint(version, *actions)
        elif kind == "parts":
            for part in (0, 1):
                infix = f".{part + 1:010d}.{2:010d}"
                self._log.checkpoint(version, *actions[part::2], infix=infix)
        else:
            self._write_v2_checkpoint(version, actions, kind)

    def _write_v2_checkpoint(self, version: int, actions: tuple[Body, ...], kind: str) -> None:
        """Write a V2 checkpoint with sidecars."""
        adds = tuple(one for one in actions if "add" in one)
        facts = [one for one in actions if "add" not in one]
        for number in (0, 1):
            name = f"{version}-{number}.parquet"
            path = self._log.parquet(f"_sidecars/{name}", adds[number::2])
            size = path.stat().st_size
            sidecar = {"path": name, "sizeInBytes": size, "modificationTime": 1}
            facts.append({"sidecar": sidecar})
        if kind == "parquet":
            self._log.checkpoint(version, *facts, infix=f".{UUID(int=version)}")
        else:
            facts.append({"checkpointMetadata": {"version": version}})
            text = "\n".join(map(json.dumps, facts))
            self._log.file(f"{version:020d}.checkpoint.{UUID(int=version)}.json", text)

    def clean_up(self, version: int, *, with_own: bool) -> None:
        """Remove the commits before a checkpoint, optionally with the commit of its own version."""
        for path in self._log.folder.iterdir():
            if path.is_file():
                number = int(path.name[:20])
                is_own = number == version and with_own and len(path.name) == 25
                if number < version or is_own:
                    path.unlink()


_STEPS = (
    RandomLog.add,
    RandomLog.add,
    RandomLog.remove,
    RandomLog.delete_rows,
    RandomLog.add_again,
    RandomLog.remove_nothing,
    RandomLog.add_unrelated_actions,
)


def full_paths(story: RandomLog, root: str) -> Iterator[str]:
    """Yield the full paths of the files, in the order of their numbers."""
    yield from (one.path if one.is_absolute else f"{root}/{one.path}" for one in story.files)
