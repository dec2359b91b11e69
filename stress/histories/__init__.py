"""Histories of transactions, and the check that snapshot isolation explains them."""
