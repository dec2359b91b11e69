"""Functions and tables that SQL knows besides those of users: one registry, and what they do."""
