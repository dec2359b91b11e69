"""Forks that are asked for at the same moment are made together.

A transaction costs about the same for one fork as for a hundred. While some are under way, further
requests of the same kind (who asks, what is forked, and how) wait, and go into the next one
together. A lot that fails is tried one request at a time, so that each gets its own answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from anyio import to_thread

from forklake.access.access import Access
from forklake.access.callers import Caller
from forklake.errors import ForklakeError
from forklake.store.catalogs import CatalogRow

# A lot is one transaction; this many names keep it short.
_MOST = 1000
# Lots of one kind at a time: a second one begins when the first keeps others waiting for so long.
_LANES = 2
_PATIENCE = 0.01


@dataclass(frozen=True, slots=True)
class Wish:
    """What requests must have in common to be done together."""

    caller: Caller
    parent: str
    at: int | None
    mode: str
    ttl: timedelta | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request: the names it wants, and where its answer goes."""

    names: Sequence[str]
    answer: asyncio.Future[list[CatalogRow]]


@dataclass(slots=True)
class _Queue:
    """Those who wait, how many lots are under way, and whether another one may begin soon."""

    waiting: list[_Asked] = field(default_factory=list)
    lanes: int = 0
    is_timed: bool = False


class Gathering:
    """The requests of one service. Belongs to its event loop."""

    def __init__(self) -> None:
        self._queues: dict[Wish, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def fork(self, access: Access, wish: Wish, names: Sequence[str]) -> list[CatalogRow]:
        """The forks of these names, none of which may be there."""
        loop = asyncio.get_running_loop()
        asked = _Asked(names, loop.create_future())
        queue = self._queues.setdefault(wish, _Queue())
        queue.waiting.append(asked)
        if not queue.lanes:
            self._open_lane(access, wish, queue)
        elif queue.lanes < _LANES and not queue.is_timed:
            queue.is_timed = True
            loop.call_later(_PATIENCE, self._open_lane, access, wish, queue)
        return await asked.answer

    def _open_lane(self, access: Access, wish: Wish, queue: _Queue) -> None:
        queue.is_timed = False
        if not queue.waiting:
            return
        queue.lanes += 1
        task = asyncio.get_running_loop().create_task(self._work(access, wish, queue))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, access: Access, wish: Wish, queue: _Queue) -> None:
        while queue.waiting:
            lot, queue.waiting = _cut(queue.waiting)
            try:
                found = await to_thread.run_sync(_forked, access, wish, lot)
            except Exception as error:  # noqa: BLE001 - all of them are told
                found = [error] * len(lot)
            for asked, result in zip(lot, found, strict=True):
                _tell(asked.answer, result)
        queue.lanes -= 1
        if not queue.lanes:
            self._queues.pop(wish, None)


def _cut(waiting: list[_Asked]) -> tuple[list[_Asked], list[_Asked]]:
    """The next lot, and those that it has no room for."""
    size = 0
    for place, asked in enumerate(waiting):
        size += len(asked.names)
        if place and size > _MOST:
            return waiting[:place], waiting[place:]
    return waiting, []


def _tell(answer: asyncio.Future[list[CatalogRow]], result: list[CatalogRow] | Exception) -> None:
    if answer.done():
        return  # whoever asked is gone
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def _forked(
    access: Access, wish: Wish, lot: Sequence[_Asked]
) -> list[list[CatalogRow] | Exception]:
    """What becomes of each request, together if that goes well."""
    if len(lot) > 1:
        try:
            made = _fork(access, wish, [name for asked in lot for name in asked.names])
        except ForklakeError:
            return [one for asked in lot for one in _forked(access, wish, [asked])]
        rows = iter(made)
        return [[next(rows) for _ in asked.names] for asked in lot]
    try:
        return [_fork(access, wish, lot[0].names)]
    except ForklakeError as error:
        return [error]


def _fork(access: Access, wish: Wish, names: Sequence[str]) -> list[CatalogRow]:
    rows, _ = access.fork(wish.caller, wish.parent, names, at=wish.at, mode=wish.mode, ttl=wish.ttl)
    return rows
