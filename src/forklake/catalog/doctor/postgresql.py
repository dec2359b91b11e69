"""Checks of a metastore in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklake.catalog.doctor.checks import Check, Limits, Weight
from forklake.store.partitioning import PARTITIONED, count_partitions
from forklake.store.postgresql import PostgresDatabase
from forklake.store.schema_comparison import find_other_settings

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

_OURS = (
    "c.relnamespace = quote_ident(current_schema())::regnamespace"
    " AND c.relname ~ '^(ducklake|dl|crucible|reagent)_'"
)
# Other client sessions in this database.
_OTHERS = (
    "FROM pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()"
    " AND a.backend_type = 'client backend'"
)
_WHO = "a.pid, coalesce(nullif(a.application_name, ''), 'unnamed'), a.usename::text"
_INDEXES_OF_A_PARTITION = 3


def _settings(metastore: Metastore, _: Limits) -> Iterator[tuple[str, str]]:
    with metastore.database.reading() as connection:
        for table, wanted in find_other_settings(connection).items():
            yield table, ", ".join(sorted(wanted))


def _pooler(metastore: Metastore, _: Limits) -> Iterator[tuple[str]]:
    assert isinstance(metastore.database, PostgresDatabase)
    if metastore.database.is_pooled:
        yield (metastore.database.address,)


def _locks(metastore: Metastore, limits: Limits) -> Iterator[tuple[int, int, int]]:
    """Yield the use of locks if few transactions over all partitions can fill the lock table."""
    with metastore.database.reading() as connection:
        count = count_partitions(connection)
        ((room,),) = connection.fetch(
            "SELECT current_setting('max_locks_per_transaction')::bigint"
            " * current_setting('max_connections')::bigint"
        )
    needed = count * len(PARTITIONED) * (1 + _INDEXES_OF_A_PARTITION)
    if needed * limits["transactions"] > room:
        yield count, needed, room


_BLOAT = f"""
SELECT b.name, pg_size_pretty(b.size), pg_size_pretty(b.needed) FROM (
    SELECT c.relname::text AS name, pg_relation_size(c.oid) AS size,
        (1.2 * 100 / coalesce((SELECT o.option_value::float FROM pg_options_to_table(c.reloptions) o
            WHERE o.option_name = 'fillfactor'), 100)
        * c.reltuples * (28 + (SELECT coalesce(sum(s.avg_width * (1 - s.null_frac)), 0)
            FROM pg_stats s WHERE s.schemaname = current_schema() AND s.tablename = c.relname))
        )::bigint AS needed
    FROM pg_class c WHERE {_OURS} AND c.relkind = 'r' AND c.reltuples >= 0
) b WHERE b.size > :bytes AND b.size > :times * b.needed ORDER BY b.size DESC
"""
_DEAD = f"""
SELECT c.relname::text, pg_stat_get_dead_tuples(c.oid), pg_stat_get_live_tuples(c.oid),
    coalesce(to_char(greatest(pg_stat_get_last_vacuum_time(c.oid),
        pg_stat_get_last_autovacuum_time(c.oid)), 'YYYY-MM-DD HH24:MI'), 'never')
FROM pg_class c WHERE {_OURS} AND c.relkind = 'r' AND pg_stat_get_dead_tuples(c.oid) > :rows
    AND pg_stat_get_dead_tuples(c.oid) > :share * pg_stat_get_live_tuples(c.oid)
ORDER BY 2 DESC
"""
_UNKNOWN = f"""
SELECT c.relname::text FROM pg_class c WHERE {_OURS} AND c.relkind IN ('r', 'p')
    AND pg_stat_get_last_analyze_time(c.oid) IS NULL
    AND pg_stat_get_last_autoanalyze_time(c.oid) IS NULL
    AND c.reltuples < 0 AND :rows < CASE c.relkind WHEN 'r' THEN pg_stat_get_live_tuples(c.oid)
        ELSE (SELECT sum(pg_stat_get_live_tuples(i.inhrelid)) FROM pg_inherits i
            WHERE i.inhparent = c.oid) END
