"""Data engines: what reads, computes and writes the rows of tables."""
