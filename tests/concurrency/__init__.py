"""Many writers, and writers that die."""
