"""The Delta face of lake tables: reading, importing and writing Delta logs."""
