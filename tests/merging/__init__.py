"""Merging forks, and comparing catalogs."""
