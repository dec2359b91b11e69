"""Batching of concurrent fork requests into shared transactions.

A transaction costs about the same for one fork as for a hundred. While transactions are running,
further requests with the same parameters (caller, parent, mode …) are queued and then handled in
one transaction. If a batch fails, its requests are executed one at a time, so that each gets its
own result or error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from forklake.access.access import Access
from forklake.access.callers import Caller
from forklake.errors import ForklakeError
from forklake.model.requests import ForkRequest
from forklake.store.catalogs import CatalogRow

# Maximum number of forks in one transaction, which keeps transactions short.
_MOST = 1000
# Concurrent transactions with the same parameters. A second one starts if requests have waited for
# _PATIENCE seconds.
_LANES = 2
_PATIENCE = 0.01


@dataclass(frozen=True, slots=True)
class _Waiting:
    """One waiting request, and the future for its result."""

    request: ForkRequest
    answer: asyncio.Future[list[CatalogRow]]


@dataclass(frozen=True, slots=True)
class _Shared:
    """What requests must have in common to be handled in one transaction."""

    access: Access
    caller: Caller
    request: ForkRequest  # without names


@dataclass(slots=True)
class _Queue:
    """Queued requests, the number of running workers, and whether another is scheduled."""

    waiting: list[_Waiting] = field(default_factory=list)
    lanes: int = 0
    is_timed: bool = False


class Gathering:
    """Queues of fork requests of one service. Use it from one event loop only."""

    def __init__(self) -> None:
        self._queues: dict[_Shared, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def fork(self, access: Access, caller: Caller, request: ForkRequest) -> list[CatalogRow]:
        """Create forks and return their rows. Raise AlreadyExists if one of the names exists."""
        loop = asyncio.get_running_loop()
        shared = _Shared(access, caller, replace(request, names=()))
        one = _Waiting(request, loop.create_future())
        queue = self._queues.setdefault(shared, _Queue())
        queue.waiting.append(one)
        if not queue.lanes:
            self._open_lane(shared, queue)
        elif queue.lanes < _LANES and not queue.is_timed:
            queue.is_timed = True
            loop.call_later(_PATIENCE, self._open_lane, shared, queue)
        return await one.answer

    def _open_lane(self, shared: _Shared, queue: _Queue) -> None:
        queue.is_timed = False
        if not queue.waiting:
            return
        queue.lanes += 1
        task = asyncio.get_running_loop().create_task(self._work(shared, queue))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, shared: _Shared, queue: _Queue) -> None:
        while queue.waiting:
            batch, queue.waiting = _split_batch(queue.waiting)
            try:
                found = await to_thread.run_sync(_fork_batch, shared, batch)
            except Exception as error:  # noqa: BLE001 - every request in the batch gets the error
                found = [error] * len(batch)
            for one, result in zip(batch, found, strict=True):
                _set_result(one.answer, result)
        queue.lanes -= 1
        if not queue.lanes:
            self._queues.pop(shared, None)


def _split_batch(waiting: list[_Waiting]) -> tuple[list[_Waiting], list[_Waiting]]:
    """Split the queue into the next batch and the requests that do not fit into it."""
    size = 0
    for place, one in enumerate(waiting):
        size += len(one.request.names)
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


def _fork_batch(shared: _Shared, batch: Sequence[_Waiting]) -> list[list[CatalogRow] | Exception]:
    """Return a result or error for each request: from one transaction, or if it fails one each."""
    try:
        rows = iter(_fork(shared, [name for one in batch for name in one.request.names]))
    except ForklakeError as error:
        if len(batch) == 1:
            return [error]
        return [found for one in batch for found in _fork_batch(shared, [one])]
    return [[next(rows) for _ in one.request.names] for one in batch]


def _fork(shared: _Shared, names: Sequence[str]) -> list[CatalogRow]:
    return shared.access.catalogs.fork(shared.caller, replace(shared.request, names=names)).rows
