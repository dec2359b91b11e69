"""Metadata database: schema, dialects, visibility, id allocation and the commit."""
