"""Tests of the stress suite: its checks detect faults, and its short form runs."""
