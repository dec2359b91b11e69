"""The commands of `forklake access`, with text and JSON output."""

from __future__ import annotations

from pathlib import Path

import pytest

import forklake
from forklake.access.access import Access
from forklake.access.roles import Right
from forklake.errors import Unauthenticated
from forklake.model.requests import ForkRequest
from tests.cli.conftest import CommandLine


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """Return the command line on a metastore with a catalog."""
    found = CommandLine(f"ducklake:{tmp_path / 'lake.db'}")
    found.ok("init")
    found.ok("create", "sales")
    return found


def test_access_rules_are_managed_by_commands(cli: CommandLine) -> None:
    assert cli.document("access", "init") == {"has_principals": False}
    cli.ok("access", "principal", "add", "root", "--root")
    made = cli.document(
        "access", "principal", "add", "ada", "--account", "research", "--prefix", "ada-"
    )
    assert made == {"name": "ada", "account": "research", "is_root": False}
    assert cli.document("access", "init") == {"has_principals": True}
    shown = cli.document("access", "key", "add", "ada")
    cli.ok("access", "grant", "forker", "ada", "--catalog", "sales", "--for", "7d")
    (grant,) = cli.document("access", "grants", "sales")["grants"]
    assert (grant["principal"], grant["role"]) == ("ada", "forker")
    (grant,) = cli.document("access", "grants", "--principal", "ada")["grants"]
    assert grant == {"prefix": "ada-", "role": "owner", "expires_at": None}
    token = cli.document("access", "token", "ada", "sales", "--right", "read", "--right", "fork")
    cli.ok("access", "rotate")
    with forklake.open(cli.uri) as metastore:
        access = Access(metastore)
        assert access.authentication.identify(shown["key"]).name == "ada"
        caller = access.authentication.identify(token["token"])
        assert access.authorization.rights(caller, ["sales"])["sales"] == {Right.READ, Right.FORK}
        assert access.catalogs.fork(caller, ForkRequest("sales", ["ada-1"]))[1] == 1
    (key,) = cli.document("access", "key", "list", "ada")["keys"]
    cli.ok("access", "key", "revoke", "ada", key["key_id"])
    cli.ok("access", "revoke", "ada", "--catalog", "sales")
    cli.ok("access", "revoke", "ada", "--prefix", "ada-")
    cli.ok("access", "principal", "disable", "ada")
    people = cli.document("access", "principal", "list")["principals"]
    assert [(one["name"], one["is_disabled"]) for one in people] == [("ada", True), ("root", False)]
    with forklake.open(cli.uri) as metastore, pytest.raises(Unauthenticated):
        Access(metastore).authentication.identify(shown["key"])


def test_quotas_and_the_audit_are_shown(cli: CommandLine) -> None:
    cli.ok("access", "init")
    cli.ok("access", "principal", "add", "ada", "--prefix", "ada-")
    cli.ok("access", "quota", "ada", "--catalogs", "2", "--bytes", "10GB")
    found = cli.document("access", "quota", "ada", "--catalogs", "none", "--sessions", "3")
    assert found == {"principal": "ada", "catalogs": None, "bytes": 10**10, "sessions": 3}
    assert cli.document("access", "limit", "sales") == {"catalog": "sales", "bytes": None}
    assert "at most 1,000 bytes" in cli.ok("access", "limit", "sales", "--bytes", "1kB").out
    entries = cli.document("access", "audit", "--limit", "2")
    assert [one["operation"] for one in entries["entries"]] == ["quota.set", "quota.set"]
    assert entries["next_after"] is not None
    rest = cli.document("access", "audit", "--after", entries["next_after"])["entries"]
    assert [one["operation"] for one in rest] == ["quota.set", "principal.create"]
    (of_catalog,) = cli.document("access", "audit", "sales")["entries"]
    assert (of_catalog["principal"], of_catalog["outcome"]) == ("local", "done")
    assert cli.document("access", "tidy") == {"removed": 0}
    assert "quota.set" in cli.ok("access", "audit").out


BAD = [
    (("principal", "add", "a/b"), 2, "slash"),
    (("principal", "add", "ada"), 4, "already exists"),
    (("principal", "disable", "nobody"), 3, "does not exist"),  # language: ok
    (("key", "revoke", "ada", "x"), 3, "no active key"),
    (("grant", "king", "ada", "-c", "sales"), 2, "role 'king' does not exist"),
    (("grant", "reader", "ada"), 2, "catalog or on a prefix"),
    (("grant", "reader", "ada", "-c", "sales", "--prefix", "s"), 2, "catalog or on a prefix"),
    (("grant", "reader", "ada", "-c", "none"), 3, "does not exist"),
    (("grant", "reader", "ada", "-c", "sales", "--for", "soon"), 2, "not a length of time"),
    (("grant", "reader", "ada", "-c", "sales", "--for", "9999999 years"), 2, "9999999 years"),
    (("revoke", "ada", "-c", "sales"), 3, "no role"),
    (("grants",), 2, "catalog or for a principal"),
    (("token", "ada", "sales"), 3, "does not exist"),
    (("quota", "ada", "--bytes", "x"), 2, "not a size"),
    (("audit", "none"), 3, "does not exist"),
]


def test_invalid_commands_name_the_problem_and_change_nothing(cli: CommandLine) -> None:
    cli.ok("access", "init")
    cli.ok("access", "principal", "add", "ada")
    before = cli.document("access", "audit")["entries"]
    for arguments, code, stated in BAD:
        found, error = cli.error("access", *arguments)
        assert (found, stated in error["message"]) == (code, True), error
    after = cli.document("access", "audit")["entries"]
    done = [one for one in after if one["outcome"] == "done" and one not in before]
    assert [one["operation"] for one in done] == ["principal.act"]


def test_without_tables_the_error_names_the_init_command(cli: CommandLine) -> None:
    code, error = cli.error("access", "principal", "add", "ada")
    assert (code, error["remedy"]) == (3, "Create them with: forklake access init.")


def test_every_command_has_an_example(cli: CommandLine) -> None:
    stated = cli.ok("access", "--help").out.partition("Commands:")[2]
    assert "..." not in stated
    names = [line.split()[0] for line in stated.splitlines() if line]
    for name in names:
        reported = cli.ok("access", name, "--help").out
        if name not in {"principal", "key"}:
            assert f"  forklake access {name}" in reported
