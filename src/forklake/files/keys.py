"""Keys of encrypted files: one for each file, stored in the metastore, wrapped where wanted.

Files are encrypted by Parquet's own encryption with a key of 16 bytes. A Spark job gets one job
key; the key of each file it writes follows from that and the file's name, so that executors need
nothing else. In the metastore a key is base64 text, or wrapped by a key-encryption key (AES-GCM),
which is read from the file that FORKLAKE_KEY_FILE names and never stored.
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
_HOW_TO_MAKE = "Make one with: umask 077; openssl rand -base64 32 > FILE"


class Key(bytes):
    """Key bytes that do not show themselves in logs, plans and messages."""

    def __repr__(self) -> str:
        return f"<key of {len(self)} bytes>"

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return repr(self)


def new_key() -> Key:
    """A random key, for one file or one job."""
    return Key(secrets.token_bytes(KEY_BYTES))


def derived_key(job_key: bytes, path: str) -> Key:
    """The key of a file that a job wrote: the job key and the file's name without folders."""
    return Key(hmac.digest(job_key, basename(path).encode(), hashlib.sha256)[:KEY_BYTES])


def to_base64(key: bytes) -> str:
    """The plain text of a key."""
    return base64.b64encode(key).decode()


# Key-encryption key


def load_key_encryption_key(
    path: str | None = None, environment: Mapping[str, str] = os.environ
) -> Key | None:
    """The key-encryption key of a file, or of the one the environment names; None if neither."""
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
    """The text that is stored for a key; plain base64 where no key-encryption key is in use."""
    if kek is None:
        return to_base64(key)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return _WRAPPED + to_base64(nonce + AESGCM(kek).encrypt(nonce, key, _WRAPPED.encode()))


def is_wrapped(text: str) -> bool:
    """Whether a stored key needs the key-encryption key."""
    return text.startswith(_WRAPPED)


def unwrap(text: str, kek: bytes | None) -> Key:
    """The key that a stored text holds."""
    if not is_wrapped(text):
        return Key(_decoded(text))
    if kek is None:
        raise Forbidden(
            "A stored key is wrapped, but no key-encryption key is set.",
            remedy=f"Set {KEY_FILE} to the file that holds it.",
        )
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = _decoded(text.removeprefix(_WRAPPED))
    nonce, sealed = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
    try:
        return Key(AESGCM(kek).decrypt(nonce, sealed, _WRAPPED.encode()))
    except (InvalidTag, ValueError):
        raise Forbidden(
            "The key-encryption key is not the one that a stored key was wrapped with.",
            remedy=f"Set {KEY_FILE} to the file that holds the right one.",
        ) from None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Corruption(
            "A stored file key is not base64.", remedy="Restore the metastore from a backup."
        ) from None
