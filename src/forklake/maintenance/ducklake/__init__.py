"""Import of a DuckLake: read its metadata, assign new ids, and write a catalog."""
