"""Doctor: checks of a metastore for present and coming problems, with their remedies."""
