"""Workbooks of many worktasks, run side by side, and automations that start them."""
