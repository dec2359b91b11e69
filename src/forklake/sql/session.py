"""The session that runs SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.model.plan import Committed
from forklake.session import session as tables
from forklake.session.attachments import Attachment, Attachments
from forklake.session.unit_of_work import UnitOfWork
from forklake.sql.guard import Guard
from forklake.sql.parameters import Parameters, bind_parameters
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame, SparkSession
DUCKDB, SPARK = "duckdb", "spark"
_EMPTY_REMEDY = "Pass at least one statement."


def connect(spark: SparkSession | None = None) -> Session:
    """Return a new session on the given Spark session, or on one that Forklake starts.

    Spark is started when it is first needed: ATTACH and DDL do not need it. Sessions of one process
    share the Spark that Forklake starts, and nothing else.
    """
    return Session(spark)


class Session(tables.Session):
    """Session of a user: tables as DataFrames, and SQL over all attached catalogs."""

    def __init__(
        self,
        spark: SparkSession | None = None,
        *,
        attachments: Attachments | None = None,
        guard: Guard | None = None,
    ) -> None:
        super().__init__(spark, attachments=attachments)
        self.guard = guard or Guard()
        self.dialect = DUCKDB  # of the running statement
        self.frames: Mapping[str, DataFrame] = {}  # that the running statement may read by name
        self.prepared: dict[str, exp.Expr] = {}

    def sql(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        dialect: str = DUCKDB,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> DataFrame:
        """Run statements and return the result of the last one.

        Args:
            parameters: a sequence for `?` and `$1`, a mapping for `$name`.
            dialect: `duckdb`, or `spark` for Spark SQL.
            frames: DataFrames that the statements may name like tables.
        """
        result = self.execute(text, parameters, dialect=dialect, frames=frames)
        return result.dataframe(self.engine)

    def delta(
        self,
        name: str | Sequence[str],
        *,
        version: int | None = None,
        timestamp: datetime | None = None,
    ) -> DataFrame:
        """Return the rows of a Delta table, given by its name or its location.

        Args:
            version: version of the Delta table, which numbers its versions independently.
            timestamp: time whose version of the Delta table is read.
        """
        from forklake.delta.tables import delta_table

        return delta_table(self, name, version=version, timestamp=timestamp)

    def write_once(
        self,
        df: DataFrame,
        name: str | Sequence[str],
        *,
        app_id: str,
        version: int,
        mode: str = "append",
    ) -> bool:
        """Write to a Delta table unless this application version was written before.

        Args:
            app_id: the application, as the Delta option `txnAppId`.
            version: its version, as the Delta option `txnVersion`. A version that is not newer
                than the last one is not written.

        Returns:
            Whether the rows were written.
        """
        from forklake.delta.exactly_once import write_once

        return write_once(self, df, name, app_id=app_id, version=version, mode=mode)

    @contextmanager
    def changing(
        self, attachment: Attachment, *, idempotency_key: str | None = None
    ) -> Iterator[UnitOfWork]:
        """Open a change of a catalog, and let the guard check it at its begin and its end."""
        with (
            self.guard.authorize_change(attachment),
            super().changing(attachment, idempotency_key=idempotency_key) as change,
        ):
            yield change
            self.guard.proceed()

    def commit(self) -> Committed | None:
        """Commit the transaction if the guard allows its changes."""
        changed = self._work.changed if self._work is not None else None
        if changed is None:
            return super().commit()
        with self.guard.authorize_change(changed.attachment):
            return super().commit()

    def _note(self, change: UnitOfWork) -> None:
        super()._note(change)
        if change.transaction.changed_faces:
            from forklake.delta.mirror_writer import mirror_catalog

            # A failure does not fail the commit: the mirror status records it for a later retry.
            mirror_catalog(change.attachment.catalog)

    def execute(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        dialect: str = DUCKDB,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> Result:
        """Run statements and return the last result. Starts Spark only if a statement needs it."""
        results = list(self.run(text, parameters, dialect=dialect, frames=frames))
        if not results:
            raise InvalidInput("The text contains no statement.", remedy=_EMPTY_REMEDY)
        return results[-1]

    def run(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        dialect: str = DUCKDB,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> Iterator[Result]:
        """Run statements in order and yield their results; each runs when its result is fetched."""
        from forklake.sql.dialect import parse
        from forklake.sql.dispatch import dispatch_statement

        self._require_open()
        if dialect not in (DUCKDB, SPARK):
            raise InvalidInput(
                f"Unknown SQL dialect {dialect!r}.", remedy=f"Use '{DUCKDB}' or '{SPARK}'."
            )
        self.guard.check_dialect(dialect)
        with self._apply_limits():
            statements = bind_parameters(parse(text, dialect), parameters)
        for statement in statements:
            self.dialect, self.frames = dialect, frames or {}
            try:
                with self._apply_limits(), self.noticing_death():
                    result = dispatch_statement(self, statement)
            finally:
                self.dialect, self.frames = DUCKDB, {}
            yield result

    @contextmanager
    def _apply_limits(self) -> Iterator[None]:
        """Let the guard cancel parsing and translation; raise InvalidInput at too deep nesting."""
        from forklake.sql.limits import cancellation_checks

        try:
            with cancellation_checks(self.guard.proceed):
                yield
        except RecursionError:
            raise InvalidInput(
                "The statement is nested too deeply.", remedy="Split it into smaller statements."
            ) from None

    def query(self, node: exp.Expr, *, may_change: bool = False) -> DataFrame:
        """Return the rows of a parsed query.

        Args:
            may_change: whether its outermost call may be a function that changes data.
        """
        from forklake.sql.query.binding import Binding

        with Binding(self, self.dialect) as binding:
            rows = binding.to_relation(node, may_change=may_change)  # refuses before Spark starts
            return self.engine.relations.make_fields_nullable(rows)
