"""The engine: a JVM, our classes in it, and the routes by which Spark reads and writes files."""
