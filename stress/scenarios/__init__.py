"""Scenarios: what the workers of a round do, and what must hold when they are done."""
