"""Benchmarks: what the metastore costs, as ratios that hold on any machine."""
