"""Large reads over connections that can only fetch rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklake.store.operations import Statement

if TYPE_CHECKING:
    import pyarrow as pa

    from forklake.store.database import Rows


class RowFetching:
    """Implementation of the `fetch_…` methods of Connection by `fetch`."""

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        """Return the rows of one statement."""
        raise NotImplementedError

    def fetch_columns(self, statement: Statement, schema: pa.Schema) -> pa.Table:
        """Return the rows as columns."""
        from forklake.store.columns import columns_of_rows

        return columns_of_rows(self.fetch_bodies(statement), schema)

    def fetch_numbers(self, statement: Statement) -> pa.Int64Array:
        """Return the rows, of one number each, as an array."""
        import pyarrow as pa

        return pa.array([number for (number,) in self.fetch_bodies(statement)], pa.int64())

    def fetch_bodies(self, statement: Statement) -> Rows:
        """Return the rows."""
        return self.fetch(statement.sql, **statement.parameters)
