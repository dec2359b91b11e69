"""Partitioning of the large metastore tables on PostgreSQL, derived from the one schema file.

Only tables are partitioned whose statements all restrict the partitioning column: then PostgreSQL
scans one partition for each catalog in a lineage, however many partitions there are. The keys do
not change, because each begins with that column.
"""

from __future__ import annotations

import re

from forklake.errors import InvalidInput, Unsupported
from forklake.store.database import Connection

# Tables that grow with files. Rows of a catalog are partitioned by catalog. Immutable rows that
# forks share are partitioned by table: the catalog that wrote them is not part of their key.
# Not included: tables that every opening or commit joins with the lineage (definitions,
# tombstones, table statistics), which took twice as long with 16 partitions; and the history of
# snapshots, which is also queried by snapshot alone.
PARTITIONED: dict[str, str] = {
    "ducklake_data_file": "catalog_id",
    "ducklake_delete_file": "catalog_id",
    "ducklake_inlined_delete": "catalog_id",
    "ducklake_file_column_stats": "table_id",
    "ducklake_file_partition_value": "table_id",
    "dl_file_actions": "table_id",
}
MOST = 256  # planning a statement takes time for each partition
_TABLE = re.compile(r"CREATE TABLE (\w+) (\(.*?\n\))( WITH \([^)]*\))?;", re.DOTALL)


def require_partitions(backend: str, count: int) -> None:
    """Raise an error if the database does not support this number of partitions."""
    if count == 0:
        return
    if backend != "postgresql":
        raise Unsupported(
            f"Partitions are not supported for a metastore in {backend}.",
            remedy="Leave out the number of partitions, or use PostgreSQL.",
        )
    if not 2 <= count <= MOST:
        raise InvalidInput(
            f"The tables cannot be divided into {count} partitions.",
            remedy=f"Use 2 to {MOST}, such as 16.",
        )


def partitioned(schema: str, count: int) -> str:
    """Return the schema with each large table partitioned; unchanged if `count` is 0."""
    if count == 0:
        return schema

    def divided(match: re.Match[str]) -> str:
        name, body, settings = match[1], match[2], match[3] or ""
        if name not in PARTITIONED:
            return match[0]
        parts = (
            f"CREATE TABLE {partition_name(name, number)} PARTITION OF {name}"
            f" FOR VALUES WITH (MODULUS {count}, REMAINDER {number}){settings};"
            for number in range(count)
        )
        whole = f"CREATE TABLE {name} {body} PARTITION BY HASH ({PARTITIONED[name]});"
        return "\n".join((whole, *parts))

    return _TABLE.sub(divided, schema)


def partition_name(table: str, number: int) -> str:
    """Return the name of a partition."""
    return f"{table}_{number:03}"


def count_partitions(connection: Connection) -> int:
    """Return the number of partitions of the large tables; 0 if they are not partitioned."""
    if connection.dialect.name != "postgresql":
        return 0
    ((count,),) = connection.fetch(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'ducklake_data_file'::regclass"
    )
    return int(count)
