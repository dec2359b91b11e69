"""Client of the service. `connect(url, key)` returns a `Client`, which resembles a metastore."""

from __future__ import annotations

from forklake.client.client import Client, connect

__all__ = ["Client", "connect"]
