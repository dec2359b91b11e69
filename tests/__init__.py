"""The tests, and the servers they break."""
