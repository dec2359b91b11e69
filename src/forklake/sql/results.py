"""Results of statements: local rows, or a Spark DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pyarrow as pa

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine
    from forklake.engines.spark.public_types import DataFrame


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one statement.

    `kind` names the statement: "SELECT", "CREATE TABLE", "INSERT". Only results that are not local
    need Spark.
    """

    kind: str
    data: pa.Table | DataFrame

    @classmethod
    def done(cls, kind: str) -> Result:
        """Return the result of a statement that returns no rows."""
        return cls(kind, pa.table({"status": [kind]}))

    @classmethod
    def counted(cls, kind: str, rows: int) -> Result:
        """Return the result of a statement that changed this number of rows."""
        return cls(kind, pa.table({"Count": pa.array([rows], pa.int64())}))

    @property
    def is_local(self) -> bool:
        """Whether the rows are in this process already."""
        return isinstance(self.data, pa.Table)

    def dataframe(self, engine: Engine) -> DataFrame:
        """Return the rows as a DataFrame."""
        if not self.is_local:
            return cast("DataFrame", self.data)
        return engine.relations.from_arrow(self.data)

    def arrow(self) -> pa.Table:
        """Fetch all rows into this process."""
        if self.is_local:
            return self.data
        from forklake.engines.spark.arrow import to_arrow

        return to_arrow(cast("DataFrame", self.data))
