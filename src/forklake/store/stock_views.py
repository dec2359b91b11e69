"""Views through which stock DuckDB reads a catalog: the tables of DuckLake 1.0, read only.

They are defined over the views for tenants, so that an inherited fork looks like a catalog without
ancestors: rows of ancestors up to the fork, with the ends that the fork sees. Paths are absolute.
What a stock client cannot read is shown as a file whose path states the reason: a client that needs
it fails with that path in the error, and never returns fewer rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forklake.model.changes import ChangeKind
from forklake.model.children import BY_NAME, BY_STORED_VALUES
from forklake.model.fields import UNREADABLE
from forklake.model.ids import FOREVER
from forklake.model.kinds import INLINED_DELETE, INLINED_ROW
from forklake.model.names import PLACEHOLDER
from forklake.store.database import Dialect
from forklake.store.tenant_views import bound, view_text
from forklake.store.visibility import line_history, overlaps

VERSION = "1.0"  # of the tables, as the stock extension numbers them
_IN_METASTORE = "rows of this table live in the metastore: flush them to files first"
_UNREADABLE = "this table cannot be read: its Delta log requires an unsupported feature"
_VECTOR = "a deletion vector of this table could not be read"
_STORED_VALUES = "values of partition columns are stored beside the files of this table"
_INTERNAL_TAG = r"v.key NOT LIKE '\_forklake\_%'"
# Changes that a stock client can parse; all others are left out.
_KNOWN_CHANGES = frozenset(
    "dropped_schema dropped_table dropped_view created_schema created_table created_view"
    " created_scalar_macro created_table_macro dropped_scalar_macro dropped_table_macro"
    " inserted_into_table deleted_from_table altered_table altered_view inlined_insert"
    " inlined_delete inline_flush merge_adjacent rewrite_delete".split()
)
_UNKNOWN = "|".join(kind.value for kind in ChangeKind if kind.value not in _KNOWN_CHANGES)
_NAMED = '"([^"]|"")*"'
_TOLD_CHANGES = (
    f"nullif(ltrim(regexp_replace(v.changes_made, '(^|,)({_UNKNOWN})"
    rf":(-?[0-9]+|{_NAMED}(\.{_NAMED})?)', '', 'g'), ','), '')"
)
_FULL_PATH = (
    "CASE WHEN v.path_is_relative THEN rtrim(coalesce((SELECT c.data_path FROM ducklake_catalog c"
    " WHERE c.catalog_id = v.catalog_id LIMIT 1),"
    " {stock}.required(NULL, 'A catalog has no data path.')), '/') || '/' || v.path"
    " ELSE v.path END"
)
_NEEDS_STORED_VALUES = (
    "EXISTS (SELECT 1 FROM ducklake_column_mapping m JOIN ducklake_name_mapping n"
    " ON n.mapping_id = m.mapping_id AND n.is_partition"
    f" WHERE m.mapping_id = v.mapping_id AND m.type = '{BY_STORED_VALUES}')"
)
# A catalog can be attached under any name, so names in SQL texts are written without the catalog.
_OWN_NAMES = f"replace(v.sql, '{{{PLACEHOLDER}}}.', '')"
_NEWEST = "v.end_snapshot IS NULL"  # tables that have no history in DuckLake
# In DuckLake, a row position that is deleted in the metastore is never moved to a delete file: a
# client that finds it in both shows rows that do not exist. Forklake moves them to a delete file at
# some snapshot: from then on the data file is shown under another id, that of its next age.
_AGE = 1 << 43  # ids have 43 bits
_AGES = " LEFT JOIN {stock}.ages_of_files g ON g.data_file_id = v.data_file_id"
_AGES_OF_ITS_TIME = f"{_AGES} AND {overlaps('v', 'g.since', 'g.until')}"
_OF_AN_AGE = {"data_file_id": f"v.data_file_id + coalesce(g.age, 0) * {_AGE}"}
_WITHIN_AN_AGE = {
    **_OF_AN_AGE,
    "begin_snapshot": "greatest(v.begin_snapshot, g.since)",
    "end_snapshot": "least(v.end_snapshot, g.until)",
}


# Defaults of macros are expressions in Forklake, and values with a type in DuckLake.
_INTEGER, _FRACTION, _TRUTH = "^-?[0-9]+$", r"^-?[0-9]*\.[0-9]+$", "^(true|false)$"
_TEXT = "^''([^'']|'''')*''$"
_DIGITS = 18  # maximum digits of a number
_DEFAULT_TYPE = (
    "CASE WHEN v.default_value IS NULL THEN 'unknown'"
    f" WHEN v.default_value ~ '{_INTEGER}' THEN"
    " CASE WHEN length(v.default_value) < 10 THEN 'int32' ELSE 'int64' END"
    f" WHEN v.default_value ~ '{_FRACTION}' THEN"
    " 'decimal(' || length(translate(v.default_value, '-.', '')) || ','"
    " || length(split_part(v.default_value, '.', 2)) || ')'"
    f" WHEN v.default_value ~* '{_TRUTH}' THEN 'boolean' ELSE 'varchar' END"
)
_DEFAULT = (
    f"CASE WHEN v.default_value ~ '{_TEXT}' THEN"
    " replace(substring(v.default_value FROM 2 FOR length(v.default_value) - 2), '''''', '''')"
    " ELSE coalesce(v.default_value, 'NULL') END"
)
_KNOWN_MACRO = (
    "NOT EXISTS (SELECT 1 FROM ducklake_macro_impl i WHERE i.macro_id = v.macro_id"
    " AND i.dialect <> 'duckdb')"
    " AND NOT EXISTS (SELECT 1 FROM ducklake_macro_parameters p WHERE p.macro_id = v.macro_id"
    f" AND NOT (p.default_value ~* '{_TRUTH}' OR p.default_value ~ '{_TEXT}'"
    f" OR ((p.default_value ~ '{_INTEGER}' OR p.default_value ~ '{_FRACTION}')"
    f" AND length(p.default_value) <= {_DIGITS})))"
)


@dataclass(frozen=True, slots=True)
class Stock:
    """DuckLake table: its columns in order, expressions for some of them, and a row filter."""

    columns: str
    shown_as: Mapping[str, str] = field(default_factory=dict)
    where: str = "TRUE"
    joined: str = ""

    def text(self, source: str) -> str:
        """Return the SELECT over the rows of the view for tenants."""
        shown = (f"{self.shown_as.get(one, f'v.{one}')} AS {one}" for one in self.columns.split())
        return f"SELECT {', '.join(shown)} FROM ({source}) v{self.joined} WHERE {self.where}"


TABLES: dict[str, Stock] = {
    "ducklake_snapshot": Stock(
        "snapshot_id snapshot_time schema_version next_catalog_id next_file_id"
    ),
    "ducklake_snapshot_changes": Stock(
        "snapshot_id changes_made author commit_message commit_extra_info",
        {"changes_made": _TOLD_CHANGES},
    ),
    "ducklake_schema": Stock(
        "schema_id schema_uuid begin_snapshot end_snapshot schema_name path path_is_relative"
    ),
    "ducklake_schema_versions": Stock(
        "begin_snapshot schema_version table_id", {"table_id": "NULL::bigint"}
    ),
    "ducklake_table": Stock(
        "table_id table_uuid begin_snapshot end_snapshot schema_id table_name path path_is_relative"
    ),
    "ducklake_column": Stock(
        "column_id begin_snapshot end_snapshot table_id column_order column_name column_type"
        " initial_default default_value nulls_allowed parent_column default_value_type"
        " default_value_dialect"
    ),
    "ducklake_view": Stock(
        "view_id view_uuid begin_snapshot end_snapshot schema_id view_name dialect sql"
        " column_aliases",
        {"sql": _OWN_NAMES, "column_aliases": "coalesce(v.column_aliases, '')"},
        where="v.dialect = 'duckdb'",
    ),
    "ducklake_macro": Stock(
        "schema_id macro_id macro_name begin_snapshot end_snapshot", where=_KNOWN_MACRO
    ),
    "ducklake_macro_impl": Stock("macro_id impl_id dialect sql type", {"sql": _OWN_NAMES}),
    "ducklake_macro_parameters": Stock(
        "macro_id impl_id column_id parameter_name parameter_type default_value default_value_type",
        {"default_value": _DEFAULT, "default_value_type": _DEFAULT_TYPE},
    ),
    "ducklake_tag": Stock("object_id begin_snapshot end_snapshot key value", where=_INTERNAL_TAG),
    "ducklake_column_tag": Stock(
        "table_id column_id begin_snapshot end_snapshot key value", where=_INTERNAL_TAG
    ),
    "ducklake_data_file": Stock(
        "data_file_id table_id begin_snapshot end_snapshot file_order path path_is_relative"
        " file_format record_count file_size_bytes footer_size row_id_start partition_id"
        " encryption_key mapping_id partial_max",
        {
            **_WITHIN_AN_AGE,
            "path": f"CASE WHEN {_NEEDS_STORED_VALUES} THEN '{_STORED_VALUES}' ELSE {_FULL_PATH}"
            " END",
            "path_is_relative": "false",
            "partial_max": "substring(v.partial_file_info FROM 'partial_max:([0-9]+)')::bigint",
        },
        joined=_AGES_OF_ITS_TIME,
    ),
    "ducklake_delete_file": Stock(
        "delete_file_id table_id begin_snapshot end_snapshot data_file_id path path_is_relative"
        " format delete_count file_size_bytes footer_size encryption_key partial_max",
        {
            **_WITHIN_AN_AGE,
            "path": f"CASE WHEN v.format <> 'parquet' THEN '{_VECTOR}' ELSE {_FULL_PATH} END",
            "path_is_relative": "false",
            "format": "'parquet'",
            "partial_max": "NULL::bigint",
        },
        joined=_AGES_OF_ITS_TIME,
    ),
    "ducklake_table_stats": Stock(
        "table_id record_count next_row_id file_size_bytes", where=_NEWEST
    ),
    # In DuckLake they hold for all snapshots, in Forklake for the newest: they would hide rows of
    # other snapshots.
    "ducklake_table_column_stats": Stock(
        "table_id column_id contains_null contains_nan min_value max_value extra_stats",
        where="FALSE",
    ),
    "ducklake_file_column_stats": Stock(
        "data_file_id table_id column_id column_size_bytes value_count null_count min_value"
        " max_value contains_nan extra_stats",
        _OF_AN_AGE,
        joined=_AGES,
    ),
    "ducklake_file_partition_value": Stock(
        "data_file_id table_id partition_key_index partition_value", _OF_AN_AGE, joined=_AGES
    ),
    "ducklake_partition_info": Stock("partition_id table_id begin_snapshot end_snapshot"),
    "ducklake_partition_column": Stock(
        "partition_id table_id partition_key_index column_id transform"
    ),
    "ducklake_column_mapping": Stock("mapping_id table_id type", {"type": f"'{BY_NAME}'::varchar"}),
    "ducklake_name_mapping": Stock(
        "mapping_id column_id source_name target_field_id parent_column is_partition"
    ),
    "ducklake_files_scheduled_for_deletion": Stock(
        "data_file_id path path_is_relative schedule_start", where="FALSE"
    ),
    # Inlined rows have another format in Forklake: see `_unreadable`.
    "ducklake_inlined_data_tables": Stock("table_id table_name schema_version", where="FALSE"),
}
# DuckLake tables that are always empty.
_EMPTY = {
    "ducklake_file_variant_stats": "data_file_id bigint, table_id bigint, column_id bigint,"
    " variant_path varchar, shredded_type varchar, column_size_bytes bigint, value_count bigint,"
    " null_count bigint, min_value varchar, max_value varchar, contains_nan boolean,"
    " extra_stats varchar",
    "ducklake_sort_info": "sort_id bigint, table_id bigint, begin_snapshot bigint,"
    " end_snapshot bigint",
    "ducklake_sort_expression": "sort_id bigint, table_id bigint, sort_key_index bigint,"
    " expression varchar, dialect varchar, sort_direction varchar, null_order varchar",
}
_CATALOG = "(SELECT {stock}.catalog_id())"


def view_texts(tables: Mapping[str, Sequence[str]], dialect: Dialect) -> dict[str, str]:
    """Return the SELECT of each view; `tables` are those of the metastore, with their columns."""
    found = {"ages_of_files": _ages(dialect)}  # first, because other views use it
    found |= {
        name: stock.text(view_text(name, tables[name], dialect, _CATALOG))
        for name, stock in TABLES.items()
    }
    found["ducklake_data_file"] += f" UNION ALL {_unreadable(tables, dialect)}"
    found |= {name: _empty(columns) for name, columns in _EMPTY.items()}
    return found | {"ducklake_metadata": _METADATA, "deleted_positions": _positions(dialect)}


def inlined_table_names(tables: Mapping[str, Sequence[str]], dialect: Dialect) -> str:
    """Return the SELECT of the names of the tables that hold inlined rows of the catalog."""
    name = "ducklake_inlined_data_tables"
    source = view_text(name, tables[name], dialect, _CATALOG)
    return f"SELECT DISTINCT v.table_name FROM ({source}) v"


def inlined_ranges(dialect: Dialect) -> str:
    """Return the SELECT of the validity ranges of the rows in one of these tables, %1$I."""
    columns = ("r.table_id", "r.begin_snapshot")
    text = bound(line_history(INLINED_ROW, dialect, columns, table="%1$I"), _CATALOG)
    return f"SELECT h.*, count(*) FROM ({text}) h GROUP BY 1, 2, 3"


def _deleted(dialect: Dialect) -> str:
    """Return the SELECT of row positions deleted in the metastore, and until when."""
    columns = ("r.table_id", "r.data_file_id", "r.row_position", "r.begin_snapshot")
    return bound(line_history(INLINED_DELETE, dialect, columns), _CATALOG)


def _ages(dialect: Dialect) -> str:
    """Return the SELECT of the ages, [since, until), of data files with such positions."""
    return (
        f"WITH ended AS (SELECT DISTINCT h.data_file_id, h.seen_until FROM ({_deleted(dialect)}) h"
        " WHERE h.seen_until IS NOT NULL),"
        " begun AS (SELECT data_file_id, seen_until AS since FROM ended"
        " UNION SELECT data_file_id, 0 FROM ended)"
        " SELECT data_file_id, row_number() OVER ages - 1 AS age, since,"
        " lead(since) OVER ages AS until FROM begun"
        " WINDOW ages AS (PARTITION BY data_file_id ORDER BY since)"
    )


def _positions(dialect: Dialect) -> str:
    """Return the SELECT of deleted positions for DuckLake, in the ages before a delete file."""
    source = f"SELECT d.*, d.seen_until AS end_snapshot FROM ({_deleted(dialect)}) d"
    return (
        f"SELECT v.table_id, {_OF_AN_AGE['data_file_id']} AS file_id, v.row_position AS row_id,"
        f" v.begin_snapshot FROM ({source}) v{_AGES_OF_ITS_TIME}"
    )


def _unreadable(tables: Mapping[str, Sequence[str]], dialect: Dialect) -> str:
    """Return the SELECT of data files that no client can open: their path states the reason."""
    tags = view_text("ducklake_tag", tables["ducklake_tag"], dialect, _CATALOG)
    # A count of rows does not open files: so the view itself has to fail.
    uncounted = (
        "CASE WHEN end_snapshot IS NULL"
        f" THEN {{stock}}.required(NULL, '{_UNREADABLE}')::bigint ELSE 0 END"
    )
    reasons = (
        "SELECT table_id, begin_snapshot, end_snapshot, record_count,"
        f" '{_IN_METASTORE}' AS reason FROM {{stock}}.rows_in_metastore() UNION ALL"
        f" SELECT object_id, begin_snapshot, end_snapshot, {uncounted}, '{_UNREADABLE}'"
        f" FROM ({tags}) t WHERE key = '{UNREADABLE}'"
    )
    shown = {
        "data_file_id": f"{FOREVER}::bigint",
        "path": "u.reason",
        "path_is_relative": "false",
        "file_format": "'parquet'",
        "file_size_bytes": "1000::bigint",
        "row_id_start": "0::bigint",
    }
    known = ("table_id", "begin_snapshot", "end_snapshot", "record_count")
    columns = (
        shown.get(one, f"u.{one}" if one in known else "NULL")
        for one in TABLES["ducklake_data_file"].columns.split()
    )
    return f"SELECT {', '.join(columns)} FROM ({reasons}) u"


def _empty(columns: str) -> str:
    typed = (one.split() for one in columns.split(", "))
    return "SELECT " + ", ".join(f"NULL::{kind} AS {name}" for name, kind in typed) + " WHERE FALSE"


_METADATA = (
    "SELECT m.key::varchar, m.value::varchar, NULL::varchar AS scope, NULL::bigint AS scope_id"
    f" FROM (VALUES ('version', '{VERSION}'), ('created_by', 'Forklake'), ('encrypted', 'false'),"
    " ('data_path', {stock}.required((SELECT c.data_path FROM ducklake_catalog c"
    f" WHERE c.catalog_id = {_CATALOG} AND c.end_snapshot IS NULL),"
    " 'The catalog has no data path.'))) m (key, value)"
)
