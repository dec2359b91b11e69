"""Row changes: DELETE, UPDATE and MERGE INTO."""
