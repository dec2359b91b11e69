"""Demo: a tour from an empty folder to a lake with eight agents that work at the same time."""
