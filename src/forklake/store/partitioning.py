"""Partitions of the large tables on PostgreSQL, made from the one schema file.

Only tables whose statements all name the column by which they are partitioned: then PostgreSQL
looks at one partition for each catalog on a line, however many there are. Keys stay as they are,
because each begins with that column.
"""

from __future__ import annotations

import re

from forklake.errors import InvalidInput, Unsupported
from forklake.store.database import Connection

# What grows with files. Rows of a catalog, by the catalog; rows that never change and that forks
# share, by the lake table: who wrote them is part of no key. Not here: what each opening or commit
# joins along the line (definitions, tombstones, statistics of tables), which took twice as long
# with 16 partitions; and the history of snapshots, also asked for by the snapshot alone.
PARTITIONED: dict[str, str] = {
    "ducklake_data_file": "catalog_id",
    "ducklake_delete_file": "catalog_id",
    "ducklake_inlined_delete": "catalog_id",
    "ducklake_file_column_stats": "table_id",
    "ducklake_file_partition_value": "table_id",
    "dl_file_actions": "table_id",
}
MOST = 256  # every statement that is planned has to look at all of them
_TABLE = re.compile(r"CREATE TABLE (\w+) (\(.*?\n\))( WITH \([^)]*\))?;", re.DOTALL)


def require_partitions(backend: str, count: int) -> None:
    """Refuse a number of partitions that a database cannot have."""
    if count == 0:
        return
    if backend != "postgresql":
        raise Unsupported(
            f"A metastore in {backend} has no partitions.",
            remedy="Leave out the partitions, or use PostgreSQL.",
        )
    if not 2 <= count <= MOST:
        raise InvalidInput(
            f"The tables cannot have {count} partitions.", remedy=f"Use 2 to {MOST}, such as 16."
        )


def partitioned(schema: str, count: int) -> str:
    """The schema with each large table in so many partitions; with none it stays as it is."""
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
    """The name of a partition."""
    return f"{table}_{number:03}"


def count_partitions(connection: Connection) -> int:
    """In how many partitions the large tables of a metastore are; 0 if they have none."""
    if connection.dialect.name != "postgresql":
        return 0
    ((count,),) = connection.fetch(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'ducklake_data_file'::regclass"
    )
    return int(count)
