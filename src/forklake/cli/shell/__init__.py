"""Interactive shell: a prompt for SQL, and dot commands."""
