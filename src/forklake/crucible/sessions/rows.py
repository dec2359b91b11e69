"""The rows that a statement answered, kept to be read by pages.

Few rows stay in memory. Many lie in a file of Arrow's, from which a page is read without the
others; so a session takes little memory, however much its statements answer.
"""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pyarrow as pa

IN_MEMORY = 2**20  # bytes; what is more stays in a file
PAGE_BYTES = 16 * 2**20  # of a page: as JSON it takes several times as many


class Spool:
    """A folder for the rows of all sessions, made when it is first needed."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def new_file(self) -> Path:
        """The path of a new file, which is empty."""
        with self._guard:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="forklake-rows-")
            handle, path = tempfile.mkstemp(suffix=".arrow", dir=self._folder.name)
        os.close(handle)
        return Path(path)

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        with self._guard:
            if self._folder is not None:
                self._folder.cleanup()
            self._folder = None


class Rows:
    """Rows of an answer: a table, in memory or in a file that is mapped."""

    def __init__(self, table: pa.Table, schema: pa.Schema, path: Path | None = None) -> None:
        self._table = table
        self._path = path
        self.schema = schema
        self.count: int = table.num_rows
        self.bytes: int = table.nbytes

    def page(self, offset: int, limit: int) -> pa.Table:
        """Some of the rows: fewer than were asked for if they take much, but one at least."""
        found = self._table.slice(offset, limit)
        while found.num_rows > 1 and found.nbytes > PAGE_BYTES:
            found = found.slice(0, found.num_rows // 2)
        return found.cast(self.schema)

    def drop(self) -> None:
        """Forget them. Whoever reads a page can finish."""
        self._table = self.schema.empty_table()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
