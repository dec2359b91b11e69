"""Benchmarks of the metastore and of tables, as ratios that hold on any machine."""
