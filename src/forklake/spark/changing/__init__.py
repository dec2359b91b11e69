"""Changing rows: DELETE, UPDATE and MERGE."""
