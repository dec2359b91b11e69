"""Worker processes: their context, journal and clock.

A worker can be killed at any time, so it writes each operation to its journal, one line each,
before it does anything else. Deadlines are times of the monotonic clock, which all processes of a
machine share; the wall clock of a worker may be wrong on purpose.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any, Protocol, TypeVar

from tests.fix_metastore import Place

from forklake import Catalog, Metastore
from forklake.errors import Conflict, Unavailable

T = TypeVar("T")
# Errors that faults and concurrent transactions cause. A later operation may succeed.
EXPECTED = (Conflict, Unavailable, OSError)
_PAUSE_SECONDS = 0.05


class Role(Protocol):
    """Work of a worker until its time is over or the work is done. Must be picklable."""

    def __call__(self, worker: Worker) -> None: ...


@dataclass(frozen=True)
class Worker:
    """Context of one process: its number in the crew, and how often it was replaced (`life`)."""

    number: int
    life: int
    journal: Path
    until: float
    clock_error: timedelta = field(default_factory=timedelta)
    seed: str = ""

    @cached_property
    def random(self) -> Random:
        """Random generator of this worker."""
        return Random(f"{self.seed}-{self.name}")

    @property
    def name(self) -> str:
        """Name that is unique in the crew, also after a replacement."""
        return f"{self.number}.{self.life}"

    def turns(self) -> Iterator[int]:
        """Yield 0, 1, 2 … until the deadline."""
        count = 0
        while time.monotonic() < self.until:
            yield count
            count += 1

    def note(self, kind: str, **facts: Any) -> None:
        """Write a line to the journal. Wait while the disk is full."""
        left = (json.dumps({"kind": kind, "worker": self.name, **facts}) + "\n").encode()
        while left:
            try:
                left = left[os.write(self._file, left) :]
            except OSError:
                time.sleep(_PAUSE_SECONDS)

    @cached_property
    def _file(self) -> int:
        return os.open(self.journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def attempt(self, kind: str, action: Callable[[], T], **facts: Any) -> T | None:
        """Run an action and record its outcome. Return None after an expected error."""
        began = time.monotonic()
        result = None
        try:
            result = action()
            facts |= {"outcome": "ok", "result": result if isinstance(result, int | str) else None}
        except EXPECTED as error:
            facts |= {"outcome": type(error).__name__, "error": str(error)[:200]}
        self.note(kind, at=began, seconds=time.monotonic() - began, **facts)
        return result

    def persist(self, kind: str, action: Callable[[], T], **facts: Any) -> T:
        """Repeat an action until it succeeds. Raise TimeoutError after 600 attempts."""
        for _ in range(600):
            if (result := self.attempt(kind, action, **facts)) is not None:
                return result
            time.sleep(_PAUSE_SECONDS)
        raise TimeoutError(f"{kind} does not succeed")

    @contextmanager
    def opened(self, place: Place) -> Iterator[Metastore]:
        """Open the metastore as soon as it is available."""
        found = self.persist("open", place.open)
        with found:
            yield found

    def catalog(self, metastore: Metastore, name: str) -> Catalog:
        """Return a catalog as soon as it can be read."""
        return self.persist("find", partial(metastore.catalog, name))


def keep_quiet() -> None:
    """Silence libraries that log connections which faults break on purpose."""
    for name in ("asyncio", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def work(role: Role, worker: Worker) -> None:
    """Run a role; entry point of worker processes."""
    keep_quiet()
    if worker.clock_error:
        shift_clock(worker.clock_error)
    try:
        role(worker)
    except BaseException:
        worker.note("crash", error=traceback.format_exc())
        raise


def shift_clock(error: timedelta) -> None:
    """Make the wall clock of this process wrong: replace `datetime` in modules of Forklake."""

    class Wrong(datetime, metaclass=_LikeDatetime):
        def __new__(cls, *parts: Any, **named: Any) -> datetime:  # type: ignore[misc]
            return datetime(*parts, **named)  # noqa: DTZ001 (as the caller passes it)

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + error

    for name, module in list(sys.modules.items()):
        if name.startswith("forklake.") and getattr(module, "datetime", None) is datetime:
            module.datetime = Wrong  # type: ignore[attr-defined]


class _LikeDatetime(type):
    """Metaclass that treats every datetime as an instance of the class."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, datetime)
