"""The mirror: what a lake table's versions look like to those who read Delta logs from files."""
