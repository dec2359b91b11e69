"""The data plane on a real Spark."""
