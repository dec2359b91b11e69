"""A client of the service: `connect(url, key)` has the verbs of a metastore, and opens sessions."""

from __future__ import annotations

from forklake.client.client import Client, connect

__all__ = ["Client", "connect"]
