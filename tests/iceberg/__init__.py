"""Tests of tables published as Iceberg tables."""
