"""Access checks of a session, and the permission that each statement and function requires.

A statement reaches catalogs, files and the metastore at a few points, and each of them calls the
guard of the session first. The guard of this module allows everything, for a process that belongs
to its user. Stricter guards use the two tables below, which map every statement and every function
of the lake to an operation of the access rules; whatever is in neither table is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.sql.dialect import nodes

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.model.requests import ForkRequest
    from forklake.session.attachments import Attachment
    from forklake.store.catalogs import CatalogRow
    from forklake.store.provisioning import Provided

READ, WRITE = "statement.read", "statement.write"
MAINTAIN, SET_OPTION = "maintenance.run", "options.set"

# Operations of statements, by class.
STATEMENTS: dict[type[exp.Expr], str] = {
    exp.Query: READ,
    exp.Values: READ,
    exp.Describe: READ,
    exp.Summarize: READ,
    exp.Show: READ,
    nodes.Explain: READ,
    nodes.Call: READ,  # the called function is checked as well
    # Statements about the session
    exp.Attach: READ,
    exp.Detach: READ,
    exp.Use: READ,
    exp.Set: READ,
    nodes.Reset: READ,
    exp.Install: READ,
    nodes.Load: READ,
    nodes.Prepare: READ,
    nodes.Execute: READ,  # the prepared statement is checked as well
    nodes.Deallocate: READ,
    exp.Transaction: READ,
    exp.Commit: READ,  # the changed catalog is checked as well
    exp.Rollback: READ,
    # Statements about tables and rows
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

# Operations of lake functions, by name without prefix.
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
    "fork_catalog": READ,  # Guard.fork checks the fork itself
    "diff": READ,
    "merge": READ,  # Guard.authorize_merge checks the merge itself
    "set_commit_message": WRITE,
    "set_option": SET_OPTION,
    "list_files": MAINTAIN,  # it returns the keys of encrypted files
    "expire_snapshots": MAINTAIN,
    "merge_adjacent_files": MAINTAIN,
    "rewrite_data_files": MAINTAIN,
    "flush_inlined_data": MAINTAIN,
    "add_data_files": MAINTAIN,  # it can make the lake the owner of files
    "cleanup_old_files": MAINTAIN,
    "delete_orphaned_files": MAINTAIN,
}


class Guard:
    """Guard that allows every operation. Subclasses raise an error for what they refuse."""

    def authorize_statement(self, kind: type[exp.Expr]) -> AbstractContextManager[None]:
        """Check that a statement of this class may run; return the context to run it in."""
        return nullcontext()

    def authorize_function(self, name: str) -> AbstractContextManager[None]:
        """Check that a function of the lake may run; return the context to run it in."""
        return nullcontext()

    def authorize_change(self, attachment: Attachment) -> AbstractContextManager[None]:
        """Check that a catalog may be changed; return the context to change it in."""
        return nullcontext()

    def proceed(self) -> None:
        """Raise an error if the running statement was canceled or may not be committed."""

    def check_dialect(self, name: str) -> None:
        """Check that statements, views or macros in this dialect may be used."""

    def check_files(self, patterns: Sequence[str]) -> None:
        """Check that files may be read by their paths."""

    def check_metadata_table(self, table: str) -> None:
        """Check that all rows of a metadata table may be read."""

    def shows_keys(self) -> bool:
        """Return whether functions may show the keys of encrypted files."""
        return True

    def list_catalogs(self, metastore: Metastore) -> Iterator[CatalogRow]:
        """Yield the catalogs of a metastore that may be listed."""
        return metastore.all_catalogs()

    def check_read(self, metastore: Metastore, name: str) -> None:
        """Check that a catalog, which need not be attached, may be read."""

    def authorize_merge(
        self, metastore: Metastore, source: str, target: str, *, dry_run: bool
    ) -> AbstractContextManager[None]:
        """Check that `source` may be merged into `target`; return the context to merge in."""
        return nullcontext()

    def fork(self, metastore: Metastore, request: ForkRequest) -> Provided:
        """Create the requested forks, or return existing ones."""
        return metastore.create_forks(request)
