"""Views over the lake's tables that show the actions of a Delta log.

They differ between databases only in how a value is taken from JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.store.schema.definitions import Definition, Kind


@dataclass(frozen=True, slots=True)
class ViewSyntax:
    """Expressions of one database. `{column}` and `{key}` stand for a JSON object and its key.

    Args:
        text: a member that is a text.
        document: a member that is an object or an array, as JSON.
        number: a member that is a number.
        truth: a member that is true or false.
        collection: JSON object that aggregates the pairs `{key}` and `{value}`.
        joined: three texts, one after the other.
        text_type: type of texts in casts.
        key: the column with the name `key`, which some databases reserve.
    """

    text: str
    document: str
    number: str
    truth: str
    collection: str
    joined: str = "{0} || {1} || {2}"
    text_type: str = "VARCHAR"
    key: str = "key"


@dataclass(frozen=True, slots=True)
class _Member:
    """Expressions for members of JSON objects, by column and key: `member["body path"]`."""

    pattern: str

    def __getitem__(self, place: str) -> str:
        column, key = place.split()
        return self.pattern.format(column=column, key=key)


_SECTION = (
    "Delta actions as views over the rows of the lake. Their catalog_id is the catalog that "
    "committed a version: inherited versions are found under the ancestor "
    "(ducklake_catalog_lineage). Where a fork ended all inherited files of a table at once, "
    "there is a single tombstone, and the removes are not listed."
)
_MARKED_FILES = """
SELECT
    m.catalog_id, m.table_id, m.begin_snapshot, f.data_file_id, m.delete_file_id, f.path,
    f.file_size_bytes, f.record_count, f.partition_id
FROM (
    SELECT catalog_id, table_id, begin_snapshot, data_file_id, max(delete_file_id) AS delete_file_id
    FROM (
        SELECT catalog_id, table_id, begin_snapshot, data_file_id, delete_file_id
        FROM ducklake_delete_file
        UNION ALL
        SELECT catalog_id, table_id, begin_snapshot, data_file_id, NULL
        FROM ducklake_inlined_delete
    ) d
    GROUP BY catalog_id, table_id, begin_snapshot, data_file_id
) m
JOIN ducklake_data_file f
    ON f.table_id = m.table_id AND f.data_file_id = m.data_file_id
    AND f.begin_snapshot < m.begin_snapshot
-- One row for each file, even if materialized forks have copies.
WHERE f.catalog_id = (
    SELECT min(c.catalog_id) FROM ducklake_data_file c WHERE c.data_file_id = f.data_file_id
)
"""
_EARLIER_FILES = """
SELECT
    v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
    f.file_size_bytes, f.record_count, f.partition_id
FROM dl_tables d
JOIN dl_table_versions v
    ON v.catalog_id = d.catalog_id AND v.table_id = d.table_id
    AND v.begin_snapshot = d.begin_snapshot
JOIN ducklake_catalog_lineage l ON l.catalog_id = v.catalog_id
JOIN ducklake_data_file f
    ON f.catalog_id = l.ancestor_id AND f.table_id = v.table_id
    AND f.begin_snapshot <= l.upto_snapshot AND f.begin_snapshot < v.begin_snapshot
    AND (
        f.end_snapshot IS NULL OR f.end_snapshot > l.upto_snapshot
        OR f.end_snapshot > v.begin_snapshot
    )
