"""Tests of the data plane on a real Spark."""
