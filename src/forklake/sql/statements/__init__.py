"""Execution of statements, with one module for each group of them."""
