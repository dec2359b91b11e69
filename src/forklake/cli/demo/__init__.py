"""The demo: a tour from nothing to a lake that eight agents work on at once."""
