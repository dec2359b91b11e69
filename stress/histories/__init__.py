"""Histories of transactions: what they are, and whether snapshot isolation explains them."""
