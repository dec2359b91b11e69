"""The interactive shell: a prompt for statements, and commands that begin with a dot."""