ORDER BY 1
"""

CHECKS = (
    Check(
        "version",
        Weight.SERIOUS,
        "SELECT current_setting('server_version')"
        " WHERE current_setting('server_version_num')::int < :least",
        "The server runs PostgreSQL {0}, which is not supported.",
        "Upgrade it to version 14 or later.",
        {"least": 140_000},
    ),
    Check(
        "durability",
        Weight.SERIOUS,
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')"
        " AND setting = 'off'",
        "{0} is off: a crash of the server may destroy the metastore.",
        "Set {0} to on.",
    ),
    Check(
        "lost commits",
        Weight.ADVICE,
        "SELECT name FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'",
        "{0} is off: a crash of the server may lose the last commits, but keep their files.",
        "Set {0} to on.",
    ),
    Check(
        "settings of tables",
        Weight.ADVICE,
        _settings,
        "The table {0} lacks these storage parameters: {1}.",
        "Run: forklake init --upgrade.",
    ),
    Check(
        "invalid indexes",
        Weight.SERIOUS,
        "SELECT c.relname::text, t.relname::text FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid"
        f" WHERE {_OURS} AND NOT i.indisvalid",
        "The index {0} of table {1} is invalid: it is updated, but never used.",
        "Run: REINDEX INDEX CONCURRENTLY {0};",
    ),
    Check(
        "autovacuum",
        Weight.SERIOUS,
        "SELECT 'The server' WHERE current_setting('autovacuum') = 'off'"
        " OR current_setting('track_counts') = 'off' UNION ALL"
        f" SELECT 'The table ' || c.relname FROM pg_class c WHERE {_OURS}"
        " AND c.reloptions::text LIKE '%autovacuum_enabled=false%'",
        "{0} runs without autovacuum.",
        "Enable autovacuum: without it tables grow, and finally all writes stop.",
    ),
    Check(
        "dead rows",
        Weight.ADVICE,
        _DEAD,
        "The table {0} has {1:,} dead rows and {2:,} live ones. Last vacuum: {3}.",
        "End long transactions and unused replication slots, then run: VACUUM (ANALYZE) {0};",
        {"rows": 10_000, "share": 0.3},
    ),
    Check(
        "bloat",
        Weight.ADVICE,
        _BLOAT,
        "The table {0} takes {1}, but its rows need only about {2}.",
        "New rows reuse the space. To release it: VACUUM FULL {0}; (locks it), or pg_repack.",
        {"bytes": 100_000_000, "times": 3},
    ),
    Check(
        "statistics",
        Weight.ADVICE,
        _UNKNOWN,
        "The table {0} was never analyzed.",
        "Run: ANALYZE {0}; for partitioned tables regularly, from a timer.",
        {"rows": 10_000},
    ),
    Check(
        "long transactions",
        Weight.ADVICE,
        f"SELECT {_WHO}, extract(epoch FROM now() - a.xact_start)::bigint {_OTHERS}"
        " AND a.state = 'active' AND now() - a.xact_start > :seconds * interval '1 second'",
        "Session {0} ({1}, {2}) has been in one transaction for {3:,} s.",
        "Until it ends no dead row can be removed. To cancel it: SELECT pg_cancel_backend({0});",
        {"seconds": 600},
    ),
    Check(
        "idle in transaction",
        Weight.SERIOUS,
        f"SELECT {_WHO}, extract(epoch FROM now() - a.state_change)::bigint {_OTHERS}"
        " AND a.state LIKE 'idle in transaction%'"
        " AND now() - a.state_change > :seconds * interval '1 second'",
        "Session {0} ({1}, {2}) has been idle for {3:,} s in an open transaction.",
        "Run: SELECT pg_terminate_backend({0}); and set idle_in_transaction_session_timeout.",
        {"seconds": 60},
    ),
    Check(
        "prepared transactions",
        Weight.SERIOUS,
        "SELECT gid, extract(epoch FROM now() - prepared)::bigint FROM pg_prepared_xacts"
        " WHERE now() - prepared > :seconds * interval '1 second'",
        "The prepared transaction {0!r} has been waiting for {1:,} s.",
        "Run COMMIT PREPARED or ROLLBACK PREPARED: it holds locks and keeps dead rows.",
        {"seconds": 600},
    ),
    Check(
        "replication slots",
        Weight.SERIOUS,
        "SELECT slot_name::text, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(),"
        " restart_lsn)) FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL"
        " AND NOT pg_is_in_recovery()",
        "The replication slot {0} has no reader and keeps {1} of the write-ahead log.",
        "Start its reader, or drop the slot: SELECT pg_drop_replication_slot('{0}');",
    ),
    Check(
        "lag of replicas",
        Weight.ADVICE,
        "SELECT coalesce(nullif(application_name, ''), client_addr::text, 'unnamed'),"
        " extract(epoch FROM replay_lag)::bigint FROM pg_stat_replication"
        " WHERE replay_lag > :seconds * interval '1 second'",
        "The replica {0} is {1:,} s behind.",
        "Reads from this replica are outdated. Check its disk and its network.",
        {"seconds": 60},
    ),
    Check(
        "wraparound",
        Weight.SERIOUS,
        "SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()"
        " AND age(datfrozenxid) > :transactions",
        "The oldest unfrozen transaction is {0:,} transactions old; at 2,100 million all writes"
        " stop.",
        "End long transactions and unused replication slots, then run: VACUUM (FREEZE);",
        {"transactions": 1_000_000_000},
    ),
    Check(
        "ids",
        Weight.SERIOUS,
        "SELECT sequencename::text, last_value FROM pg_sequences"
        " WHERE schemaname = current_schema() AND sequencename ~ '^ducklake_'"
        " AND last_value > :most",
        "The sequence {0} has reached {1:,}, but ids have at most 43 bits.",
        "It was probably set by hand: set it back before more ids are assigned.",
        {"most": 2**42},
    ),
    Check(
        "connections",
        Weight.SERIOUS,
        "SELECT count(*), current_setting('max_connections')::bigint FROM pg_stat_activity"
        " WHERE backend_type = 'client backend'"
        " HAVING count(*) > :share * current_setting('max_connections')::bigint",
        "{0:,} of {1:,} connections are in use.",
        "Use PgBouncer in transaction mode, or raise max_connections.",
        {"share": 0.8},
    ),
    Check(
        "locks",
        Weight.ADVICE,
        _locks,
        "With {0} partitions a transaction may hold {1:,} locks; the server has room for {2:,}.",
        "Raise max_locks_per_transaction and restart the server.",
        {"transactions": 10},
    ),
    Check(
        "pooler",
        Weight.ADVICE,
        _pooler,
        "The connection to {0} uses a pooler: statements are planned on each execution.",
        "This works, but costs time. The service has its own pool: connect it to the server.",
    ),
)
