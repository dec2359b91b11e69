"""The load on the service: a process that asks for forks and notes how long each takes.

Told what to do by a JSON document on stdin, it answers with one on stdout. It writes its requests
by hand: a library would take more of the machine than the service does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import count
from typing import Any
from urllib.parse import quote, urlsplit

import uvloop

from benchmarks.figures import percentile


class Load:
    """Connections that ask for forks, one request after another, at a common pace."""

    def __init__(self, said: dict[str, Any]) -> None:
        self._said = said
        self._numbers = count()
        self._begin = 0.0
        self.times: list[float] = []
        self.errors = 0

    async def run(self) -> float:
        """Load the service; for how long."""
        self._begin = time.perf_counter()
        await asyncio.gather(*(self._connection() for _ in range(self._said["connections"])))
        return time.perf_counter() - self._begin

    async def _connection(self) -> None:
        address = urlsplit(self._said["address"])
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        while True:
            number = next(self._numbers)
            due = self._begin
            if self._said["rate"]:
                due += number / self._said["rate"]
                await asyncio.sleep(due - time.perf_counter())
            if time.perf_counter() - self._begin >= self._said["seconds"]:
                break
            # At a given pace a request counts from when it was due: waiting is part of it.
            began = due if self._said["rate"] else time.perf_counter()
            writer.write(self._request(number))
            status = await _answer(reader)
            self.times.append(time.perf_counter() - began)
            self.errors += status != 201
        writer.close()

    def _request(self, number: int) -> bytes:
        body = json.dumps({"name": f"{self._said['prefix']}-{number}"})
        return (
            f"POST /v1/catalogs/{quote(self._said['parent'])}/forks HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {self._said['key']}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])


def main() -> None:
    """Load the service as told."""
    load = Load(json.load(sys.stdin))
    duration = uvloop.run(load.run())
    found = {
        "count": len(load.times),
        "duration": duration,
        "p50": percentile(load.times, 50),
        "p99": percentile(load.times, 99),
        "errors": load.errors,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
