"""Rules and values without a database."""
