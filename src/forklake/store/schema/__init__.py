"""Schema of the metadata tables: one description, and the DDL of each database rendered from it."""
