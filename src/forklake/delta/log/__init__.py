"""Reading of Delta logs: listing their files, parsing actions, and replaying the state."""
