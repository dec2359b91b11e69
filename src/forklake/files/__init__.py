"""Files: their paths, and later what is in them."""
