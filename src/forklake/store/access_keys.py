"""API keys of principals, and keys that sign tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.store.access import Principal
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Insert, Statement
from forklake.store.times import as_time

# Number of signing keys that are valid at a time: the current one and its predecessor.
LIVE_SIGNING_KEYS = 2


@dataclass(frozen=True, slots=True)
class KnownKey:
    """Stored API key and its principal."""

    principal: Principal
    secret_hash: str
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class KeyRow:
    """API key as it is listed."""

    key_id: str
    created_at: datetime
    is_revoked: bool


def find_key(connection: Connection, key_id: str) -> KnownKey | None:
    """Return the API key with this id, or None."""
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
    """Return the API keys of a principal, oldest first."""
    rows = connection.fetch(
        f"SELECT key_id, revoked_at IS NOT NULL, {connection.dialect.time('created_at')}"
        " FROM crucible_key WHERE principal_id = :principal ORDER BY created_at, key_id",
        principal=principal_id,
    )
    return [KeyRow(key_id, as_time(moment), bool(gone)) for key_id, gone, moment in rows]


def insert_key(
    database: Database, key_id: str, principal_id: int, secret_hash: str, now: datetime
) -> None:
    """Store a new API key."""
    columns = ("key_id", "principal_id", "secret_hash", "created_at")
    with database.writing() as connection:
        connection.commit(
            [Insert("crucible_key", columns, [(key_id, principal_id, secret_hash, now)])]
        )


def revoke_key(database: Database, key_id: str, principal_id: int, now: datetime) -> bool:
    """Revoke an API key of a principal. Return False if it has none such or it was revoked."""
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
    """Return (id, stored secret) of the valid signing keys, newest first."""
    rows = connection.fetch(
        "SELECT kid, secret FROM crucible_signing_key WHERE retired_at IS NULL ORDER BY kid DESC"
    )
    return [(kid, secret) for kid, secret in rows]


def add_signing_key(
    database: Database, secret: str, now: datetime, *, only_first: bool = False
) -> None:
    """Add a signing key, retire all but the newest of the others, and erase retired secrets.

    With `only_first`, do nothing if a valid signing key exists.
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
    """Store the secret of a signing key in another form, unless it was changed concurrently."""
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
