"""Keys of encrypted files: one key per file, stored in the metastore, optionally wrapped.

Files use Parquet modular encryption with a key of 16 bytes. A Spark job gets one job key; the key
of each file is derived from it and the name of the file, so executors need no other secret. The
metastore stores a key as base64 text, or wrapped by a key-encryption key (AES-GCM). The
key-encryption key is read from the file in FORKLAKE_KEY_FILE and is never stored.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from posixpath import basename

from forklake.errors import Corruption, Forbidden, InvalidInput

KEY_FILE = "FORKLAKE_KEY_FILE"
KEY_BYTES = 16
_WRAPPED = "forklake-wrapped-1:"
_NONCE_BYTES = 12
_KEK_BYTES = (16, 24, 32)
_HOW_TO_MAKE = "Create one with: umask 077; openssl rand -base64 32 > FILE"


class Key(bytes):
    """Key bytes that are hidden in logs, plans and messages."""

    def __repr__(self) -> str:
        return f"<key of {len(self)} bytes>"

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return repr(self)


def new_key() -> Key:
    """Return a random key for one file or one job."""
    return Key(secrets.token_bytes(KEY_BYTES))


def derived_key(job_key: bytes, path: str) -> Key:
    """Derive the key of a file from the job key and the file name, without folders."""
    return Key(hmac.digest(job_key, basename(path).encode(), hashlib.sha256)[:KEY_BYTES])


def to_base64(key: bytes) -> str:
    """Return a key as base64 text, without wrapping it."""
    return base64.b64encode(key).decode()


# Key-encryption key


def load_key_encryption_key(
    path: str | None = None, environment: Mapping[str, str] = os.environ
) -> Key | None:
    """Read the key-encryption key from `path`, or from the file in FORKLAKE_KEY_FILE.

    Returns None if neither is set.
    """
    chosen = path or environment.get(KEY_FILE)
    if not chosen:
        return None
    try:
        text = Path(chosen).read_text("ascii")
    except (OSError, UnicodeDecodeError) as reason:
        cause = reason.strerror if isinstance(reason, OSError) else "it is not text"
        raise Forbidden(
            f"The key file {chosen!r} cannot be read: {cause}.",
            remedy=f"Set {KEY_FILE} to a file with a base64 key. {_HOW_TO_MAKE}",
        ) from None
    try:
        key = base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        key = b""
    if len(key) not in _KEK_BYTES:
        raise InvalidInput(
            f"The key file {chosen!r} does not hold 16, 24 or 32 bytes in base64.",
            remedy=_HOW_TO_MAKE,
        )
    return Key(key)


def wrap(key: bytes, kek: bytes | None) -> str:
    """Return the text to store for a key: wrapped, or plain base64 without a key-encryption key."""
    if kek is None:
        return to_base64(key)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return _WRAPPED + to_base64(nonce + AESGCM(kek).encrypt(nonce, key, _WRAPPED.encode()))


def is_wrapped(text: str) -> bool:
    """Return whether a stored key needs the key-encryption key."""
    return text.startswith(_WRAPPED)


def unwrap(text: str, kek: bytes | None) -> Key:
    """Return the key that a stored text contains.

    Raises:
        Forbidden: the key is wrapped, and the key-encryption key is missing or another one.
    """
    if not is_wrapped(text):
        return Key(_decoded(text))
    if kek is None:
        raise Forbidden(
            "A stored file key is wrapped, but no key-encryption key is set.",
            remedy=f"Set {KEY_FILE} to the file with the key-encryption key.",
        )
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = _decoded(text.removeprefix(_WRAPPED))
    nonce, sealed = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
    try:
        return Key(AESGCM(kek).decrypt(nonce, sealed, _WRAPPED.encode()))
    except (InvalidTag, ValueError):
        raise Forbidden(
            "The key-encryption key does not match: a stored file key was wrapped with another.",
            remedy=f"Set {KEY_FILE} to the file with the key-encryption key that was in use.",
        ) from None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Corruption(
            "A stored file key is not base64.", remedy="Restore the metastore from a backup."
        ) from None
