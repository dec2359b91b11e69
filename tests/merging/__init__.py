"""Tests of merging forks and of comparing catalogs."""
