"""What statements do, a module for each group of them."""
