"""Keys and tokens: valid ones identify a principal, all others get the same error."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forklake.access.access import Access
from forklake.access.cache import cache_of
from forklake.access.callers import LOCAL
from forklake.access.credentials import Claim, new_key
from forklake.access.roles import Right
from forklake.access.signing_keys import read_secret
from forklake.errors import Forbidden, InvalidInput, NotFound, Unauthenticated, Unavailable
from forklake.files.keys import KEY_FILE, is_wrapped
from forklake.model.ids import CatalogId
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store.access_keys import signing_keys
from forklake.store.audit import Outcome
from tests.access.conftest import World
from tests.fix_metastore import Place

READ = frozenset({Right.READ})


def signing_secret(world: World) -> str:
    """Return the secret that signs tokens."""
    with world.metastore.database.reading() as connection:
        return read_secret(signing_keys(connection)[0][1])


def refused(access: Access, credential: str) -> str:
    """Return the error text with which a credential is refused."""
    with pytest.raises(Unauthenticated) as caught:
        access.authentication.identify(credential)
    return str(caught.value)


@pytest.fixture
def token(world: World) -> str:
    """Return a token of alice for her catalog, valid for a minute."""
    world.access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-2"]))
    return world.access.tokens.create(world.alice, "alice-1", [Right.READ, Right.WRITE], 60)


# Keys


def test_a_key_identifies_its_principal(world: World) -> None:
    assert (world.alice.name, world.alice.account, world.alice.is_root) == ("alice", "alice", False)
    assert world.alice.bound is None
    assert world.root.is_root


def test_invalid_keys_get_the_same_error(world: World) -> None:
    key = world.keys["alice"]
    _, number, secret = key.split("_", 2)
    other = world.keys["bob"].split("_", 2)
    bad = [
        "",
        " ",
        "fl_",
        key[:-1],
        f"{key}x",
        f" {key}",
        f"{key}\n",
        key.upper(),
        f"fl_{number}_{other[2]}",
        f"fl_{other[1]}_{secret}",
        f"fl_{'0' * 16}_{secret}",
        f"fl_{number}_{'A' * 43}",
        f"fl_{number}_",
        "fl_' OR 1=1 --_x",
        "x" * 100_000,
        "\0",
        "\ud800",
        "ключ",
    ]
    assert len({refused(world.access, one) for one in bad}) == 1


def test_keys_are_not_stored_in_the_database(world: World) -> None:
    secret = world.keys["alice"].rpartition("_")[2]
    with world.metastore.database.reading() as connection:
        rows = connection.fetch("SELECT secret_hash FROM crucible_key")
        noted = connection.fetch("SELECT object FROM crucible_audit")
    kept = {text for (text,) in rows}
    assert hashlib.sha256(world.keys["alice"].split("_", 2)[2].encode()).hexdigest() in kept
    assert not any(secret in text for (text,) in [*rows, *noted])


def test_a_revoked_key_is_refused_and_audited(world: World) -> None:
    (key,) = world.access.keys.list(world.alice, "alice")
    other_id, other = world.access.keys.create(world.alice, "alice")
    world.access.keys.revoke(world.alice, "alice", key.key_id)
    refused(world.access, world.keys["alice"])
    assert world.access.authentication.identify(other).name == "alice"
    found = {one.key_id: one.is_revoked for one in world.access.keys.list(world.alice, "alice")}
    assert found == {key.key_id: True, other_id: False}
    last = world.entries()[-1]
    assert (last.principal, last.operation, last.object, last.outcome) == (
        "alice",
        "key.use",
        key.key_id,
        Outcome.DENIED,
    )
    with pytest.raises(NotFound, match="no active key"):
        world.access.keys.revoke(world.alice, "alice", key.key_id)
    with pytest.raises(NotFound, match="no active key"):  # a key of another principal
        world.access.keys.revoke(world.root, "bob", other_id)


def test_all_credentials_of_a_disabled_principal_are_refused(world: World, token: str) -> None:
    assert world.access.authentication.identify(token).name == "alice"
    world.access.principals.disable(world.root, "alice")
    refused(world.access, world.keys["alice"])
    refused(world.access, token)
    with pytest.raises(InvalidInput, match="disabled"):
        world.access.keys.create(world.root, "alice")


def test_a_revocation_takes_effect_at_once_within_a_process(world: World) -> None:
    other = Access(world.metastore, clock=world.clock)
    assert other.authentication.identify(world.keys["alice"]) == world.alice
    (key,) = world.access.keys.list(world.alice, "alice")
    world.access.keys.revoke(world.alice, "alice", key.key_id)
    refused(other, world.keys["alice"])


def test_a_revocation_takes_effect_in_other_processes_within_seconds(
    world: World, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.open() as elsewhere:
        other = Access(elsewhere, clock=world.clock)
        assert other.authentication.identify(world.keys["alice"]) == world.alice
        (key,) = world.access.keys.list(world.alice, "alice")
        world.access.keys.revoke(world.alice, "alice", key.key_id)
        later = time.monotonic() + 2.1
        monkeypatch.setattr(time, "monotonic", lambda: later)
        refused(other, world.keys["alice"])


# Tokens


def test_a_token_limits_its_principal_to_a_catalog_and_some_rights(
    world: World, token: str
) -> None:
    access, caller = world.access, world.access.authentication.identify(token)
    assert caller.name == "alice"
    rights = access.authorization.rights(caller, ["alice-1", "alice-2"])
    assert rights == {"alice-1": {Right.READ, Right.WRITE}, "alice-2": frozenset()}
    assert access.authorization.catalog(caller, "alice-1", "schema.create").name == "alice-1"
    assert [row.catalog_name for row in access.visible.catalogs(caller)] == ["alice-1"]
    with pytest.raises(Forbidden):
        access.catalogs.drop(caller, ["alice-1"])
    with pytest.raises(NotFound):
        access.authorization.catalog(caller, "alice-2", "catalog.get")
    with pytest.raises(Forbidden):
        access.catalogs.create(caller, CreateRequest(["alice-3"]))
    with pytest.raises(Forbidden):
        access.keys.create(caller, "alice")


def signed_by(secret: str, text: str) -> str:
    """Return a token text with a signature."""
    digest = hmac.new(bytes.fromhex(secret), text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def changed(place: int, value: str) -> Callable[[str], str]:
    """Return a function that replaces one part of a token."""

    def change(token: str) -> str:
        parts = token.split(".")
        parts[place] = value
        return ".".join(parts)

    return change


FORGERIES: dict[str, Callable[[str], str]] = {
    "an older version": changed(0, "fl1"),
    "another principal": changed(1, "1"),
    "another catalog": changed(2, "2"),
    "more rights": changed(3, "rfwao"),
    "fewer rights": changed(3, "r"),
    "no rights": changed(3, ""),
    "unknown rights": changed(3, "rx"),
    "rights in another order": changed(3, "wr"),
    "a later expiry": changed(4, "9999999999"),
    "a huge expiry": changed(4, "9" * 30),
    "a negative expiry": changed(4, "-1"),
    "the wrong signing key": changed(5, "000002"),
    "no signing key": changed(5, ""),
    "no algorithm": changed(5, "none"),
    "no signature": changed(7, ""),
    "a foreign signature": changed(7, "A" * 43),
    "no signature for tenants": changed(6, ""),
    "a foreign signature for tenants": changed(6, "A" * 43),
    "a padded signature": lambda token: f"{token}=",
    "truncated": lambda token: token[:-1],
    "without its end": lambda token: token.rpartition(".")[0],
    "with more": lambda token: f"{token}.x",
    "with a space": lambda token: f"{token} ",
    "a leading zero": lambda token: token.replace("fl2.", "fl2.0", 1),
    "other digits": lambda token: token.replace("fl2.", "fl2.\N{ARABIC-INDIC DIGIT TWO}", 1),
    "signed with nothing": lambda token: signed_by("", token.rpartition(".")[0]),
    "signed with a guess": lambda token: signed_by("00" * 32, token.rpartition(".")[0]),
}


def test_forged_tokens_get_the_same_error(world: World, token: str) -> None:
    words = {name: refused(world.access, forge(token)) for name, forge in FORGERIES.items()}
    assert set(words.values()) == {refused(world.access, "")}


def test_parts_of_two_tokens_cannot_be_combined(world: World, token: str) -> None:
    other = world.access.tokens.create(world.alice, "alice-2", [Right.READ], 60)
    mixed = token.rpartition(".")[0] + "." + other.rpartition(".")[2]
    refused(world.access, mixed)


def test_an_expired_token_is_refused_even_if_cached(world: World, token: str) -> None:
    assert world.access.authentication.identify(token).bound is not None
    world.clock.advance(59)
    assert world.access.authentication.identify(token).bound is not None
    world.clock.advance(1)
    refused(world.access, token)
    refused(Access(world.metastore, clock=world.clock), token)
    assert world.entries()[-1].operation == "token.use"


def test_tokens_outlive_one_rotation_of_the_signing_keys(world: World, token: str) -> None:
    world.access.signing_keys.rotate(world.root)
    newer = world.access.tokens.create(world.alice, "alice-1", [Right.READ], 60)
    assert (
        world.access.authentication.identify(token).name
        == world.access.authentication.identify(newer).name
        == "alice"
    )
    world.access.signing_keys.rotate(world.root)
    refused(world.access, token)
    assert world.access.authentication.identify(newer).name == "alice"
    with world.metastore.database.reading() as connection:
        assert len(signing_keys(connection)) == 2
        ((gone,),) = connection.fetch("SELECT secret FROM crucible_signing_key WHERE kid='000001'")
    assert gone == ""


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a file with a key-encryption key."""
    file = tmp_path / "key"
    file.write_text(base64.b64encode(b"k" * 32).decode())
    monkeypatch.setenv(KEY_FILE, str(file))
    return file


