"""The schema in the form of DuckDB."""

from __future__ import annotations

from forklake.store.schema.definitions import Definition, Kind
from forklake.store.schema.delta_log_views import ViewSyntax
from forklake.store.schema.description import Backend
from forklake.store.schema.embedded import EmbeddedStyle
from forklake.store.schema.form import Form
from forklake.store.schema.versions import version_rows

STYLE = EmbeddedStyle(Backend.DUCKDB, has_partial_indexes=False, has_clustered_tables=False)
_HEADER = """The metastore's schema for DuckDB 1.4 and newer: one process at a time.

Load it with `forklake init`, or by hand:  duckdb <file> < duckdb.sql

DuckDB has no partial indexes: the write lock keeps the names of live catalogs unique."""
_SEQUENCES = tuple(
    Definition(
        Kind.SEQUENCE,
        f"ducklake_{name}_id_seq",
        f"CREATE SEQUENCE ducklake_{name}_id_seq {start}",
    )
    for name, start in (
        ("snapshot", "START 1"),
        ("entity", "MINVALUE 0 START 0"),
        ("file", "MINVALUE 0 START 0"),
    )
)
_VIEWS = ViewSyntax(
    text="{column} ->> '$.{key}'",
    document="{column} ->> '$.{key}'",
    number="CAST({column} ->> '$.{key}' AS BIGINT)",
    truth="CAST({column} ->> '$.{key}' AS BOOLEAN)",
    collection="CAST(json_group_object({key}, {value}) AS VARCHAR)",
)
_ROWS = (
    Definition(
        Kind.ROWS,
        "ducklake_snapshot",
        "INSERT INTO ducklake_snapshot VALUES (0, now(), 0, 0, 0)",
        "Snapshot 0 is the empty metastore. The first catalog gets id 0 and snapshot 1.",
    ),
    *version_rows("key"),
)

FORM = Form(_HEADER, _VIEWS, _ROWS, sequences=_SEQUENCES)
