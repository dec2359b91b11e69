"""Credentials: how keys and tokens are written, read and checked. Nothing here asks anybody.

A key is `fl_<key id>_<secret>`: 256 random bits, of which the SHA-256 is kept; so much chance
needs no slow hash. A token is
`fl1.<principal>.<catalog>.<rights>.<expiry>.<signing key>.<signature>`: it says what it allows,
and is signed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

from forklake.access.roles import Right, letters
from forklake.errors import Unauthenticated
from forklake.model.ids import CatalogId

_KEY = re.compile(r"fl_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_NUMBER = "(0|[1-9][0-9]{0,17})"
_TOKEN = re.compile(
    rf"fl1\.{_NUMBER}\.{_NUMBER}\.(r?f?w?a?o?)\.{_NUMBER}\.([0-9]{{6}})\.([A-Za-z0-9_-]{{43}})"
)


def refused() -> Unauthenticated:
    """The one error for every credential that is not good, whatever is wrong with it."""
    return Unauthenticated(
        "The credential is not good.", remedy="Show a key or a token that is valid."
    )


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key as it is made; the text is shown once."""

    key_id: str
    text: str = field(repr=False)
    secret_hash: str


def new_key() -> NewKey:
    """A key that nobody has."""
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    return NewKey(key_id, f"fl_{key_id}_{secret}", hash_of(secret))


def hash_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def read_key(text: str) -> tuple[str, str] | None:
    """The id of a key and the hash of its secret; None if the text is no key."""
    found = _KEY.fullmatch(text)
    return (found[1], hash_of(found[2])) if found else None


def is_same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


@dataclass(frozen=True, slots=True)
class Claim:
    """What a token says."""

    principal_id: int
    catalog_id: CatalogId
    rights: frozenset[Right]
    expires_at: int  # seconds since 1970
    kid: str

    def text(self) -> str:
        """The part of the token that is signed."""
        parts = (self.principal_id, self.catalog_id, letters(self.rights), self.expires_at)
        return ".".join(("fl1", *map(str, parts), self.kid))

    def signed(self, secret: str) -> str:
        """The token."""
        return f"{self.text()}.{_signature(self.text(), secret)}"


def read_token(text: str) -> tuple[Claim, str] | None:
    """What a token says and its signature, which is yet to be checked; None if it is none."""
    found = _TOKEN.fullmatch(text)
    if found is None or not found[3]:
        return None
    principal, catalog, rights, expiry, kid, signature = found.groups()
    given = frozenset(map(Right, rights))
    return Claim(int(principal), CatalogId(int(catalog)), given, int(expiry), kid), signature


def is_signed(claim: Claim, signature: str, secret: str) -> bool:
    """Whether it was us who signed."""
    return is_same(_signature(claim.text(), secret), signature)


def _signature(text: str, secret: str) -> str:
    digest = hmac.new(bytes.fromhex(secret), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def new_signing_secret() -> str:
    """A secret to sign with."""
    return secrets.token_hex(32)
