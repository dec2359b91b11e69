"""Tests of maintenance: compaction, expiry, clean-up and imports."""