WHERE NOT EXISTS (
    SELECT 1 FROM ducklake_catalog_lineage a
    JOIN dl_table_versions o
        ON o.catalog_id = a.ancestor_id AND o.table_id = v.table_id
        AND o.begin_snapshot <= a.upto_snapshot AND o.begin_snapshot < v.begin_snapshot
    WHERE a.catalog_id = v.catalog_id
) AND NOT EXISTS (
    SELECT 1 FROM ducklake_catalog_lineage a
    JOIN ducklake_tombstone t
        ON t.catalog_id = a.ancestor_id AND t.kind = 11 AND t.table_id = f.table_id
        AND t.entity_id = f.data_file_id
        AND t.end_snapshot <= a.upto_snapshot AND t.end_snapshot <= v.begin_snapshot
    WHERE a.catalog_id = v.catalog_id
)
"""
_ADD_FILES = """
WITH described AS (
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes, f.record_count, f.partition_id, b.body, b.body AS raw_action
    FROM dl_table_versions v
    JOIN ducklake_data_file f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.begin_snapshot = v.begin_snapshot
    LEFT JOIN dl_file_actions b
        ON b.table_id = f.table_id AND b.data_file_id = f.data_file_id
        AND b.delete_file_id IS NULL
    UNION ALL
    SELECT
        f.catalog_id, f.table_id, f.version, f.timestamp, f.operation, f.data_file_id, f.path,
        f.file_size_bytes, f.record_count, f.partition_id, b.body, b.body
    FROM dl_earlier_files f
    LEFT JOIN dl_file_actions b
        ON b.table_id = f.table_id AND b.data_file_id = f.data_file_id
        AND b.delete_file_id IS NULL
    UNION ALL
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes, f.record_count, f.partition_id, coalesce(a.body, b.body), a.body
    FROM dl_table_versions v
    JOIN dl_marked_files f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.begin_snapshot = v.begin_snapshot
    LEFT JOIN dl_file_actions a
        ON a.table_id = f.table_id AND a.data_file_id = f.data_file_id
        AND a.delete_file_id = f.delete_file_id
    LEFT JOIN dl_file_actions b
        ON b.table_id = f.table_id AND b.data_file_id = f.data_file_id
        AND b.delete_file_id IS NULL
)
SELECT
    catalog_id, table_id, version, data_file_id,
    coalesce({text[body path]}, path) AS path,
    file_size_bytes AS size,
    coalesce({number[body modificationTime]}, timestamp) AS modification_time,
    coalesce({truth[raw_action dataChange]}, operation <> 'OPTIMIZE') AS data_change,
    coalesce({document[body partitionValues]}, CASE WHEN partition_id IS NOT NULL THEN (
        SELECT {collection}
        FROM ducklake_file_partition_value p
        JOIN ducklake_partition_column k
            ON k.partition_id = described.partition_id
            AND k.partition_key_index = p.partition_key_index AND k.transform = 'identity'
        JOIN (
            SELECT l.catalog_id, c.table_id, c.column_id, c.column_name, row_number() OVER (
                PARTITION BY l.catalog_id, c.table_id, c.column_id ORDER BY c.begin_snapshot
            ) AS number
            FROM ducklake_catalog_lineage l
            JOIN ducklake_column c ON c.catalog_id = l.ancestor_id
        ) c
            ON c.catalog_id = described.catalog_id AND c.table_id = described.table_id
            AND c.column_id = k.column_id AND c.number = 1  -- physical name in the files
        WHERE p.table_id = described.table_id AND p.data_file_id = described.data_file_id
    ) END, '{{}}') AS partition_values,
    coalesce({text[body stats]}, {statistics}) AS stats,
    record_count AS num_records,
    {document[raw_action tags]} AS tags,
    {document[raw_action deletionVector]} AS deletion_vector,
    {number[body baseRowId]} AS base_row_id,
    {number[body defaultRowCommitVersion]} AS default_row_commit_version,
    {text[body clusteringProvider]} AS clustering_provider
FROM described
"""
_REMOVE_FILES = """
WITH described AS (
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes
    FROM dl_table_versions v
    JOIN ducklake_data_file f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.end_snapshot = v.begin_snapshot
    UNION ALL
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes
    FROM dl_table_versions v
    JOIN ducklake_tombstone t
        ON t.catalog_id = v.catalog_id AND t.kind = 11 AND t.table_id = v.table_id
        AND t.end_snapshot = v.begin_snapshot
    JOIN ducklake_data_file f ON f.table_id = t.table_id AND f.data_file_id = t.entity_id
    WHERE f.catalog_id = (
        SELECT min(c.catalog_id) FROM ducklake_data_file c WHERE c.data_file_id = f.data_file_id
    )
    UNION ALL
    SELECT
        v.catalog_id, v.table_id, v.version, v.timestamp, v.operation, f.data_file_id, f.path,
        f.file_size_bytes
    FROM dl_table_versions v
    JOIN dl_marked_files f
        ON f.catalog_id = v.catalog_id AND f.table_id = v.table_id
        AND f.begin_snapshot = v.begin_snapshot
)
SELECT
    n.catalog_id, n.table_id, n.version, n.data_file_id,
    coalesce({text[r.body path]}, {text[b.body path]}, n.path) AS path,
    n.file_size_bytes AS size,
    coalesce({number[r.body deletionTimestamp]}, n.timestamp) AS deletion_timestamp,
    coalesce({truth[r.body dataChange]}, n.operation <> 'OPTIMIZE') AS data_change,
    {document[r.body tags]} AS tags
