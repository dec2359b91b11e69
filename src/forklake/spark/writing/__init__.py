"""Writing rows: making them fit, partitioning them, to files and to the metastore."""
