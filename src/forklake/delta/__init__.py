"""Lake tables as Delta tables: reading, importing and writing Delta logs."""
