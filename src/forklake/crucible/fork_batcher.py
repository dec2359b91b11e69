"""Batching of concurrent fork requests into shared transactions.

A transaction costs about the same for one fork as for a hundred. While transactions are running,
further requests with the same parameters (caller, parent, mode …) are queued and then handled in
one transaction. If a batch fails, its requests are executed one at a time, so that each gets its
own result or error.
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

# Maximum number of forks in one transaction, which keeps transactions short.
_MOST = 1000
# Concurrent transactions with the same parameters. A second one starts if requests have waited for
# _PATIENCE seconds.
_LANES = 2
_PATIENCE = 0.01


@dataclass(frozen=True, slots=True)
class Wish:
    """Parameters that requests must share to be handled in one transaction."""

    caller: Caller
    parent: str
    at: int | None
    mode: str
    ttl: timedelta | None


@dataclass(frozen=True, slots=True)
class _ForkRequest:
    """One request: the names of its forks, and the future for its result."""

    names: Sequence[str]
    answer: asyncio.Future[list[CatalogRow]]


@dataclass(slots=True)
class _Queue:
    """Queued requests, the number of running workers, and whether another is scheduled."""

    waiting: list[_ForkRequest] = field(default_factory=list)
    lanes: int = 0
    is_timed: bool = False


class Gathering:
    """Queues of fork requests of one service. Use it from one event loop only."""

    def __init__(self) -> None:
        self._queues: dict[Wish, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def fork(self, access: Access, wish: Wish, names: Sequence[str]) -> list[CatalogRow]:
        """Create forks and return their rows. Raise AlreadyExists if one of the names exists."""
        loop = asyncio.get_running_loop()
        request = _ForkRequest(names, loop.create_future())
        queue = self._queues.setdefault(wish, _Queue())
        queue.waiting.append(request)
        if not queue.lanes:
            self._open_lane(access, wish, queue)
        elif queue.lanes < _LANES and not queue.is_timed:
            queue.is_timed = True
            loop.call_later(_PATIENCE, self._open_lane, access, wish, queue)
        return await request.answer

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
            batch, queue.waiting = _split_batch(queue.waiting)
            try:
                found = await to_thread.run_sync(_fork_batch, access, wish, batch)
            except Exception as error:  # noqa: BLE001 - every request in the batch gets the error
                found = [error] * len(batch)
            for request, result in zip(batch, found, strict=True):
                _set_result(request.answer, result)
        queue.lanes -= 1
        if not queue.lanes:
            self._queues.pop(wish, None)


def _split_batch(waiting: list[_ForkRequest]) -> tuple[list[_ForkRequest], list[_ForkRequest]]:
    """Split the queue into the next batch and the requests that do not fit into it."""
    size = 0
    for place, request in enumerate(waiting):
        size += len(request.names)
        if place and size > _MOST:
            return waiting[:place], waiting[place:]
    return waiting, []


def _set_result(
    answer: asyncio.Future[list[CatalogRow]], result: list[CatalogRow] | Exception
) -> None:
    if answer.done():
        return  # the client has disconnected
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def _fork_batch(
    access: Access, wish: Wish, batch: Sequence[_ForkRequest]
) -> list[list[CatalogRow] | Exception]:
    """Return a result or error for each request: from one transaction, or if it fails one each."""
    if len(batch) > 1:
        try:
            made = _fork(access, wish, [name for request in batch for name in request.names])
        except ForklakeError:
            return [one for request in batch for one in _fork_batch(access, wish, [request])]
        rows = iter(made)
        return [[next(rows) for _ in request.names] for request in batch]
    try:
        return [_fork(access, wish, batch[0].names)]
    except ForklakeError as error:
        return [error]


def _fork(access: Access, wish: Wish, names: Sequence[str]) -> list[CatalogRow]:
    rows, _ = access.catalogs.fork(
        wish.caller, wish.parent, names, at=wish.at, mode=wish.mode, ttl=wish.ttl
    )
    return rows