def test_signing_keys_are_wrapped_where_there_is_a_key_file(key_file: Path, world: World) -> None:
    world.access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    token = world.access.tokens.create(world.alice, "alice-1", [Right.READ], 60)
    world.access.signing_keys.rotate(world.root)
    assert Access(world.metastore, clock=world.clock).authentication.identify(token).name == "alice"
    with world.metastore.database.reading() as connection:
        assert all(is_wrapped(stored) for _, stored in signing_keys(connection))


def test_existing_signing_keys_are_wrapped_by_init(
    world: World, token: str, key_file: Path
) -> None:
    secret = signing_secret(world)
    assert world.access.authentication.identify(token).name == "alice"
    world.access.init()
    with world.metastore.database.reading() as connection:
        ((_, stored),) = signing_keys(connection)
    assert is_wrapped(stored)
    assert secret not in stored
    world.access.init()
    with world.metastore.database.reading() as connection:
        assert signing_keys(connection) == [("000001", stored)]
    assert Access(world.metastore, clock=world.clock).authentication.identify(token).name == "alice"


def test_without_the_right_key_file_no_token_is_verified(
    key_file: Path, world: World, token: str
) -> None:
    key_file.write_text(base64.b64encode(b"l" * 32).decode())
    cache_of(world.metastore.database).clear()
    with pytest.raises(Unavailable, match="keys that sign tokens"):
        world.access.authentication.identify(token)
    with pytest.raises(Unavailable, match="keys that sign tokens"):
        world.access.signing_keys.check()
    assert world.access.authentication.identify(world.keys["alice"]).name == "alice"


