"""Interface between the store and its databases: dialects, connections and locks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from forklake.model.ids import CatalogId
from forklake.store.operations import Operation, Statement
from forklake.store.reservations import Turn

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[Any]


class Lock(Enum):
    """Locks of writers. Embedded databases have a single writer and need none of them."""

    QUEUE = 1  # commits of one catalog, first come, first served
    FENCE = 2  # shared by all commits, exclusive for reading the whole metastore at one moment
    INLINED = 3  # creation of a table for inlined rows
    TURN = 4  # transactions that are retried after a conflict, one at a time
    SWEEP = 5  # deletion of rows and files; shared by transactions that copy rows
    UPKEEP = 6  # maintenance of one catalog, one at a time
    ACCESS = 7  # creation of tables by an upgrade or for access rules, principals, signing keys
    DATA_PATHS = 8  # choice of a data path that no catalog uses yet


class Dialect(Protocol):
    """SQL texts and expressions that differ between databases."""

    name: str
    least: str
    joins_writes: bool  # one statement may write to several tables
    # Row locks on a head. Commits take for_commit. Forks take for_fork, which does not conflict
    # with for_commit and only keeps the row from being deleted. Transactions that delete the row or
    # rewrite the lineage take for_removal, which conflicts with both.
    for_commit: str
    for_fork: str
    for_removal: str
    for_picking: str  # locks any rows that no other transaction has locked (SKIP LOCKED)
    now: str  # current time of the database
    every_column: str  # reads table, column and type of all columns of the metastore, in order

    def __hash__(self) -> int: ...

    def any_of(self, column: str, parameter: str) -> str:
        """Return the condition that the column is in an array parameter."""
        ...

    def array(self, values: Sequence[Any]) -> Any:
        """Return values as an array parameter."""
        ...

    def in_code_order(self, column: str) -> str:
        """Return an expression that compares a text column by code points."""
        ...

    def ending(self, column: str, length: int) -> str:
        """Return an expression for the last characters of a text."""
        ...

    def time(self, column: str) -> str:
        """Return an expression for a time in a form that the driver can return."""
        ...

    def column_type(self, name: str) -> str:
        """Return the column type in which inlined values of a stored type are kept."""
        ...


class Connection(Protocol):
    """Connection, inside a transaction or reading outside of any."""

    dialect: Dialect

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        """Return the rows of one statement."""
        ...

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        """Run operations, in one round trip if the database can, and return the rows of each."""
        ...

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        """Return the operations that take a lock until the transaction ends."""
        ...

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        """Return what a commit selects to queue for a catalog, and its parameters."""
        ...

    def fetch_columns(self, statement: Statement, schema: pa.Schema) -> pa.Table:
        """Return the rows of a statement with a large result, as columns."""
        ...

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        """Return the numbers of a statement with a large result of one number a row."""
        ...

    def fetch_bodies(self, statement: Statement) -> Rows:
        """Return the rows of a statement that reads large binary values."""
        ...

    def columns_of(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        ...

    def commit(self, operations: Sequence[Operation] = ()) -> list[Rows]:
        """Run the operations and commit, in one round trip where the database can."""
        ...


class Readable(Protocol):
    """Metadata database, or a transaction of it that sees what it has written."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Yield a connection to read from."""
        ...


class Database(Protocol):
    """Metadata database: hands out connections and has a dialect."""

    dialect: Dialect
    address: str

    def reading(self) -> AbstractContextManager[Connection]:
        """Yield a connection whose statements each see what was committed before them."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Yield a transaction. It is rolled back at the end unless `commit` was called."""
        ...

    def turn(self, catalog_id: CatalogId) -> AbstractContextManager[Turn]:
        """Wait for the turn-taking lock among transactions that are retried after a conflict."""
        ...

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        """Wrap a commit to a catalog. Waits while another thread of this process reserves it."""
        ...

    def upkeep(self, catalog_id: CatalogId) -> AbstractContextManager[bool]:
        """Yield whether this caller holds the maintenance lease of a catalog, or another does."""
        ...

    def is_initialised(self) -> bool:
        """Return whether the tables of a metastore exist."""
        ...

    def load_schema(self) -> None:
        """Create the tables of a metastore."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
