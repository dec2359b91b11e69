"""Table writes: rows are cast to the schema, partitioned, and stored in files or the metastore."""