def test_tokens_of_a_retired_signing_key_are_refused(world: World, token: str) -> None:
    for _ in range(2):
        world.access.signing_keys.rotate(world.root)
    refused(world.access, signed_by("", token.rpartition(".")[0]))


def test_a_token_loses_rights_with_its_principal(world: World, token: str) -> None:
    access, caller = world.access, world.access.authentication.identify(token)
    access.grants.add(world.alice, "alice-1", "bob", "owner")
    access.grants.add(world.bob, "alice-1", "alice", "reader")
    access.prefixes.revoke(world.root, "alice-", "alice")
    assert access.authorization.rights(caller, ["alice-1"]) == {"alice-1": READ}
    access.grants.revoke(world.bob, "alice-1", "alice")
    assert access.authorization.rights(caller, ["alice-1"]) == {"alice-1": frozenset()}
    with pytest.raises(NotFound):
        access.authorization.catalog(caller, "alice-1", "catalog.get")


def test_tokens_cannot_exceed_the_rights_of_their_creator(world: World, token: str) -> None:
    access = world.access
    access.grants.add(world.alice, "alice-1", "bob", "writer")
    with pytest.raises(Forbidden, match="FORK"):
        access.tokens.create(world.bob, "alice-1", [Right.READ, Right.FORK], 60)
    with pytest.raises(NotFound):
        access.tokens.create(world.carol, "alice-1", [Right.READ], 60)
    with pytest.raises(InvalidInput, match="READ"):
        access.tokens.create(world.alice, "alice-1", [Right.WRITE], 60)
    for seconds in (0, -1, 2**31):
        with pytest.raises(InvalidInput, match="seconds"):
            access.tokens.create(world.alice, "alice-1", [Right.READ], seconds)
    with pytest.raises(InvalidInput, match="Authenticate with an API key"):
        access.tokens.create(LOCAL, "alice-1", [Right.READ], 60)


