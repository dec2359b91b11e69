"""Accounts in several metastores, and tenants of PostgreSQL, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CommandLine
from tests.crucible.fix_stamps import database


@pytest.mark.slow
def test_accounts_are_created_listed_and_moved(postgres_server: Any, tmp_path: Path) -> None:
    config = tmp_path / "service.toml"
    with database(postgres_server) as home, database(postgres_server) as east:
        config.write_text(f'metastore = "{home}"\n[stamps]\neast = "{east}"\n')
        cli = CommandLine(home)
        cli.ok("init")
        given = ("--config", str(config))
        made = cli.document("account", "add", "acme", "--stamp", "east", *given)
        assert made["account"]["stamp"] == "east"
        assert cli("account", "add", "acme", *given).code == 4
        assert cli("account", "move", "acme", "west", *given).code == 3
        moved = cli.document("account", "move", "acme", "home", *given)
        assert moved == {"name": "acme", "stamp": "home", "catalogs": 0, "rows": 0}
        found = cli.document("account", "list", *given)
        assert found["stamps"] == ["home", "east"]
        assert [one["stamp"] for one in found["accounts"]] == ["home"]
        assert cli.ok("account", "list", *given).cells == [["acme", "home", "ready"]]

        assert cli("access", "tenants", "-m", f"ducklake:{tmp_path / 'none.db'}").code == 3
        shown = cli.ok("access", "tenants", "--no-harden").lines
        assert "Tenants can block commits by taking their locks" in " ".join(shown)
        tenants = cli.document("access", "tenants", "--connections", "8")
        assert tenants["is_hardened"]
        assert tenants["schema"] == "tenant"
        assert "ducklake_data_file" in tenants["views"]
        assert any("pg_stat_get_activity" in one for one in tenants["hardening"])
        shown = cli.ok("access", "tenants").lines
        views = len(tenants["views"])
        assert shown == [f"Created {views} views in tenant, readable by forklake_tenant."]
