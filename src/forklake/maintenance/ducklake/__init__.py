"""The import of a DuckLake: its metadata is read, numbered anew and written as a catalog."""
