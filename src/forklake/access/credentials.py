"""Format, parse and verify keys and tokens. No I/O.

A key is `fl_<key id>_<secret>`. Its secret has 256 bits of entropy: plain SHA-256 is enough.

A token is `fl2.<principal>.<catalog>.<rights>.<expiry>.<signing key>.<signature>.<signature>`. The
first signature is for PostgreSQL, which verifies tokens of tenants itself and therefore stores the
secret to do so. The second one is for services. Its secret can be stored wrapped, and cannot be
derived from the other one: a copy of the database is not enough to forge a token that a service
accepts.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import timedelta

from forklake.access.roles import Right, letters
from forklake.errors import Unauthenticated
from forklake.model.ids import CatalogId

_KEY = re.compile(r"fl_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_NUMBER = "(0|[1-9][0-9]{0,17})"
_TOKEN = re.compile(
    rf"fl2\.{_NUMBER}\.{_NUMBER}\.(r?f?w?a?o?)\.{_NUMBER}\.([0-9]{{6}})"
    r"\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})"
)
# A token with a longer lifetime is refused, even if its signature is valid.
LONGEST_TOKEN = timedelta(days=30)
_CLOCK_SKEW = timedelta(minutes=5)  # between the machines that create and verify tokens
LONGEST_TOKEN_SECONDS = int((LONGEST_TOKEN + _CLOCK_SKEW).total_seconds())


def refused() -> Unauthenticated:
    """Return the error for an invalid credential: the same for every reason, to reveal nothing."""
    return Unauthenticated("Invalid credential.", remedy="Provide a valid API key or token.")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A newly created key. Its text is shown once, and only the hash of its secret is stored."""

    key_id: str
    text: str = field(repr=False)
    secret_hash: str


def new_key() -> NewKey:
    """Create a random key."""
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    return NewKey(key_id, f"fl_{key_id}_{secret}", hash_of(secret))


def hash_of(secret: str) -> str:
    """Return the hash that is stored for a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def read_key(text: str) -> tuple[str, str] | None:
    """Parse a key to its id and the hash of its secret; None if the text is not a key."""
    found = _KEY.fullmatch(text)
    return (found[1], hash_of(found[2])) if found else None


def subject_of(text: str) -> str | None:
    """Return the unverified identity in a key or token, to count requests by; None for others."""
    found = _KEY.fullmatch(text)
    if found is not None:
        return found[1]
    return text.rpartition(".")[0].rpartition(".")[0] if _TOKEN.fullmatch(text) else None


def is_same(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


@dataclass(frozen=True, slots=True)
class Claim:
    """Content of a token."""

    principal_id: int
    catalog_id: CatalogId
    rights: frozenset[Right]
    expires_at: int  # seconds since 1970
    kid: str

    def text(self) -> str:
        """Return the part of the token that PostgreSQL verifies."""
        parts = (self.principal_id, self.catalog_id, letters(self.rights), self.expires_at)
        return ".".join(("fl2", *map(str, parts), self.kid))

    def signed(self, secret: str) -> str:
        """Return the text of the token with both signatures."""
        text = f"{self.text()}.{_signature(self.text(), tenant_secret(secret))}"
        return f"{text}.{_signature(text, secret)}"

    def is_current(self, now: float) -> bool:
        """Return whether the token has not expired, and its lifetime is not beyond the maximum."""
        return now < self.expires_at <= now + LONGEST_TOKEN_SECONDS


@dataclass(frozen=True, slots=True)
class SignedClaim:
    """Content of a token with its signature, which has not been verified."""

    claim: Claim
    text: str  # the signed text
    signature: str

    def is_signed_with(self, secret: str) -> bool:
        """Return whether the signature was made with a secret."""
        return is_same(_signature(self.text, secret), self.signature)


def read_token(text: str) -> SignedClaim | None:
    """Parse a token; None if the text is not one."""
    found = _TOKEN.fullmatch(text)
    if found is None or not found[3]:
        return None
    principal, catalog, rights, expiry, kid, _, signature = found.groups()
    given = frozenset(map(Right, rights))
    claim = Claim(int(principal), CatalogId(int(catalog)), given, int(expiry), kid)
    return SignedClaim(claim, text.rpartition(".")[0], signature)


def _signature(text: str, secret: str) -> str:
    digest = hmac.new(bytes.fromhex(secret), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def new_signing_secret() -> str:
    """Return a new signing secret, in hexadecimal."""
    return secrets.token_hex(32)


def tenant_secret(secret: str) -> str:
    """Derive the secret of the signature that PostgreSQL verifies. This cannot be reversed."""
    return hmac.digest(bytes.fromhex(secret), b"forklake tenants", "sha256").hex()
