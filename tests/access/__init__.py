"""Tests of access rules on a real metastore, without Spark."""
