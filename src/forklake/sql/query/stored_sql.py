"""Rules for stored SQL: what bodies of views and macros may call, and how macros may be named.

Rows of a catalog can be written by other clients, so the rules are enforced when a query is bound,
not only when a view or macro is created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.engines.local.calculator import calculator
from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.sql.dialect import nodes
from forklake.sql.dialect.nodes import split_call
from forklake.sql.functions import files, registry
from forklake.sql.query.names import find_tables_and_functions

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session

# Statements, and clauses that act like statements.
_STATEMENTS = (
    *(exp.DDL, exp.DML, exp.Merge, exp.Alter, exp.Drop, exp.TruncateTable, exp.Command, exp.Set),
    *(exp.Use, exp.Attach, exp.Detach, exp.Into, exp.QueryTransform, exp.Cache, exp.Uncache),
    *(exp.Copy, exp.Analyze, exp.Pragma, exp.Transaction, exp.Commit, exp.Rollback, exp.Comment),
    *(exp.Describe, exp.Show, exp.LoadData, exp.Kill, exp.Install, exp.Export, nodes.Call),
    *(nodes.Explain, nodes.Prepare, nodes.Execute, nodes.Checkpoint, nodes.Load, nodes.Reset),
)
_JAVA_FUNCTIONS = frozenset({"reflect", "java_method", "try_reflect"})
SPARK_TABLE_FUNCTIONS = frozenset(
    "range explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple"
    " variant_explode variant_explode_outer".split()
)
METADATA_PREFIX = "__ducklake_metadata_"
# Named forms of operators. A macro of such a name cannot take the place of an operator.
_OPERATORS = frozenset({"add", "subtract", "multiply", "divide"})


@cache
def built_in_names() -> frozenset[str]:
    """Return the folded names of all functions of DuckDB, Spark and the lake."""
    from forklake.engines.spark.function_names import FUNCTION_NAMES

    with calculator() as cursor:
        query = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal"
        found = {folded(name) for (name,) in cursor.execute(query).fetchall()}
    found |= {folded(name) for name in (*exp.FUNCTION_BY_NAME, *FUNCTION_NAMES)}
    found |= {*registry.FUNCTIONS, *(registry.PREFIX + name for name in registry.FUNCTIONS)}
    return frozenset((found | set(files.READ_FUNCTIONS)) - _OPERATORS)


def is_built_in(name: str) -> bool:
    """Return whether a function of DuckDB, Spark or the lake has this name."""
    return folded(name) in built_in_names()


def refuse_built_in(name: str) -> None:
    """Raise InvalidInput if a macro has the name of a built-in function."""
    if is_built_in(name):
        raise InvalidInput(
            f"A macro cannot be named '{name}': a built-in function has this name.",
            remedy="Choose another name.",
        )


def check_body(session: Session, body: exp.Expr, what: str, home: Attachment) -> None:
    """Raise InvalidInput unless a stored body is a query that only reads tables.

    It may not change data, read files or metadata tables, or call lake functions about another
    catalog than `home`.
    """
    statement = body if isinstance(body, _STATEMENTS) else body.find(*_STATEMENTS)
    if statement is not None:
        raise InvalidInput(
            f"{what} contains {statement.key.upper()}, which is not allowed in a stored query.",
            remedy="Write a single SELECT.",
        )
    refuse_changes(session, body, what)
    for call in _find_calls(body):
        _check_call(session, call, what, home)
    for table in find_tables_and_functions(body):
        _check_source(session, table, what)


def _check_call(session: Session, call: exp.Expr, what: str, home: Attachment) -> None:
    parts, positional, named = split_call(call)
    name = folded(parts[-1])
    if name in files.READ_FUNCTIONS:
        raise _file_error(what, parts[-1])
    function = registry.find_function(session, parts)
    if function is None:
        return
    catalog = function.alias
    if catalog is None and function.function.name != "catalogs":
        arguments = [*positional, *named.values()]
        catalog = arguments[0].name if arguments and isinstance(arguments[0], exp.Literal) else ""
    if function.function.name == "diff" or folded(catalog or home.alias) != folded(home.alias):
        raise InvalidInput(
            f"{what} calls {function} about another catalog than the one that stores it.",
            remedy="Call the function in the query that reads the view or macro.",
        )


def _check_source(session: Session, table: exp.Table, what: str) -> None:
    if isinstance(table.this, exp.Func):
        return
    if len(table.parts) == 1 and table.name in session.frames:
        raise InvalidInput(
            f"{what} cannot read the DataFrame '{table.name}'.",
            remedy="Write it to a table first.",
        )
    if len(table.parts) == 1 and files.has_file_extension(table.name):
        raise _file_error(what, table.name)
    if folded(table.parts[0].name).startswith(METADATA_PREFIX):
        session.guard.check_metadata_table(
            ".".join(part.name for part in table.parts)
        )  # a guard may audit it
        raise InvalidInput(
            f"{what} reads '{table.sql()}', a table of the metastore.",
            remedy="Use functions such as ducklake_snapshots and ducklake_table_info.",
        )


def check_spark_calls(
    query: exp.Expr, what: str, is_lake_function: Callable[[Sequence[str]], bool]
) -> None:
    """Raise InvalidInput if a stored body in Spark SQL calls a function that is not allowed.

    Refused are functions that call Java, functions that were registered in the Spark session, and
    table functions that read files.
    """
    for call in _find_calls(query):
        parts, _, _ = split_call(call)
        allowed = (
            SPARK_TABLE_FUNCTIONS
            if isinstance(call, exp.Table | exp.Lateral)
            else _allowed_spark_functions()
        )
        if folded(parts[-1]) not in allowed and not is_lake_function(parts):
            raise InvalidInput(
                f"{what} calls the function '{'.'.join(parts)}', which stored SQL may not call.",
                remedy="Write it without this function, or in the dialect duckdb.",
            )


@cache
def _allowed_spark_functions() -> frozenset[str]:
    from forklake.engines.spark.function_names import FUNCTION_NAMES

    names = {folded(name) for name in (*exp.FUNCTION_BY_NAME, *FUNCTION_NAMES)}
    return frozenset(names - _JAVA_FUNCTIONS)


def refuse_changes(
    session: Session, query: exp.Expr, what: str, *, allowed: exp.Expr | None = None
) -> None:
    """Raise InvalidInput if a query calls a function that changes data, except for `allowed`."""
    for call in _find_calls(query):
        function = registry.find_function(session, split_call(call)[0])
        if call is not allowed and function is not None and function.function.changes_data:
            raise InvalidInput(
                f"{what} calls {function}, which changes data.",
                remedy=f"Run it as a statement: CALL {function}(…).",
            )


def find_outermost_call(query: exp.Expr) -> exp.Expr | None:
    """Return the call that is the only source or the only expression of a query, if any."""
    if not isinstance(query, exp.Select) or query.args.get("with_") or query.args.get("joins"):
        return None
    source = query.args.get("from_")
    if source is not None:
        table: exp.Expr = source.this
        is_call = isinstance(table, exp.Table) and isinstance(table.this, exp.Func)
        return table if is_call and not table.args.get("joins") else None
    return query.expressions[0] if len(query.expressions) == 1 else None


def _find_calls(query: exp.Expr) -> Iterator[exp.Expr]:
    for one in query.find_all(exp.Func):
        parent = one.parent
        is_table = isinstance(parent, exp.Table) and one.arg_key == "this"
        is_qualified = isinstance(parent, exp.Dot) and one.arg_key == "expression"
        if parent is not None and (is_table or is_qualified):
            yield parent
        elif isinstance(one, exp.Anonymous):
            yield one


def _file_error(what: str, name: str) -> InvalidInput:
    return InvalidInput(
        f"{what} reads files with '{name}'. Views and macros can read only tables.",
        remedy="Copy the files into a table: CREATE TABLE name AS FROM 'file.parquet'.",
    )
