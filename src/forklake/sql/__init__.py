"""SQL: one dialect, statements and what they do."""

from forklake.sql.requirements import refuse_compiled_sqlglot

refuse_compiled_sqlglot()
