"""The seam between the store and its databases: two protocols, one set of shared texts."""

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
    """What a writer waits for; embedded databases have one writer and need none of them."""

    QUEUE = 1  # commits of one catalog, first come first served
    FENCE = 2  # shared by all commits, exclusive for reading the whole metastore at once
    INLINED = 3  # the making of a table for inlined rows
    TURN = 4  # transactions that start over after a conflict, one at a time
    SWEEP = 5  # the going of rows and files; shared by those who copy rows
    UPKEEP = 6  # the maintenance of one catalog, one at a time
    ACCESS = 7  # the making of access tables, principals and signing keys
    DATA_PATHS = 8  # the choice of a data path that no catalog uses yet


class Dialect(Protocol):
    """The few places where the databases want different text."""

    name: str
    least: str
    joins_writes: bool  # one statement may write to several tables
    # How a head row is locked: by commits, which forks do not wait for; by forks, which only
    # keep the row from going away; and by whoever takes it away or rewrites the line.
    for_commit: str
    for_fork: str
    for_removal: str
    for_picking: str  # how rows are taken of which any will do: those that nobody else has
    now: str  # the time that the database's clock tells
    every_column: str  # reads table, column and type of all columns of the metastore, in order

    def __hash__(self) -> int: ...

    def any_of(self, column: str, parameter: str) -> str:
        """A condition: the column is one of an array parameter."""
        ...

    def array(self, values: Sequence[Any]) -> Any:
        """An array parameter."""
        ...

    def in_code_order(self, column: str) -> str:
        """An expression that compares a column of texts by code points."""
        ...

    def ending(self, column: str, length: int) -> str:
        """An expression that gives the last characters of a text."""
        ...

    def time(self, column: str) -> str:
        """An expression that gives a time as the driver can return it."""
        ...

    def column_type(self, name: str) -> str:
        """The column type under which inlined values of a stored type are kept."""
        ...


class Connection(Protocol):
    """One connection, inside a transaction or reading outside of any."""

    dialect: Dialect

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        """The rows of one statement."""
        ...

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        """Several operations in one round trip where the database can; the rows of each."""
        ...

    def lock(self, lock: Lock, number: int = 0, *, shared: bool = False) -> list[Operation]:
        """The operations that take a lock until the transaction ends."""
        ...

    def queue_locks(self, catalog_id: CatalogId) -> tuple[str, dict[str, int]]:
        """What a commit selects to wait for its turn, and the parameters of that."""
        ...

    def fetch_columns(self, statement: Statement, schema: pa.Schema) -> pa.Table:
        """The rows of a statement that has very many, column by column."""
        ...

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        """The numbers of a statement that reads very many, one a row."""
        ...

    def fetch_bodies(self, statement: Statement) -> Rows:
        """The rows of a statement that reads large values of bytes."""
        ...

    def columns_of(self, table: str) -> list[str]:
        """The names of a table's columns."""
        ...

    def commit(self, operations: Sequence[Operation] = ()) -> list[Rows]:
        """Run the operations and commit, in one round trip where the database can."""
        ...


class Readable(Protocol):
    """A metadata database, or a transaction of it that sees what it has written."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection to read from."""
        ...


class Database(Protocol):
    """A metadata database: hands out connections and knows its dialect."""

    dialect: Dialect
    address: str

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection for statements that each see what was committed before them."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction; unless `commit` was called it is rolled back at the end."""
        ...

    def turn(self, catalog_id: CatalogId) -> AbstractContextManager[Turn]:
        """Wait for a turn among the transactions that start over after a conflict."""
        ...

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        """Commit to a catalog inside; wait while another thread of this process reserves it."""
        ...

    def upkeep(self, catalog_id: CatalogId) -> AbstractContextManager[bool]:
        """A lease on the maintenance of a catalog; False if another one has it now."""
        ...

    def is_initialised(self) -> bool:
        """Whether the tables of a metastore are there."""
        ...

    def load_schema(self) -> None:
        """Create the tables of a metastore."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
