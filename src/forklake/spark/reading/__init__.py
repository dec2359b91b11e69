"""Reading tables: scans, their projection and pruning, and the change feed."""
