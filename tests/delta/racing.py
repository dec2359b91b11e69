"""Job for many concurrent processes, in its own module so that each process imports little."""

from __future__ import annotations

from forklake.files.conditional_put import put_if_absent
from tests.concurrency.processes import Start


def contents(writer: int) -> bytes:
    """Return the contents of a writer's files."""
    return f"writer {writer}\n".encode() * 1000


def put_all(folder: str, writer: int, count: int, start: Start) -> list[int]:
    """Put files with numbers as names, and return the numbers that this writer created."""
    start()
    data = contents(writer)
    return [number for number in range(count) if put_if_absent(f"{folder}/{number}", data)]
