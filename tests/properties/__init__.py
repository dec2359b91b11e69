"""Tests of random histories, compared with a plain model."""
