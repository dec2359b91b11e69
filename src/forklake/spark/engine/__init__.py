"""Spark engine: the JVM, our Java classes in it, and the routes by which Spark accesses files."""
