"""Workers: what a process of the suite has in its hands while it does its role.

A worker may be killed at any moment, so all that it did is in its journal, one line an operation,
written before anything else happens. Deadlines are moments of the machine's monotonic clock, which
all processes share; its wall clock may be set wrong on purpose.
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
# What faults and rivals cause: an operation ends so, and the next one may go well.
EXPECTED = (Conflict, Unavailable, OSError)
_PAUSE_SECONDS = 0.05


class Role(Protocol):
    """What a worker does until its time is over or its work is done. It can be pickled."""

    def __call__(self, worker: Worker) -> None: ...


@dataclass(frozen=True)
class Worker:
    """One process; `number` is its place in the crew, `life` tells those in one place apart."""

    number: int
    life: int
    journal: Path
    until: float
    clock_error: timedelta = field(default_factory=timedelta)
    seed: str = ""

    @cached_property
    def random(self) -> Random:
        """Its own dice."""
        return Random(f"{self.seed}-{self.name}")

    @property
    def name(self) -> str:
        """A name that no other worker of the crew ever has."""
        return f"{self.number}.{self.life}"

    def turns(self) -> Iterator[int]:
        """0, 1, 2 … until the time is over."""
        count = 0
        while time.monotonic() < self.until:
            yield count
            count += 1

    def note(self, kind: str, **facts: Any) -> None:
        """Write a line into the journal, also while the disk is full."""
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
        """Do something and note how it went; None if it failed in a way that is expected."""
        began = time.monotonic()
        result = None
        try:
            result = action()
            facts |= {"outcome": "ok", "result": result if isinstance(result, int | str) else None}
        except EXPECTED as error:
            facts |= {"outcome": type(error).__name__, "told": str(error)[:200]}
        self.note(kind, at=began, seconds=time.monotonic() - began, **facts)
        return result

    def persist(self, kind: str, action: Callable[[], T], **facts: Any) -> T:
        """The same over and over until it goes well or all hope is lost."""
        for _ in range(600):
            if (result := self.attempt(kind, action, **facts)) is not None:
                return result
            time.sleep(_PAUSE_SECONDS)
        raise TimeoutError(f"{kind} never goes well")

    @contextmanager
    def opened(self, place: Place) -> Iterator[Metastore]:
        """The metastore, as soon as it can be reached."""
        found = self.persist("open", place.open)
        with found:
            yield found

    def catalog(self, metastore: Metastore, name: str) -> Catalog:
        """A catalog, as soon as it can be found."""
        return self.persist("find", partial(metastore.catalog, name))


def keep_quiet() -> None:
    """Libraries need not tell of what is broken on purpose."""
    for name in ("asyncio", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def work(role: Role, worker: Worker) -> None:
    """The whole life of a process."""
    keep_quiet()
    if worker.clock_error:
        shift_clock(worker.clock_error)
    try:
        role(worker)
    except BaseException:
        worker.note("crash", told=traceback.format_exc())
        raise


def shift_clock(error: timedelta) -> None:
    """Let this process be wrong about the time: it asks `datetime` in modules of Forklake."""

    class Wrong(datetime, metaclass=_LikeDatetime):
        def __new__(cls, *parts: Any, **named: Any) -> datetime:  # type: ignore[misc]
            return datetime(*parts, **named)  # noqa: DTZ001 (as it was asked for)

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + error

    for name, module in list(sys.modules.items()):
        if name.startswith("forklake.") and getattr(module, "datetime", None) is datetime:
            module.datetime = Wrong  # type: ignore[attr-defined]


class _LikeDatetime(type):
    """Makes all moments instances of a class."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, datetime)
