"""Classes that describe tables of the metastore, independent of the database that stores them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Backend(StrEnum):
    """Kind of database; the value is the name of its dialect."""

    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    MYSQL = "mysql"


ALL = frozenset(Backend)


class Type(Enum):
    """Logical type of a column."""

    SMALL_NUMBER = "small number"
    NUMBER_OF_32_BITS = "number of 32 bits"
    NUMBER = "number"
    TRUTH = "truth value"
    TEXT = "text"
    LONG_TEXT = "long text"
    TIME = "time"
    UUID = "UUID"
    BYTES = "bytes"


class Storage(Enum):
    """How the rows of a table change, which decides how PostgreSQL stores and vacuums it."""

    SMALL = "few rows"
    GROWING = "rows are added, and rarely changed"
    CHANGING = "rows are changed or deleted all the time"
    UPDATED = "rows are updated often"
    CONTENDED = "few rows are updated all the time"


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table.

    Args:
        length: maximum number of characters. MySQL can index only such texts in full.
        is_bytewise: texts are compared byte by byte, whatever the collation of the database is.
        is_compressed: the values are compressed already.
        generated: expression that computes the value.
        backends: databases that have the column.
    """

    name: str
    type: Type
    is_nullable: bool = False
    length: int | None = None
    is_unique: bool = False
    is_bytewise: bool = False
    is_compressed: bool = False
    generated: str | None = None
    backends: frozenset[Backend] = ALL


@dataclass(frozen=True, slots=True)
class Index:
    """Index of a table.

    Args:
        where: condition on the rows in the index. Databases without partial indexes index all rows.
        is_bytewise: texts are compared byte by byte, whatever the collation of the database is.
        backends: databases that have the index.
    """

    name: str
    columns: tuple[str, ...]
    comment: str = ""
    is_unique: bool = False
    where: str = ""
    is_bytewise: bool = False
    backends: frozenset[Backend] = ALL


@dataclass(frozen=True, slots=True)
class Table:
    """Table of the metastore.

    Args:
        key: columns of the primary key.
        section: comment on the tables from this one on.
        storage: how PostgreSQL stores the table.
        partitioned_by: column by which PostgreSQL divides the table, if the metastore has
            partitions.
        is_clustered: SQLite stores the rows in the primary key instead of beside it.
        backends: databases that have the table.
    """

    name: str
    comment: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    indexes: tuple[Index, ...] = ()
    section: str = ""
    storage: Storage = Storage.SMALL
    partitioned_by: str | None = None
    is_clustered: bool = False
    backends: frozenset[Backend] = ALL

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that all databases have, in order."""
        return tuple(one.name for one in self.columns if one.backends == ALL)

    def columns_in(self, backend: Backend) -> tuple[Column, ...]:
        """Return the columns that a database has."""
        return tuple(one for one in self.columns if backend in one.backends)

    def indexes_in(self, backend: Backend) -> tuple[Index, ...]:
        """Return the indexes that a database has."""
        return tuple(one for one in self.indexes if backend in one.backends)


def number(name: str, *, is_nullable: bool = False) -> Column:
    """Return a column of numbers with 64 bits."""
    return Column(name, Type.NUMBER, is_nullable)


def truth(name: str, *, is_nullable: bool = False) -> Column:
    """Return a column of truth values."""
    return Column(name, Type.TRUTH, is_nullable)


def text(name: str, length: int | None = None, *, is_nullable: bool = False) -> Column:
    """Return a column of texts, with a maximum length if MySQL must index them in full."""
    return Column(name, Type.TEXT, is_nullable, length)


def time(name: str, *, is_nullable: bool = False) -> Column:
    """Return a column of points in time."""
    return Column(name, Type.TIME, is_nullable)


def uuid(name: str) -> Column:
    """Return a column of UUIDs."""
    return Column(name, Type.UUID)
