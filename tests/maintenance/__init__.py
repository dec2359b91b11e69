"""The life of files on a real Spark."""
