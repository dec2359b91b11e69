"""Tests of access rules: no Spark, a real metastore."""
