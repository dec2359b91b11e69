"""Tests of Delta tables."""
