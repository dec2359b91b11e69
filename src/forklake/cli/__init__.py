"""Command line of Forklake."""
