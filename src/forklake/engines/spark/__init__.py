"""Spark engine: the JVM, our Java classes in it, and tables as DataFrames."""
