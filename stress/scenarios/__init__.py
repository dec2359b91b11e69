"""Scenarios: the work of the workers of a round, and what must hold afterwards."""
