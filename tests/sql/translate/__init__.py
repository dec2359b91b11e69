"""Tests of the translation of queries."""
