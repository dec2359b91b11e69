"""Sessions that the service runs for its callers."""