FROM described n
LEFT JOIN dl_actions r
    ON r.catalog_id = n.catalog_id AND r.table_id = n.table_id AND r.version = n.version
    AND r.kind = 'remove' AND r.key = CAST(n.data_file_id AS {text_type})
LEFT JOIN dl_file_actions b
    ON b.table_id = n.table_id AND b.data_file_id = n.data_file_id AND b.delete_file_id IS NULL
"""
_METADATA_UPDATES = """
SELECT
    catalog_id, table_id, version,
    {text[body id]} AS delta_id,
    {text[body name]} AS name,
    {text[body description]} AS description,
    {text[body schemaString]} AS schema_string,
    {document[body partitionColumns]} AS partition_columns,
    {document[body configuration]} AS configuration,
    {number[body createdTime]} AS created_time
FROM dl_actions
WHERE kind = 'metaData'
"""
_PROTOCOL_UPDATES = """
SELECT
    catalog_id, table_id, version,
    {number[body minReaderVersion]} AS min_reader_version,
    {number[body minWriterVersion]} AS min_writer_version,
    {document[body readerFeatures]} AS reader_features,
    {document[body writerFeatures]} AS writer_features
FROM dl_actions
WHERE kind = 'protocol'
"""
_TXN_ACTIONS = """
SELECT
    catalog_id, table_id, version,
    {key} AS app_id,
    {number[body version]} AS txn_version,
    {number[body lastUpdated]} AS last_updated
FROM dl_actions
WHERE kind = 'txn'
"""
_VIEWS = (
    (
        "dl_marked_files",
        (
            "Data files of which a later snapshot deleted rows: a Delta log removes such a file, "
            "and adds it again with another deletion vector. delete_file_id is NULL if the row "
            "positions are inlined."
        ),
        _MARKED_FILES,
    ),
    (
        "dl_earlier_files",
        "Data files that a table had before it became a Delta table: its first version adds them.",
        _EARLIER_FILES,
    ),
    (
        "dl_add_files",
        (
            "`path` is that of the imported log, or else that of ducklake_data_file. `stats` of "
            "files that Forklake wrote only count rows: their bounds are in "
            "ducklake_file_column_stats. `body` is the add action of the file, whichever version "
            "added it, the other one is that of this version."
        ),
        _ADD_FILES,
    ),
    ("dl_remove_files", "", _REMOVE_FILES),
    ("dl_metadata_updates", "", _METADATA_UPDATES),
    ("dl_protocol_updates", "", _PROTOCOL_UPDATES),
    (
        "dl_txn_actions",
        (
            "Progress of applications (txn actions): txn_version is the application's, version "
            "the table's."
        ),
        _TXN_ACTIONS,
    ),
)


def define_views(syntax: ViewSyntax) -> Iterator[Definition]:
    """Yield the definitions of the views."""
    expressions = {
        "text": _Member(syntax.text),
        "document": _Member(syntax.document),
        "number": _Member(syntax.number),
        "truth": _Member(syntax.truth),
        "collection": syntax.collection.format(key="c.column_name", value="p.partition_value"),
        "statistics": syntax.joined.format("'{\"numRecords\":'", "record_count", "'}'"),
        "text_type": syntax.text_type,
        "key": syntax.key,
    }
    section = _SECTION
    for name, comment, template in _VIEWS:
        text = f"CREATE VIEW {name} AS\n{template.strip().format(**expressions)}"
        yield Definition(Kind.VIEW, name, text, comment, section)
        section = ""
