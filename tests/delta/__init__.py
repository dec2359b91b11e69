"""Tests of the Delta face of lake tables."""
