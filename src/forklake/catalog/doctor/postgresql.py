"""Checks of a metastore in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklake.catalog.doctor.checks import Check, Limits, Weight
from forklake.store.completing import other_settings
from forklake.store.partitioning import PARTITIONED, count_partitions
from forklake.store.postgresql import PostgresDatabase

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

_OURS = (
    "c.relnamespace = quote_ident(current_schema())::regnamespace"
    " AND c.relname ~ '^(ducklake|dl|crucible|reagent)_'"
)
# Sessions of others in this database.
_OTHERS = (
    "FROM pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()"
    " AND a.backend_type = 'client backend'"
)
_WHO = "a.pid, coalesce(nullif(a.application_name, ''), 'unnamed'), a.usename::text"
_INDEXES_OF_A_PARTITION = 3


def _settings(metastore: Metastore, _: Limits) -> Iterator[tuple[str, str]]:
    with metastore.database.reading() as connection:
        for table, wanted in other_settings(connection).items():
            yield table, ", ".join(sorted(wanted))


def _pooler(metastore: Metastore, _: Limits) -> Iterator[tuple[str]]:
    assert isinstance(metastore.database, PostgresDatabase)
    if metastore.database.is_pooled:
        yield (metastore.database.address,)


def _locks(metastore: Metastore, limits: Limits) -> Iterator[tuple[int, int, int]]:
    """Whether few transactions that touch all partitions would fill the table of locks."""
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
        "The server is PostgreSQL {0}.",
        "Upgrade it: 14 is the oldest that is supported.",
        {"least": 140_000},
    ),
    Check(
        "durability",
        Weight.SERIOUS,
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')"
        " AND setting = 'off'",
        "The server runs with {0} off: after a crash the metastore may be lost.",
        "Set it to on.",
    ),
    Check(
        "lost commits",
        Weight.ADVICE,
        "SELECT name FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'",
        "{0} is off: after a crash the last commits may be missing whose files are there.",
        "Set it to on.",
    ),
    Check(
        "settings of tables",
        Weight.ADVICE,
        _settings,
        "The table {0} lacks the settings {1}.",
        "Run: forklake init.",
    ),
    Check(
        "invalid indexes",
        Weight.SERIOUS,
        "SELECT c.relname::text, t.relname::text FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid"
        f" WHERE {_OURS} AND NOT i.indisvalid",
        "The index {0} of {1} is invalid: it is kept up and not used.",
        "Run: REINDEX INDEX CONCURRENTLY {0};",
    ),
    Check(
        "autovacuum",
        Weight.SERIOUS,
        "SELECT 'The server' WHERE current_setting('autovacuum') = 'off'"
        " OR current_setting('track_counts') = 'off' UNION ALL"
        f" SELECT 'The table ' || c.relname FROM pg_class c WHERE {_OURS}"
        " AND c.reloptions::text LIKE '%autovacuum_enabled=false%'",
        "{0} does without autovacuum.",
        "Switch it on: without it tables grow and at last nothing can be written.",
    ),
    Check(
        "dead rows",
        Weight.ADVICE,
        _DEAD,
        "{0} has {1:,} dead rows beside {2:,} live ones; it was cleaned last: {3}.",
        "If nothing holds them (long transactions, slots), run: VACUUM (ANALYZE) {0};",
        {"rows": 10_000, "share": 0.3},
    ),
    Check(
        "bloat",
        Weight.ADVICE,
        _BLOAT,
        "{0} takes {1}, and its rows need about {2}.",
        "New rows fill the room. To give it back: VACUUM FULL {0}; (locks it), or pg_repack.",
        {"bytes": 100_000_000, "times": 3},
    ),
    Check(
        "statistics",
        Weight.ADVICE,
        _UNKNOWN,
        "{0} was never analysed.",
        "Run: ANALYZE {0}; of partitioned tables it has to be run from a timer.",
        {"rows": 10_000},
    ),
    Check(
        "long transactions",
        Weight.ADVICE,
        f"SELECT {_WHO}, extract(epoch FROM now() - a.xact_start)::bigint {_OTHERS}"
        " AND a.state = 'active' AND now() - a.xact_start > :seconds * interval '1 second'",
        "Session {0} ({1}, {2}) has been in one transaction for {3:,} s.",
        "While it lasts no dead row goes. If nobody needs it: SELECT pg_cancel_backend({0});",
        {"seconds": 600},
    ),
    Check(
        "idle in transaction",
        Weight.SERIOUS,
        f"SELECT {_WHO}, extract(epoch FROM now() - a.state_change)::bigint {_OTHERS}"
        " AND a.state LIKE 'idle in transaction%'"
        " AND now() - a.state_change > :seconds * interval '1 second'",
        "Session {0} ({1}, {2}) has done nothing for {3:,} s in an open transaction.",
        "SELECT pg_terminate_backend({0}); and set idle_in_transaction_session_timeout.",
        {"seconds": 60},
    ),
    Check(
        "prepared transactions",
        Weight.SERIOUS,
        "SELECT gid, extract(epoch FROM now() - prepared)::bigint FROM pg_prepared_xacts"
        " WHERE now() - prepared > :seconds * interval '1 second'",
        "The prepared transaction {0!r} has waited for {1:,} s.",
        "COMMIT PREPARED or ROLLBACK PREPARED it: it holds locks and dead rows.",
        {"seconds": 600},
    ),
    Check(
        "replication slots",
        Weight.SERIOUS,
        "SELECT slot_name::text, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(),"
        " restart_lsn)) FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL"
        " AND NOT pg_is_in_recovery()",
        "Nobody reads the replication slot {0}, which keeps {1} of the log.",
        "Start its reader, or: SELECT pg_drop_replication_slot('{0}');",
    ),
    Check(
        "lag of replicas",
        Weight.ADVICE,
        "SELECT coalesce(nullif(application_name, ''), client_addr::text, 'unnamed'),"
        " extract(epoch FROM replay_lag)::bigint FROM pg_stat_replication"
        " WHERE replay_lag > :seconds * interval '1 second'",
        "The replica {0} is {1:,} s behind.",
        "Whoever reads there sees the past; look at its disk and network.",
        {"seconds": 60},
    ),
    Check(
        "wraparound",
        Weight.SERIOUS,
        "SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()"
        " AND age(datfrozenxid) > :transactions",
        "The oldest transaction that is not frozen is {0:,} back; at 2,100 million writing stops.",
        "Find what holds it back (long transactions, slots), then run: VACUUM (FREEZE);",
        {"transactions": 1_000_000_000},
    ),
    Check(
        "ids",
        Weight.SERIOUS,
        "SELECT sequencename::text, last_value FROM pg_sequences"
        " WHERE schemaname = current_schema() AND sequencename ~ '^ducklake_'"
        " AND last_value > :most",
        "The sequence {0} has reached {1:,}.",
        "Ids may have 43 bits: somebody has set it by hand. Set it back before it is used.",
        {"most": 2**42},
    ),
    Check(
        "connections",
        Weight.SERIOUS,
        "SELECT count(*), current_setting('max_connections')::bigint FROM pg_stat_activity"
        " WHERE backend_type = 'client backend'"
        " HAVING count(*) > :share * current_setting('max_connections')::bigint",
        "{0:,} of {1:,} connections are taken.",
        "Put PgBouncer before the server, in transaction mode, or raise max_connections.",
        {"share": 0.8},
    ),
    Check(
        "locks",
        Weight.ADVICE,
        _locks,
        "With {0} partitions a transaction may hold {1:,} locks, and there is room for {2:,}.",
        "Raise max_locks_per_transaction and restart the server.",
        {"transactions": 10},
    ),
    Check(
        "pooler",
        Weight.ADVICE,
        _pooler,
        "A pooler stands before {0}: statements are planned each time they run.",
        "That costs some time and works. The service keeps a pool itself: connect it directly.",
    ),
)
