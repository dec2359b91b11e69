"""A catalog and its fork, both attached, with tables of keys and values."""

from __future__ import annotations

from dataclasses import dataclass

from forklake import ColumnSpec, Metastore, Session
from forklake.errors import Conflict
from forklake.merging import Merged, merge_fork
from forklake.model.requests import Choice, MergeRequest

COLUMNS = (ColumnSpec("k", "int32"), ColumnSpec("v", "varchar"))


@dataclass(frozen=True)
class Sides:
    """The session with both sides: parent `sales`, attached as `lake`, and fork, as `fork`."""

    session: Session
    metastore: Metastore

    @classmethod
    def of(cls, lake: Session, *, tables: dict[str, int], rows: int = 8) -> Sides:
        """Create tables with `rows` rows, each with its inlining limit, and fork them."""
        sides = cls(lake, lake.attachment("lake").metastore)
        for name, limit in tables.items():
            lake.create_table(name, COLUMNS)
            lake.attachment("lake").catalog.set_option("data_inlining_row_limit", limit, table=name)
            sides.insert("lake", name, range(rows), "base")
        lake.fork("lake", "agent", attach_as="fork")
        return sides

    def insert(self, side: str, table: str, keys: range | list[int], value: str) -> None:
        """Insert rows."""
        rows = [{"k": key, "v": value} for key in keys]
        if rows:
            self.session.insert(f"{side}.{table}", rows)

    def rows(self, side: str, table: str) -> dict[int, str]:
        """Return all rows by key, after checking that keys and row ids are unique."""
        found = self.session.table(f"{side}.{table}", virtual=["rowid"]).collect()
        assert len({row.k for row in found}) == len({row.rowid for row in found}) == len(found)
        return {row.k: row.v for row in found}

    def merge(
        self, *, back: bool = False, on_conflict: Choice = "fail", dry_run: bool = False
    ) -> Merged:
        """Merge the fork into the parent, or the parent into the fork."""
        source, target = ("sales", "agent") if back else ("agent", "sales")
        return merge_fork(
            self.session,
            self.metastore,
            MergeRequest(source, into=target, on_conflict=on_conflict, dry_run=dry_run),
        )


def conflicting_rows(error: Conflict) -> set[tuple[str, str, str]]:
    """Return the rows of an error, with the table and the changes of each side."""
    return {
        (one["table"], row["source_did"], row["target_did"])
        for one in error.details["conflicts"]
        for row in one["conflicts"]
    }
