"""Tests of tables as Iceberg tables."""
