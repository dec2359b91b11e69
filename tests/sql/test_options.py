"""Options: their scopes, values and listing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklake import Session
from forklake.errors import InvalidInput, NotFound
from tests.sql.test_functions import called, columns

# option -> (default, a value to set, its stored form)
OPTIONS: dict[str, tuple[str | None, str, str]] = {
    "data_inlining_row_limit": ("0", "25", "25"),
    "target_file_size": ("512MB", "'1GB'", "1000000000"),
    "parquet_compression": ("snappy", "'ZSTD'", "zstd"),
    "parquet_compression_level": (None, "7", "7"),
    "parquet_version": ("2", "'V1'", "1"),
    "parquet_row_group_size": (None, "1000", "1000"),
    "parquet_row_group_size_bytes": (None, "'128MiB'", "134217728"),
    "per_thread_output": ("false", "true", "true"),
    "hive_file_pattern": ("true", "false", "false"),
    "auto_compact": ("true", "'False'", "false"),
    "rewrite_delete_threshold": ("0.1", "0.25", "0.25"),
    "delete_older_than": ("2 days", "'1 week'", "1 week"),
    "expire_older_than": (None, "'30 days'", "30 days"),
    "require_commit_message": ("false", "true", "true"),
    "idempotency_key_retention": ("7 days", "'2 weeks'", "2 weeks"),
    "isolation_level": ("serializable", "'Snapshot'", "snapshot"),
    "encrypted": ("false", "true", "true"),
}
WHOLE_CATALOG = {
    "delete_older_than",
    "expire_older_than",
    "require_commit_message",
    "isolation_level",
    "idempotency_key_retention",
    "encrypted",
}
BAD = [
    ("nope", "1", "The option 'nope' does not exist. Options are: auto_compact, data_inlining"),
    ("data_inlining_row_limit", "-1", "a whole number, 0 or more"),
    ("data_inlining_row_limit", "'many'", "a whole number"),
    ("target_file_size", "'big'", "a size such as 512MB"),
    ("parquet_compression", "'zip'", "one of uncompressed, snappy, gzip, zstd"),
    ("parquet_compression_level", "'high'", "a whole number"),
    ("parquet_version", "3", "1 or 2"),
    ("parquet_row_group_size", "1.5", "a whole number"),
    ("parquet_row_group_size_bytes", "'1 PB'", "a size such as"),
    ("per_thread_output", "'maybe'", "true or false"),
    ("hive_file_pattern", "2", "true or false"),
    ("auto_compact", "'no'", "true or false"),
    ("rewrite_delete_threshold", "1.1", "must be between 0 and 1"),
    ("delete_older_than", "'soon'", "an interval such as '7 days'"),
    ("expire_older_than", "7", "an interval"),
    ("require_commit_message", "1", "true or false"),
    ("isolation_level", "'dirty'", "one of serializable, snapshot"),
    ("encrypted", "'yes'", "true or false"),
]

Options = dict[tuple[str, str, str | None], str | None]


def listed(session: Session) -> Options:
    """Return the values of options by name and scope."""
    rows = called(session, "CALL lake.options()")
    return {(name, scope, entry): value for name, _, value, scope, entry in rows}


def test_all_options_are_listed_with_their_defaults(dry: Session, tmp_path: Path) -> None:
    names = ["option_name", "description", "value", "scope", "scope_entry"]
    assert columns(dry, "CALL lake.options()") == names
    assert all(row[1] for row in called(dry, "CALL lake.options()"))
    expected = {(name, "GLOBAL", None): value for name, (value, *_) in OPTIONS.items()}
    # Of the attachment.
    assert listed(dry) == expected | {("data_inlining_row_limit", "GLOBAL", None): "10"}
    dry.attach(f"ducklake:{tmp_path / 'meta.db'}", "plain", catalog="sales")
    plain = {row[0]: row[2] for row in called(dry, "CALL plain.options()")}
    assert plain == {name: value for name, (value, *_) in OPTIONS.items()}


def test_options_are_set_in_each_allowed_scope(dry: Session) -> None:
    expected: Options = {}
    for name, (_, value, kept) in OPTIONS.items():
        dry.execute("CALL lake.set_commit_message('me', 'so that none is refused')")
        dry.execute(f"CALL ducklake_set_option('lake', '{name}', {value})")
        expected[name, "GLOBAL", None] = kept
        if name in WHOLE_CATALOG:
            continue
        dry.execute(f"CALL lake.set_option('{name.upper()}', {value}, schema => 's2')")
        dry.execute(f"CALL lake.set_option('{name}', {value}, schema => 's2', table_name => 'u')")
        expected |= {(name, "SCHEMA", "s2"): kept, (name, "TABLE", "s2.u"): kept}
    assert listed(dry) == expected


@pytest.mark.parametrize("name", sorted(WHOLE_CATALOG))
def test_some_options_apply_to_whole_catalogs_only(dry: Session, name: str) -> None:
    value = OPTIONS[name][1]
    for scope in ("schema => 's2'", "table_name => 't'"):
        with pytest.raises(InvalidInput, match=f"'{name}' cannot be set for a"):
            dry.execute(f"CALL lake.set_option('{name}', {value}, {scope})")


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_names_and_values_are_refused(
    dry: Session,
    name: str,
    value: str,
    message: str,
) -> None:
    before = listed(dry)
    with pytest.raises(InvalidInput, match=message):
        dry.execute(f"CALL lake.set_option('{name}', {value})")
    assert listed(dry) == before


def test_options_of_missing_objects_are_refused(dry: Session) -> None:
    with pytest.raises(NotFound, match="Schema 'nope' does not exist"):
        dry.execute("CALL lake.set_option('parquet_version', 1, schema => 'nope')")
    with pytest.raises(NotFound, match=r"'main\.nope' does not exist"):
        dry.execute("CALL lake.set_option('parquet_version', 1, table_name => 'nope')")


def test_null_removes_an_option(dry: Session) -> None:
    set_it = "CALL lake.set_option('parquet_version', {}, table_name => 's2.u')"
    dry.execute(set_it.format(1))
    assert listed(dry)["parquet_version", "TABLE", "s2.u"] == "1"
    dry.execute(set_it.format("NULL"))
    assert ("parquet_version", "TABLE", "s2.u") not in listed(dry)


def test_options_are_part_of_a_transaction_and_of_history(dry: Session) -> None:
    dry.execute("BEGIN; CALL lake.set_option('parquet_compression', 'zstd')")
    assert listed(dry)["parquet_compression", "GLOBAL", None] == "zstd"
    dry.execute("ROLLBACK")
    assert listed(dry)["parquet_compression", "GLOBAL", None] == "snappy"


def test_the_narrower_scope_applies(dry: Session) -> None:
    dry.execute("CALL lake.set_option('data_inlining_row_limit', 0)")
    dry.execute("CALL lake.set_option('data_inlining_row_limit', 5, schema => 's2')")
    dry.execute("INSERT INTO s2.u VALUES (1)")
    changes = [dict(row[3]) for row in called(dry, "CALL lake.snapshots()")]
    assert changes[-1] == {"inlined_insert": ["4"]}


def test_a_commit_message_can_be_required(dry: Session) -> None:
    dry.execute("CALL lake.set_option('require_commit_message', true)")
    with pytest.raises(InvalidInput, match="requires a commit message"):
        dry.execute("INSERT INTO t VALUES (3, 'z')")
    dry.execute("CALL lake.set_commit_message('me', 'a row'); INSERT INTO t VALUES (3, 'z')")
    dry.execute("CALL lake.set_option('target_file_size', '1GB')")
    with pytest.raises(InvalidInput, match=r"CALL <alias>\.set_commit_message"):
        dry.execute(
            "BEGIN; CALL lake.set_option('require_commit_message', false);"
            " INSERT INTO t VALUES (4, 'z'); COMMIT"
        )
    if dry.in_transaction:
        dry.rollback()
    dry.execute("CALL lake.set_option('require_commit_message', false)")
    dry.execute("INSERT INTO t VALUES (4, 'z')")
    dry.execute("BEGIN; CALL lake.set_option('require_commit_message', true)")
    dry.execute("INSERT INTO t VALUES (5, 'z'); COMMIT")
    stated = [row.commit_message for row in dry.snapshots("lake")][-6:]
    assert stated == [
        "set options: require_commit_message",
        "a row",
        "set options: target_file_size",
        "set options: require_commit_message",
        None,
        None,
    ]
