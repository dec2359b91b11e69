"""Values and rules without I/O: what a metastore holds and what may happen to it."""