def test_a_token_created_with_a_token_has_no_more_rights_or_time(world: World, token: str) -> None:
    caller = world.access.authentication.identify(token)
    with pytest.raises(Forbidden):
        world.access.tokens.create(caller, "alice-1", [Right.READ, Right.FORK], 60)
    second = world.access.authentication.identify(
        world.access.tokens.create(caller, "alice-1", [Right.READ], 6000)
    )
    assert second.bound is not None
    assert caller.bound is not None
    assert second.bound.expires_at == caller.bound.expires_at


def test_a_token_of_a_dropped_catalog_does_not_work_for_its_successor(
    world: World, token: str
) -> None:
    caller = world.access.authentication.identify(token)
    world.access.catalogs.drop(world.alice, ["alice-1"])
    world.access.catalogs.create(
        world.alice, CreateRequest(["alice-1"])
    )  # the same name, another catalog
    with pytest.raises(NotFound):
        world.access.authorization.catalog(caller, "alice-1", "catalog.get")


def test_a_signed_token_for_an_unknown_principal_is_refused(world: World, token: str) -> None:
    secret = signing_secret(world)
    good = Claim(2, CatalogId(0), READ, int(world.clock().timestamp()) + 60, "000001")
    assert world.access.authentication.identify(good.signed(secret)).name == "alice"
    refused(world.access, replace(good, principal_id=99).signed(secret))


def test_a_signed_token_with_too_long_validity_is_refused(world: World, token: str) -> None:
    secret = signing_secret(world)
    now = int(world.clock().timestamp())
    month = 30 * 24 * 3600
    good = Claim(2, CatalogId(0), READ, now + month, "000001")
    assert world.access.authentication.identify(good.signed(secret)).name == "alice"
    for expires_at in (now + month + 3600, now + 10 * 365 * 24 * 3600, 10**18 - 1):
        refused(world.access, replace(good, expires_at=expires_at).signed(secret))


@pytest.mark.parametrize("backend", ["postgresql"])
def test_keys_and_tokens_work_on_a_server(world: World, token: str) -> None:
    access = Access(world.metastore, clock=world.clock)
    assert access.authentication.identify(world.keys["alice"]) == world.alice
    assert access.authentication.identify(token).name == "alice"
    world.access.signing_keys.rotate(world.root)
    world.access.signing_keys.rotate(world.root)
    refused(Access(world.metastore, clock=world.clock), token)


def test_without_tables_only_local_access_works(world: World, tmp_path: object) -> None:
    import forklake

    with forklake.open(f"ducklake:{tmp_path}/plain.db", create=True) as plain:
        access = Access(plain)
        assert access.principals.is_empty()
        refused(access, world.keys["alice"])
        with pytest.raises(NotFound, match="forklake access init"):
            access.principals.create(LOCAL, "alice")
        access.catalogs.create(LOCAL, CreateRequest(["sales"]))
        assert access.catalogs.fork(LOCAL, ForkRequest("sales", ["fork"]))[1] == 1
        assert access.audit.list(LOCAL) == []
        access.init()
        assert access.principals.is_empty()
        access.principals.create(LOCAL, "alice")
        assert not access.principals.is_empty()


def test_a_key_is_not_part_of_its_repr() -> None:
    key = new_key()
    assert key.text not in repr(key)
    assert key.text.rpartition("_")[2] not in str(key)
