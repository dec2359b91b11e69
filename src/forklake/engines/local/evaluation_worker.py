"""Program of a child process that evaluates constant expressions within resource limits.

It is started by path and imports nothing of Forklake, so that it starts quickly. A request is a
length and a query; an answer is a status byte, whether the process is spent, a length, and Arrow
IPC or an error message. A spent process keeps memory that the next expression would lack.
"""

from __future__ import annotations

import os
import resource
import struct
import sys

OK, FAILED, TOO_LARGE = b"+", b"-", b">"
_SPENT = 32 * 2**20  # bytes that the address space has grown by
_NICENESS = 10  # other statements are planned first
_BATCH = 2048  # rows; for a million, each column would take 8 MB at once


def main(address_space: int, cpu_seconds: int, most_bytes: int) -> None:
    """Answer queries from standard input until its end."""
    import duckdb
    import pyarrow  # noqa: F401 - loaded before files and memory are limited

    database = duckdb.connect(config={"threads": 1})
    database.execute(
        "SET memory_limit = '512MB'; SET TimeZone = 'UTC';"
        " SET enable_external_access = false; SET lock_configuration = true"
    )
    database.execute("SELECT 1").to_arrow_table()
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_NICENESS)
    begin = _address_space()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(4)) == 4:
        query = requests.read(struct.unpack(">I", head)[0]).decode()
        _limit_time(cpu_seconds)
        status, content = _answer(database.cursor(), query, most_bytes)
        is_spent = _address_space() - begin > _SPENT
        answers.write(status + struct.pack(">?I", is_spent, len(content)))
        answers.write(content)
        answers.flush()


def _address_space() -> int:
    """Return how many bytes the process has; 0 on systems that do not limit them."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _limit_time(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _answer(cursor: object, query: str, most_bytes: int) -> tuple[bytes, bytes]:
    import duckdb
    import pyarrow as pa

    try:
        found = cursor.execute(query).to_arrow_table(_BATCH)  # type: ignore[attr-defined]
        if found.nbytes > most_bytes:
            return TOO_LARGE, str(found.nbytes).encode()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, found.schema) as writer:
            writer.write_table(found)
        return OK, sink.getvalue().to_pybytes()
    except (duckdb.Error, pa.ArrowException) as reason:
        return FAILED, str(reason).encode()
    except MemoryError:
        return FAILED, b"Out of Memory Error: the expression takes too much memory."


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:]))
