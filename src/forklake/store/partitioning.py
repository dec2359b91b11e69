"""Partitioning of the large metastore tables on PostgreSQL.

Only tables are partitioned whose statements all restrict the partitioning column: then PostgreSQL
scans one partition for each catalog in a lineage, however many partitions there are. The keys do
not change, because each begins with that column.
"""

from __future__ import annotations

from forklake.errors import InvalidInput, Unsupported
from forklake.store.database import Connection
from forklake.store.schema.metastore import TABLES

# Tables that grow with files. Rows of a catalog are partitioned by catalog. Immutable rows that
# forks share are partitioned by table: the catalog that wrote them is not part of their key.
# Not included: tables that every opening or commit joins with the lineage (definitions,
# tombstones, table statistics), which took twice as long with 16 partitions; and the history of
# snapshots, which is also queried by snapshot alone.
PARTITIONED: dict[str, str] = {
    one.name: one.partitioned_by for one in TABLES if one.partitioned_by is not None
}
MOST = 256  # planning a statement takes time for each partition


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


def count_partitions(connection: Connection) -> int:
    """Return the number of partitions of the large tables; 0 if they are not partitioned."""
    if connection.dialect.name != "postgresql":
        return 0
    ((count,),) = connection.fetch(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'ducklake_data_file'::regclass"
    )
    return int(count)
