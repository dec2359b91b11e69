"""Doctor: what is wrong with a metastore, or soon will be, and what to do about it."""
