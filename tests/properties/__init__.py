"""Random histories against a plain model."""
