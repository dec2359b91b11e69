"""The SQL dialect, its statements and their execution."""

from forklake.sql.requirements import refuse_compiled_sqlglot

refuse_compiled_sqlglot()
