"""Tests of rules and values, without a database."""
