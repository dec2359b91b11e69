"""Load generator for the service: a process that requests forks and measures their latency.

It reads its settings as a JSON document from stdin and prints its results as one. It composes HTTP
requests by hand: a client library would need more CPU time than the service.
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
    """Connections that request forks one after another, at a common rate."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._numbers = count()
        self._begin = 0.0
        self.times: list[float] = []
        self.errors = 0

    async def run(self) -> float:
        """Send requests; return the duration in seconds."""
        self._begin = time.perf_counter()
        await asyncio.gather(*(self._connection() for _ in range(self._settings["connections"])))
        return time.perf_counter() - self._begin

    async def _connection(self) -> None:
        address = urlsplit(self._settings["address"])
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        while True:
            number = next(self._numbers)
            due = self._begin
            if self._settings["rate"]:
                due += number / self._settings["rate"]
                await asyncio.sleep(due - time.perf_counter())
            if time.perf_counter() - self._begin >= self._settings["seconds"]:
                break
            # At a fixed rate, latency is measured from the time when the request was due.
            began = due if self._settings["rate"] else time.perf_counter()
            writer.write(self._request(number))
            status = await _answer(reader)
            self.times.append(time.perf_counter() - began)
            self.errors += status != 201
        writer.close()

    def _request(self, number: int) -> bytes:
        body = json.dumps({"name": f"{self._settings['prefix']}-{number}"})
        return (
            f"POST /v1/catalogs/{quote(self._settings['parent'])}/forks HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {self._settings['key']}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])


def main() -> None:
    """Read the settings, send the load, and print the results."""
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
