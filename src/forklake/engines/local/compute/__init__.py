"""DuckDB as a compute node: tables of a catalog as views over their files, without a JVM."""
