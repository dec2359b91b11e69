"""What a statement answers: rows that are here already, or a DataFrame of Spark's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from forklake.spark.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one statement.

    `kind` is what the statement was: "SELECT", "CREATE TABLE", "INSERT". Only answers that are not
    local need Spark.
    """

    kind: str
    data: pa.Table | DataFrame

    @classmethod
    def done(cls, kind: str) -> Result:
        """The answer to a statement that has no rows to show."""
        return cls(kind, pa.table({"status": [kind]}))

    @classmethod
    def counted(cls, kind: str, rows: int) -> Result:
        """The answer to a statement that changed rows."""
        return cls(kind, pa.table({"Count": pa.array([rows], pa.int64())}))

    @property
    def is_local(self) -> bool:
        """Whether the rows are here already."""
        return isinstance(self.data, pa.Table)

    def dataframe(self, engine: Engine) -> DataFrame:
        """The rows as a DataFrame."""
        if not self.is_local:
            return cast("DataFrame", self.data)
        from forklake.sql.query.local import frame_of

        return frame_of(engine, self.data)

    def arrow(self) -> pa.Table:
        """All rows, here."""
        if self.is_local:
            return self.data
        from forklake.sql.query.arrow import to_arrow
        from forklake.sql.query.failures import explained

        with explained():
            return to_arrow(cast("DataFrame", self.data))
