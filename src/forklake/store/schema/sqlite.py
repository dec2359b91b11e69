"""The schema in the form of SQLite."""

from __future__ import annotations

from forklake.store.schema.definitions import Definition, Kind
from forklake.store.schema.delta_log_views import ViewSyntax
from forklake.store.schema.description import Backend
from forklake.store.schema.embedded import EmbeddedStyle
from forklake.store.schema.form import Form
from forklake.store.schema.versions import version_rows

STYLE = EmbeddedStyle(Backend.SQLITE, has_partial_indexes=True, has_clustered_tables=True)
_HEADER = """The metastore's schema for SQLite 3.35 and newer.

Load it with `forklake init`, or by hand:  sqlite3 <file> < sqlite.sql"""
# The journal mode cannot be set inside the transaction that creates the schema.
_PREPARATION = (Definition(Kind.SETTING, "journal", "PRAGMA journal_mode = WAL"),)
_VIEWS = ViewSyntax(
    text="json_extract({column}, '$.{key}')",
    document="json_extract({column}, '$.{key}')",
    number="CAST(json_extract({column}, '$.{key}') AS BIGINT)",
    truth="CAST(json_extract({column}, '$.{key}') AS BOOLEAN)",
    collection="json_group_object({key}, {value})",
)
_ROWS = (
    Definition(
        Kind.ROWS,
        "ducklake_sequence",
        "INSERT INTO ducklake_sequence VALUES ('snapshot', 1), ('entity', 0), ('file', 0)",
    ),
    Definition(
        Kind.ROWS,
        "ducklake_snapshot",
        "INSERT INTO ducklake_snapshot"
        " VALUES (0, strftime('%Y-%m-%d %H:%M:%f000+00:00', 'now'), 0, 0, 0)",
        "Snapshot 0 is the empty metastore. The first catalog gets id 0 and snapshot 1.",
    ),
    *version_rows("key"),
)

FORM = Form(_HEADER, _VIEWS, _ROWS, preparation=_PREPARATION)
