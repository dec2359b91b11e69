"""Results of statements, retained so that clients can read them page by page.

Small results stay in memory. Large ones are in a memory-mapped Arrow file, so that a session uses
little memory regardless of the size of its results.
"""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pyarrow as pa

IN_MEMORY = 2**20  # bytes; larger results are written to a file
PAGE_BYTES = 16 * 2**20  # maximum size of a page in Arrow; as JSON it is several times larger


class Spool:
    """Temporary folder for the results of all sessions, created on first use."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def new_file(self) -> Path:
        """Create an empty file and return its path."""
        with self._guard:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="forklake-rows-")
            handle, path = tempfile.mkstemp(suffix=".arrow", dir=self._folder.name)
        os.close(handle)
        return Path(path)

    def close(self) -> None:
        """Delete the folder and its contents."""
        with self._guard:
            if self._folder is not None:
                self._folder.cleanup()
            self._folder = None


class Rows:
    """Rows of a result: an Arrow table in memory or in a memory-mapped file."""

    def __init__(self, table: pa.Table, schema: pa.Schema, path: Path | None = None) -> None:
        self._table = table
        self._path = path
        self.schema = schema
        self.count: int = table.num_rows
        self.bytes: int = table.nbytes

    def page(self, offset: int, limit: int) -> pa.Table:
        """Return a page of rows: at least one, but fewer than `limit` if they are large."""
        found = self._table.slice(offset, limit)
        while found.num_rows > 1 and found.nbytes > PAGE_BYTES:
            found = found.slice(0, found.num_rows // 2)
        return found.cast(self.schema)

    def drop(self) -> None:
        """Delete the rows. Pages that are being read stay valid."""
        self._table = self.schema.empty_table()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
