"""A job for many processes at once, apart from tests, so that a process loads little."""

from __future__ import annotations

from forklake.files.putting import put_if_absent
from tests.concurrency.processes import Start


def contents(writer: int) -> bytes:
    """What a writer puts into its files."""
    return f"writer {writer}\n".encode() * 1000


def put_all(folder: str, writer: int, count: int, start: Start) -> list[int]:
    """Put a file of each number, and tell which of them were won."""
    start()
    data = contents(writer)
    return [number for number in range(count) if put_if_absent(f"{folder}/{number}", data)]
