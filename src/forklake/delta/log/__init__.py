"""Reading Delta logs: which files there are, what they say, and the state they add up to."""
