"""The metadata database: its schema, its dialects, visibility, ids and the commit."""
