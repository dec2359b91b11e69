"""Tests with many writers, and with writers that die."""
