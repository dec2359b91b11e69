"""The stress suite: many processes at work on one lake, faults in all of it, and what must hold."""
