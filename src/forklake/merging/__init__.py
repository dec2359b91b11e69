"""What differs between two catalogs, and bringing the changes of one into the other."""
