"""Table reads: scans, their projection and pruning, and the change feed."""
