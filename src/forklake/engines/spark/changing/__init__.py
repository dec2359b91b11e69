"""Row changes on Spark: new versions of rows, and the removal of old ones."""
