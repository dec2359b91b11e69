"""Files of the lake: their paths, Parquet footers, deleted rows and encryption keys."""
