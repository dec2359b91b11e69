"""Reading very many rows, or large ones, over connections that know one way to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklake.store.operations import Statement

if TYPE_CHECKING:
    import pyarrow as pa

    from forklake.store.database import Rows


class RowFetching:
    """What such a connection reads, row by row."""

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        """The rows of one statement."""
        raise NotImplementedError

    def fetch_columns(self, statement: Statement, schema: pa.Schema) -> pa.Table:
        """Rows, turned into columns."""
        from forklake.store.columns import columns_of_rows

        return columns_of_rows(self.fetch_bodies(statement), schema)

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        """Rows of one number each."""
        import pyarrow as pa

        return pa.array([number for (number,) in self.fetch_bodies(statement)], pa.int64())

    def fetch_bodies(self, statement: Statement) -> Rows:
        """Rows."""
        return self.fetch(statement.sql, **statement.parameters)
