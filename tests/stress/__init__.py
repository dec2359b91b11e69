"""Tests of the stress suite: its checks find what is wrong, and a short form of it runs."""
