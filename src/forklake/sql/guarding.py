"""What a session may do: everything, or what its guard lets pass.

A statement reaches catalogs, files and the metastore at a few places, and each of them asks the
guard of the session first. The guard here lets everything pass, for a process that belongs to its
user. Stricter ones go by the two tables, in which every statement and every function of the lake
stands with the operation of access rules that it is; what is in neither is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.sql.dialect import nodes

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.spark.attachments import Attachment
    from forklake.store.catalogs import CatalogRow

READ, WRITE = "statement.read", "statement.write"
MAINTAIN, SET_OPTION = "maintenance.run", "options.set"

# Statements, by their class.
STATEMENTS: dict[type[exp.Expr], str] = {
    exp.Query: READ,
    exp.Describe: READ,
    exp.Summarize: READ,
    exp.Show: READ,
    nodes.Explain: READ,
    nodes.Call: READ,  # what is called says more
    # Of the session itself
    exp.Attach: READ,
    exp.Detach: READ,
    exp.Use: READ,
    exp.Set: READ,
    nodes.Reset: READ,
    exp.Install: READ,
    nodes.Load: READ,
    nodes.Prepare: READ,
    nodes.Execute: READ,  # what is executed says more
    nodes.Deallocate: READ,
    exp.Transaction: READ,
    exp.Commit: READ,  # what was changed says more
    exp.Rollback: READ,
    # Of tables and their rows
    exp.Insert: WRITE,
    exp.Update: WRITE,
    exp.Delete: WRITE,
    exp.Merge: WRITE,
    exp.TruncateTable: WRITE,
    exp.Create: WRITE,
    exp.Drop: WRITE,
    exp.Alter: WRITE,
    exp.Comment: WRITE,
    nodes.Checkpoint: MAINTAIN,
}

# Functions of the lake, by their name without prefix.
FUNCTIONS: dict[str, str] = {
    "snapshots": READ,
    "current_snapshot": READ,
    "last_committed_snapshot": READ,
    "options": READ,
    "table_info": READ,
    "table_changes": READ,
    "table_insertions": READ,
    "table_deletions": READ,
    "catalogs": READ,
    "settings": READ,
    "fork_catalog": READ,  # the fork itself is asked for
    "diff": READ,
    "merge": READ,  # the merge itself is asked for
    "set_commit_message": WRITE,
    "set_option": SET_OPTION,
    "list_files": MAINTAIN,  # it shows keys of encrypted files
    "expire_snapshots": MAINTAIN,
    "merge_adjacent_files": MAINTAIN,
    "rewrite_data_files": MAINTAIN,
    "flush_inlined_data": MAINTAIN,
    "add_data_files": MAINTAIN,  # it may make the lake the owner of files
    "cleanup_old_files": MAINTAIN,
    "delete_orphaned_files": MAINTAIN,
}


class Guard:
    """Lets everything pass."""

    def statement(self, kind: type[exp.Expr]) -> AbstractContextManager[None]:
        """A statement of this class runs."""
        return nullcontext()

    def function(self, name: str) -> AbstractContextManager[None]:
        """A function of the lake runs."""
        return nullcontext()

    def change(self, attachment: Attachment) -> AbstractContextManager[None]:
        """A catalog is changed."""
        return nullcontext()

    def proceed(self) -> None:
        """A change is about to be committed, unless this raises."""

    def dialect(self, name: str) -> None:
        """A statement, view or macro is written in a dialect."""

    def files(self, patterns: Sequence[str]) -> None:
        """Files are read by their paths."""

    def metadata(self, table: str) -> None:
        """All rows of a table of the metastore itself are read."""

    def shows_keys(self) -> bool:
        """Return whether functions show the keys of encrypted files."""
        return True

    def catalogs(self, metastore: Metastore) -> Iterator[CatalogRow]:
        """The catalogs of a metastore that may be listed."""
        return metastore.all_catalogs()

    def read(self, metastore: Metastore, name: str) -> None:
        """A catalog is looked at that need not be attached."""

    def merging(
        self, metastore: Metastore, source: str, target: str, *, dry_run: bool
    ) -> AbstractContextManager[None]:
        """A catalog is merged into another."""
        return nullcontext()

    def fork(
        self,
        metastore: Metastore,
        parent: str,
        name: str,
        *,
        at: int | None,
        data_path: str | None,
        mode: str,
        if_not_exists: bool,
        ttl: timedelta | None,
    ) -> tuple[CatalogRow, bool]:
        """A fork, or the catalog that has its name already; and whether it was made now."""
        fork, is_new = metastore.fork_or_find(
            parent,
            name,
            at=at,
            data_path=data_path,
            mode=mode,
            if_not_exists=if_not_exists,
            ttl=ttl,
        )
        return fork.row, is_new
