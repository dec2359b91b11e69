"""Behavior that users rely on, tested on every backend."""
