"""Tests, and the servers that they use and break."""
