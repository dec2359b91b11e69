"""Schema of a metastore as the catalog of its database lists it, to compare two metastores."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from forklake.store.database import Connection

Fingerprint = dict[str, list[tuple[Any, ...]]]


def fingerprint_of(connection: Connection) -> Fingerprint:
    """Return all tables, columns, keys, indexes, views and sequences of a metastore."""
    queries = _QUERIES[connection.dialect.name]
    found = {name: [tuple(row) for row in connection.fetch(text)] for name, text in queries.items()}
    plain = _PLAIN.get(connection.dialect.name, _without_spaces)
    found["views"] = [(name, plain(str(text))) for name, text in found["views"]]
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def _without_spaces(text: str) -> str:
    text = re.sub(r"--.*", "", text)
    return re.sub(r"\s+", " ", re.sub(r"\s*([(),])\s*", r"\1", text)).strip(" ;")


def _without_database(text: str) -> str:
    return _without_spaces(re.sub(r"`metastore_\w+`\.", "", text))


_PLAIN: dict[str, Callable[[str], str]] = {"mysql": _without_database}
_HERE = "relnamespace = quote_ident(current_schema())::regnamespace"
_QUERIES: dict[str, dict[str, str]] = {
    "sqlite": {
        "tables": "SELECT l.name, l.wr, l.strict FROM pragma_table_list l WHERE l.type = 'table'",
        "columns": 'SELECT t.name, c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk,'
        " c.hidden FROM sqlite_master t, pragma_table_xinfo(t.name) c",
        "indexes": 'SELECT t.name, i.name, i."unique", i.origin, i.partial, c.seqno, c.name,'
        " c.\"desc\", c.coll, c.key, substr(m.sql, instr(m.sql, 'WHERE')) FROM sqlite_master t,"
        " pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c LEFT JOIN sqlite_master m"
        " ON m.name = i.name WHERE t.type = 'table' AND (m.sql IS NULL OR i.partial)"
        ' UNION ALL SELECT t.name, i.name, i."unique", i.origin, i.partial, c.seqno, c.name,'
        ' c."desc", c.coll, c.key, NULL FROM sqlite_master t,'
        " pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c LEFT JOIN sqlite_master m"
        " ON m.name = i.name WHERE t.type = 'table' AND m.sql IS NOT NULL AND NOT i.partial",
        "views": "SELECT name, sql FROM sqlite_master WHERE type = 'view'",
    },
    "duckdb": {
        "columns": "SELECT table_name, column_index, column_name, data_type, is_nullable,"
        " column_default FROM duckdb_columns() WHERE schema_name = current_schema()"
        " AND database_name = current_database()",
        "constraints": "SELECT table_name, constraint_type, constraint_column_names"
        " FROM duckdb_constraints() WHERE schema_name = current_schema()"
        " AND database_name = current_database()",
        "indexes": "SELECT table_name, index_name, is_unique, expressions FROM duckdb_indexes()"
        " WHERE schema_name = current_schema() AND database_name = current_database()",
        "sequences": "SELECT sequence_name, start_value, min_value, max_value, increment_by, cycle"
        " FROM duckdb_sequences() WHERE schema_name = current_schema()",
        "views": "SELECT view_name, sql FROM duckdb_views() WHERE schema_name = current_schema()"
        " AND NOT internal",
    },
    "postgresql": {
        "tables": "SELECT relname::text, relkind::text, array_to_string(ARRAY("
        "SELECT unnest(reloptions) ORDER BY 1), ','), relispartition, relpersistence::text"
        f" FROM pg_class WHERE {_HERE} AND relkind <> 'i'",
        "columns": "SELECT c.relname::text, a.attnum::int, a.attname::text,"
        " format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcollation::bigint,"
        " a.attstorage::text"
        f" FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE {_HERE}"
        " AND a.attnum > 0 AND c.relkind <> 'i'",
        "indexes": "SELECT c.relname::text, i.relname::text,"
        " replace(pg_get_indexdef(x.indexrelid), current_schema() || '.', ''), x.indisprimary,"
        " x.indisunique FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
        " JOIN pg_class c ON c.oid = x.indrelid"
        " WHERE c.relnamespace = quote_ident(current_schema())::regnamespace",
        "sequences": "SELECT sequencename::text, data_type::text, start_value, min_value,"
        " increment_by, cycle, cache_size FROM pg_sequences WHERE schemaname = current_schema()",
        "views": f"SELECT relname::text, pg_get_viewdef(oid) FROM pg_class WHERE {_HERE}"
        " AND relkind = 'v'",
    },
    "mysql": {
        "tables": "SELECT table_name, table_type, engine, table_collation"
        " FROM information_schema.tables WHERE table_schema = database()",
        "columns": "SELECT table_name, ordinal_position, column_name, column_type, is_nullable,"
        " collation_name, extra, column_key, column_default"
        " FROM information_schema.columns WHERE table_schema = database()",
        "indexes": "SELECT table_name, index_name, non_unique, seq_in_index, column_name, sub_part"
        " FROM information_schema.statistics WHERE table_schema = database()",
        "views": "SELECT table_name, view_definition FROM information_schema.views"
        " WHERE table_schema = database()",
    },
}
