"""Files: where they are, what their footers say, which rows are deleted, and their keys."""
