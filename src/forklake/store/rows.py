"""Conversion between rows of the metastore and instances of the model's classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from forklake.model.children import Child
from forklake.model.entities import Row
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.kinds import Kind
from forklake.store.database import Connection, Dialect, Rows
from forklake.store.operations import Insert, Statement, Values
from forklake.store.visibility import lineage_cte, newest_rows, table_history, visible_rows

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=Row)
C = TypeVar("C", bound=Child)


class Reader:
    """Reader of one catalog at one snapshot."""

    def __init__(
        self,
        connection: Connection,
        catalog_id: CatalogId,
        snapshot_id: SnapshotId,
        *,
        inherits: bool = True,
    ) -> None:
        self._connection = connection
        self._parameters = {"catalog": catalog_id, "snapshot": snapshot_id}
        self._inherits = inherits

    @property
    def inherits(self) -> bool:
        """Whether rows of ancestors are included."""
        return self._inherits

    @property
    def dialect(self) -> Dialect:
        """SQL dialect of the database."""
        return self._connection.dialect

    def rows(
        self, kind: Kind, *, scope: int | None = None, where: str = "", **parameters: Any
    ) -> list[Any]:
        """Return the visible rows of a kind, of one table if `scope` is given."""
        statement = self.statement(kind, scope=scope, where=where, **parameters)
        (found,) = self._connection.run([statement])
        return decoded(kind, found)

    def among(self, kind: Kind, scope: int, column: str, values: Sequence[int]) -> list[Any]:
        """Return the visible rows of one table in which `column` has one of `values`."""
        dialect = self._connection.dialect
        where = dialect.any_of(f"r.{column}", "values")
        return self.rows(kind, scope=scope, where=where, values=dialect.array(values))

    def history(self, kind: Kind, scope: int, where: str, **parameters: Any) -> Statement:
        """Return the statement that reads all rows of a table ever visible, with their ends."""
        text = table_history(kind, self._connection.dialect, kind.columns, where=where)
        return Statement(text, {**self._parameters, "scope": scope, **parameters})

    def fetch_columns(self, statement: Statement, schema: pa.Schema) -> pa.Table:
        """Return the rows of a statement with a large result, as columns."""
        return self._connection.fetch_columns(statement, schema)

    def fetch(self, statement: Statement) -> Rows:
        """Return the rows of a statement."""
        (rows,) = self._connection.run([statement])
        return rows

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        """Return the numbers of a statement with a large result of one number a row."""
        return self._connection.fetch_numbers(statement)

    def fetch_bodies(self, statement: Statement) -> Rows:
        """Return the rows of a statement that reads large binary values."""
        return self._connection.fetch_bodies(statement)

    def on_line(self, text: str, **parameters: Any) -> Statement:
        """Return a statement that can use the CTE `lineage`, the lineage of the catalog."""
        sql = f"WITH {lineage_cte(self._connection.dialect)} {text}"
        return Statement(sql, self._parameters | parameters)

    def many(self, kinds: Sequence[Kind]) -> dict[Kind, list[Any]]:
        """Return the visible rows of several kinds, in one round trip."""
        results = self._connection.run([self.statement(kind) for kind in kinds])
        return {kind: decoded(kind, rows) for kind, rows in zip(kinds, results, strict=True)}

    def newest(self, kind: Kind, scope: int, keys: Sequence[int] | None = None) -> list[Any]:
        """Return the visible statistics of a table, or of some of its columns."""
        if keys is not None and not keys:
            return []
        text = newest_rows(
            kind, self._connection.dialect, keys and tuple(keys), inherits=self._inherits
        )
        rows = self._connection.fetch(text, scope=scope, **self._parameters)
        return decoded(kind, rows)

    def statement(
        self, kind: Kind, *, scope: int | None = None, where: str = "", **parameters: Any
    ) -> Statement:
        """Return the statement that reads the visible rows of a kind."""
        text = visible_rows(
            kind,
            self._connection.dialect,
            scoped=scope is not None,
            where=where,
            inherits=self._inherits,
        )
        given = self._parameters | parameters
        return Statement(text, given if scope is None else given | {"scope": scope})


def decoded(kind: Kind, rows: Rows) -> list[Any]:
    """Convert rows of a kind to instances of its class."""
    columns = kind.columns
    make = kind.row
    return [make(**dict(zip(columns, row, strict=True))) for row in rows]


def child_statement(
    child: type[Child],
    connection: Connection,
    parents: Sequence[int],
    *,
    table_id: int | None = None,
) -> Statement:
    """Return the statement that reads the children of parents, in the order of their keys.

    The key of children of files begins with the table: `table_id` makes the read an index range.
    """
    columns = child.columns()
    conditions = [connection.dialect.any_of(f"r.{child.PARENT}", "parents")]
    parameters = {"parents": connection.dialect.array(parents)}
    if table_id is not None:
        conditions.insert(0, "r.table_id = :scope")
        parameters["scope"] = table_id
    order = ", ".join(columns[1:5])
    return Statement(
        f"SELECT {', '.join(columns)} FROM {child.NAME} r WHERE {' AND '.join(conditions)}"
        f" ORDER BY {order}",
        parameters,
    )


def decoded_children(child: type[C], rows: Rows) -> list[C]:
    """Convert rows to instances of a class of children."""
    columns = child.columns()
    return [child(**dict(zip(columns, row, strict=True))) for row in rows]


def insert_of(
    name: str, columns: tuple[str, ...], rows: Iterable[Any], final: dict[str, Callable[[Any], Any]]
) -> Insert:
    """Convert instances to an insert. `final` converts transaction-local values by column."""
    get, places = _access(columns, tuple(final))
    changed = [(place, final[name]) for place, name in places]

    def values(row: Any) -> Values:
        found = list(get(row))
        for position, change in changed:
            found[position] = change(found[position])
        return tuple(found)

    return Insert(name, columns, [values(row) for row in rows])


@lru_cache(maxsize=512)
def _access(
    columns: tuple[str, ...], names: tuple[str, ...]
) -> tuple[Callable[[Any], Values], tuple[tuple[int, str], ...]]:
    """Return a getter of the values of columns, and the positions of those in `names`."""
    get = cast("Callable[[Any], Values]", attrgetter(*columns))
    return get, tuple((columns.index(name), name) for name in names if name in columns)
