"""Virtual columns: facts about rows that are not columns of their table."""

from __future__ import annotations

VIRTUAL = ("rowid", "snapshot_id", "filename", "file_row_number", "file_index")
