"""Upgrades of metastores that older versions made."""
