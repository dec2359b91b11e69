"""Models of request and response bodies."""
