"""Workbooks, their runs, and automations."""
