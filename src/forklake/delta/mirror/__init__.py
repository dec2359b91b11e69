"""Mirror of lake tables: Delta commits, checkpoints and links for readers of files."""
