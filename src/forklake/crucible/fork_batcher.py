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
_MOST_WORKERS = 2
_PATIENCE = 0.01


@dataclass(frozen=True, slots=True)
class _QueuedRequest:
    """One waiting request, and the future for its result."""

    request: ForkRequest
    future: asyncio.Future[list[CatalogRow]]


@dataclass(frozen=True, slots=True)
class _BatchKey:
    """What requests must have in common to be handled in one transaction."""

    access: Access
    caller: Caller
    request: ForkRequest  # without names


@dataclass(slots=True)
class _Queue:
    """Queued requests, the number of running workers, and whether another is scheduled."""

    waiting: list[_QueuedRequest] = field(default_factory=list)
    workers: int = 0
    is_timed: bool = False


class ForkBatcher:
    """Queues of fork requests of one service. Use it from one event loop only."""

    def __init__(self) -> None:
        self._queues: dict[_BatchKey, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def fork(self, access: Access, caller: Caller, request: ForkRequest) -> list[CatalogRow]:
        """Create forks and return their rows. Raise AlreadyExists if one of the names exists."""
        loop = asyncio.get_running_loop()
        key = _BatchKey(access, caller, replace(request, names=()))
        queued = _QueuedRequest(request, loop.create_future())
        queue = self._queues.setdefault(key, _Queue())
        queue.waiting.append(queued)
        if not queue.workers:
            self._start_worker(key, queue)
        elif queue.workers < _MOST_WORKERS and not queue.is_timed:
            queue.is_timed = True
            loop.call_later(_PATIENCE, self._start_worker, key, queue)
        return await queued.future

    def _start_worker(self, key: _BatchKey, queue: _Queue) -> None:
        queue.is_timed = False
        if not queue.waiting:
            return
        queue.workers += 1
        task = asyncio.get_running_loop().create_task(self._run_worker(key, queue))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run_worker(self, key: _BatchKey, queue: _Queue) -> None:
        while queue.waiting:
            batch, queue.waiting = _split_batch(queue.waiting)
            try:
                found = await to_thread.run_sync(_fork_batch, key, batch)
            except Exception as error:  # noqa: BLE001 - every request in the batch gets the error
                found = [error] * len(batch)
            for one, result in zip(batch, found, strict=True):
                _set_result(one.future, result)
        queue.workers -= 1
        if not queue.workers:
            self._queues.pop(key, None)


def _split_batch(
    waiting: list[_QueuedRequest],
) -> tuple[list[_QueuedRequest], list[_QueuedRequest]]:
    """Split the queue into the next batch and the requests that do not fit into it."""
    size = 0
    for place, one in enumerate(waiting):
        size += len(one.request.names)
        if place and size > _MOST:
            return waiting[:place], waiting[place:]
    return waiting, []


def _set_result(
    future: asyncio.Future[list[CatalogRow]], result: list[CatalogRow] | Exception
) -> None:
    if future.done():
        return  # the client has disconnected
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)


def _fork_batch(
    key: _BatchKey, batch: Sequence[_QueuedRequest]
) -> list[list[CatalogRow] | Exception]:
    """Return a result or error for each request: from one transaction, or if it fails one each."""
    try:
        rows = iter(_fork(key, [name for one in batch for name in one.request.names]))
    except ForklakeError as error:
        if len(batch) == 1:
            return [error]
        return [found for one in batch for found in _fork_batch(key, [one])]
    return [[next(rows) for _ in one.request.names] for one in batch]


def _fork(key: _BatchKey, names: Sequence[str]) -> list[CatalogRow]:
    return key.access.catalogs.fork(key.caller, replace(key.request, names=names)).rows
