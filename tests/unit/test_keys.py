"""Encryption keys of files: random, derived, wrapped, and never shown."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.errors import Corruption, Forbidden, ForklakeError, InvalidInput
from forklake.files.keys import (
    KEY_FILE,
    Key,
    derived_key,
    is_wrapped,
    load_key_encryption_key,
    new_key,
    to_base64,
    unwrap,
    wrap,
)


def test_keys_are_random_and_have_16_bytes() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {16}


def test_a_key_is_not_part_of_its_repr() -> None:
    key = Key(b"0123456789abcdef")
    shown = f"{key} {key!r} {key!s} {key:>40} {[key]} %s" % key
    assert "0123" not in shown
    assert to_base64(key) not in shown
    assert "16 bytes" in shown
    again = pickle.loads(pickle.dumps(key))
    assert again == key
    assert repr(again) == repr(key)


def test_the_key_of_a_file_is_derived_from_the_job_key_and_its_name() -> None:
    job = b"j" * 16
    expected = hmac.new(job, b"ducklake-1.parquet", hashlib.sha256).digest()[:16]
    assert derived_key(job, "s3://bucket/a/b/ducklake-1.parquet") == expected
    assert derived_key(job, "/elsewhere/ducklake-1.parquet") == expected
    assert derived_key(job, "ducklake-2.parquet") != expected


@given(st.binary(min_size=16, max_size=32), st.sampled_from([16, 24, 32]))
def test_wrapped_keys_round_trip(key: bytes, size: int) -> None:
    kek = os.urandom(size)
    text = wrap(key, kek)
    assert is_wrapped(text)
    assert to_base64(key) not in text
    assert wrap(key, kek) != text
    assert unwrap(text, kek) == key


def test_without_a_key_encryption_key_keys_are_stored_as_base64() -> None:
    key = new_key()
    assert wrap(key, None) == base64.b64encode(key).decode()
    assert unwrap(wrap(key, None), None) == key
    assert unwrap(wrap(key, None), os.urandom(32)) == key


def test_a_missing_or_wrong_key_encryption_key_is_forbidden_and_shows_nothing() -> None:
    key, kek = new_key(), os.urandom(32)
    text = wrap(key, kek)
    for other in (None, os.urandom(32), os.urandom(16)):
        with pytest.raises(Forbidden, match=KEY_FILE) as error:
            unwrap(text, other)
        assert to_base64(key) not in str(error.value)
        assert text not in str(error.value)
    tampered = text[:-6] + ("AAAA" if text[-6:-2] != "AAAA" else "BBBB") + text[-2:]
    with pytest.raises(ForklakeError):
        unwrap(tampered, kek)
    with pytest.raises(Corruption):
        unwrap("not base64!", None)


def test_the_key_encryption_key_is_read_from_a_file(tmp_path: Path) -> None:
    kek = os.urandom(32)
    file = tmp_path / "kek"
    file.write_bytes(base64.encodebytes(kek))
    assert load_key_encryption_key(str(file), {}) == kek
    assert load_key_encryption_key(None, {KEY_FILE: str(file)}) == kek
    assert load_key_encryption_key(None, {}) is None
    with pytest.raises(Forbidden, match="cannot be read"):
        load_key_encryption_key(str(tmp_path / "none"), {})
    for bad in (b"", b"AAAA", b"!!!!", os.urandom(32)):
        file.write_bytes(bad)
        with pytest.raises((InvalidInput, Forbidden)) as error:
            load_key_encryption_key(str(file), {})
        assert str(file) in str(error.value)
