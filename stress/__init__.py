"""Stress suite: many processes work on one lake under faults, and invariants are verified."""
