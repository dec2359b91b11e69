"""DuckDB as a compute node: the tables of a catalog as views over their files, without a JVM."""
