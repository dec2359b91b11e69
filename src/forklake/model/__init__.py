"""Values and rules of a metastore, without I/O."""
