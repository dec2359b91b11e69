"""Tests of workbooks, their runs, and automations."""
