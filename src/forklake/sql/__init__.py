"""SQL: one dialect, statements and what they do."""
