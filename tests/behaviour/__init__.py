"""What users rely on, on every backend."""
