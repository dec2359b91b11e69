"""The command that opens DuckDB over a catalog, without Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.inspection import CatalogArgument
from forklake.errors import Unsupported

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.cli.results import RowFormat
    from forklake.cli.scripts import Script
    from forklake.engines.local.compute.node import Node
    from forklake.sql.parameters import Parameters
    from forklake.sql.results import Result


class DuckDBSession:
    """Compute node of DuckDB with the interface that the shell expects of a session."""

    def __init__(self, metastore: Metastore, catalog: str, version: int | None = None) -> None:
        self._metastore = metastore
        self._name = catalog
        self._node: Node = metastore.duckdb(catalog, version=version)
        self.in_transaction = False

    def close(self) -> None:
        """Close DuckDB."""
        self._node.close()

    @property
    def current(self) -> tuple[str, ...] | None:
        """Catalog and schema in which names are resolved."""
        return self._name, "main"

    def fork(self, parent: str, name: str, *, attach_as: str) -> None:
        """Fork a catalog."""
        self._metastore.fork(parent, name)

    def use(self, name: str) -> None:
        """Use another catalog from now on."""
        chosen = name.strip('"').replace('""', '"')
        node = self._metastore.duckdb(chosen)
        self._node.close()
        self._node, self._name = node, chosen

    def run(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Iterator[Result]:
        """Run statements in order, each one when its result is requested."""
        from forklake.cli.scripts import Script
        from forklake.engines.local.compute.node import explaining
        from forklake.sql.results import Result

        if dialect != "duckdb":
            raise Unsupported(
                f"DuckDB does not run statements in the dialect {dialect!r}.",
                remedy="Use forklake sql.",
            )
        for one in Script(text).statements():
            found = self._node.sql(one.text, parameters)
            with explaining():  # DuckDB computes the rows, and can fail, when they are fetched
                rows = None if found is None else found.to_arrow_table()
            yield Result.done("DONE") if rows is None else Result("SELECT", rows)

    def cancel(self) -> None:
        """Interrupt the running statement."""
        self._node.connection.interrupt()


@command
def duckdb(
    context: CommandContext,
    catalog: CatalogArgument,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="SQL", help="Statements to run.", show_default=False),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            metavar="SNAPSHOT", help="Read the catalog at this snapshot.", show_default=False
        ),
    ] = None,
) -> None:
    """Query a catalog with DuckDB, without Spark.

    Queries take milliseconds and need no Java. Tables can be read, but not changed. Without SQL,
    an interactive prompt opens.

    \b
    Examples:
      forklake duckdb sales "SELECT count(*) FROM orders"
      forklake duckdb agent-1
    """
    from forklake.cli.results import RowFormat
    from forklake.cli.scripts import Script

    row_format = RowFormat.JSON if context.output.as_json else RowFormat.TABLE
    with (
        context.open() as metastore,
        closing(DuckDBSession(metastore, catalog, version)) as session,
    ):
        if texts:
            _run_script(session, Script("\n;\n".join(texts)), row_format)
        else:
            _open_prompt(session, row_format)


def _run_script(session: DuckDBSession, script: Script, row_format: RowFormat) -> None:
    from forklake.cli.results import show_result
    from forklake.cli.statement_runner import StatementRunner

    with closing(StatementRunner(session)) as runner:
        for result, seconds in runner.run(script, None, row_format, None):
            show_result(result, row_format, limit=None, seconds=seconds)


def _open_prompt(session: DuckDBSession, row_format: RowFormat) -> None:
    from forklake.cli.shell.input import PipedReader
    from forklake.cli.shell.shell import Shell

    with closing(Shell(session, row_format)) as shell:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from forklake.cli.shell.prompt import Prompt

            shell.greet()
            shell.read_from(Prompt(session))
            return
        shell.read_from(PipedReader(sys.stdin))
    if shell.code:
        raise typer.Exit(shell.code)
