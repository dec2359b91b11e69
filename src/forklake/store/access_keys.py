"""Keys that principals show, and keys with which tokens are signed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.store.access import Principal
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Insert, Statement
from forklake.store.times import as_time

# So many signing keys are good at a time: one to sign with, and the one before it.
LIVE_SIGNING_KEYS = 2


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key as it is kept, with whose it is."""

    principal: Principal
    secret_hash: str
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as it is listed."""

    key_id: str
    created_at: datetime
    is_revoked: bool


def find_key(connection: Connection, key_id: str) -> KnownKey | None:
    """The key of an id."""
    rows = connection.fetch(
        "SELECT p.principal_id, p.name, p.account, p.is_root, p.disabled_at IS NOT NULL,"
        " k.secret_hash, k.revoked_at IS NOT NULL"
        " FROM crucible_key k JOIN crucible_principal p ON p.principal_id = k.principal_id"
        " WHERE k.key_id = :key",
        key=key_id,
    )
    if not rows:
        return None
    number, name, account, is_root, is_disabled, secret_hash, is_revoked = rows[0]
    principal = Principal(number, name, account, bool(is_root), bool(is_disabled))
    return KnownKey(principal, secret_hash, bool(is_revoked))


def list_keys(connection: Connection, principal_id: int) -> list[KeyRow]:
    """The keys of a principal, oldest first."""
    rows = connection.fetch(
        f"SELECT key_id, revoked_at IS NOT NULL, {connection.dialect.time('created_at')}"
        " FROM crucible_key WHERE principal_id = :principal ORDER BY created_at, key_id",
        principal=principal_id,
    )
    return [KeyRow(key_id, as_time(moment), bool(gone)) for key_id, gone, moment in rows]


def insert_key(
    database: Database, key_id: str, principal_id: int, secret_hash: str, now: datetime
) -> None:
    """Keep a new key."""
    columns = ("key_id", "principal_id", "secret_hash", "created_at")
    with database.writing() as connection:
        connection.commit(
            [Insert("crucible_key", columns, [(key_id, principal_id, secret_hash, now)])]
        )


def revoke_key(database: Database, key_id: str, principal_id: int, now: datetime) -> bool:
    """Let a key of a principal be good no more; False if it was not."""
    with database.writing() as connection:
        revoked = connection.fetch(
            "UPDATE crucible_key SET revoked_at = :now WHERE key_id = :key"
            " AND principal_id = :principal AND revoked_at IS NULL RETURNING key_id",
            key=key_id,
            principal=principal_id,
            now=now,
        )
        connection.commit()
    return bool(revoked)


def signing_keys(connection: Connection) -> list[tuple[str, str]]:
    """Return the signing keys that are good and their secrets as stored, the newest first."""
    rows = connection.fetch(
        "SELECT kid, secret FROM crucible_signing_key WHERE retired_at IS NULL ORDER BY kid DESC"
    )
    return [(kid, secret) for kid, secret in rows]


def add_signing_key(
    database: Database, secret: str, now: datetime, *, only_first: bool = False
) -> None:
    """A new key to sign with; those before the last one are retired, and their secrets forgotten.

    With `only_first`, nothing happens where there is one.
    """
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        known = signing_keys(connection)
        if known and only_first:
            return
        ((count,),) = connection.fetch("SELECT count(*) FROM crucible_signing_key")
        row = (f"{count + 1:06d}", secret, now)
        retired = [kid for kid, _ in known[LIVE_SIGNING_KEYS - 1 :]]
        connection.commit(
            [
                Insert("crucible_signing_key", ("kid", "secret", "created_at"), [row]),
                *(_retire(kid, now) for kid in retired),
            ]
        )


def replace_signing_secret(database: Database, kid: str, stored: str, wanted: str) -> None:
    """Store the secret of a signing key in another form, unless it has changed meanwhile."""
    with database.writing() as connection:
        connection.commit(
            [
                Statement(
                    "UPDATE crucible_signing_key SET secret = :wanted"
                    " WHERE kid = :kid AND secret = :stored",
                    {"wanted": wanted, "kid": kid, "stored": stored},
                )
            ]
        )


def _retire(kid: str, now: datetime) -> Statement:
    return Statement(
        "UPDATE crucible_signing_key SET retired_at = :now, secret = '' WHERE kid = :kid",
        {"kid": kid, "now": now},
    )
