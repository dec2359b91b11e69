"""The doctor on PostgreSQL: each check with the fault that it looks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

import forklake
from forklake import Metastore
from forklake.catalog.doctor.checks import Finding, Weight
from forklake.catalog.doctor.examination import examine
from forklake.catalog.doctor.postgresql import CHECKS
from forklake.store.upgrade import upgrade
from tests.fix_postgres import PostgresServer

BY_NAME = {check.name: check for check in CHECKS}


@pytest.fixture
def metastore(postgres_dsn: str) -> Iterator[Metastore]:
    """Yield a metastore in its own database."""
    with forklake.open(f"ducklake:postgres:{postgres_dsn}", create=True) as found:
        yield found


@pytest.fixture
def admin(postgres_dsn: str) -> Iterator[psycopg.Connection]:
    """Yield a superuser session that causes faults."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        yield connection


def found(metastore: Metastore, name: str, **limits: float) -> list[Finding]:
    """Return the findings of one check."""
    check = BY_NAME[name]
    return examine(metastore, [replace(check, limits={**check.limits, **limits})])


def test_all_checks_run_and_find_nothing_in_a_fresh_metastore(metastore: Metastore) -> None:
    assert examine(metastore, CHECKS) == []


def test_checks_with_unreachable_limits_are_tested_with_lower_ones(metastore: Metastore) -> None:
    assert "PostgreSQL" in found(metastore, "version", least=10**9)[0].words
    assert "oldest unfrozen transaction" in found(metastore, "wraparound", transactions=0)[0].words
    assert found(metastore, "connections", share=0)[0].weight is Weight.SERIOUS


def test_invalid_indexes_and_tables_without_autovacuum_are_found(
    metastore: Metastore, admin: psycopg.Connection
) -> None:
    admin.execute("INSERT INTO ducklake_metadata (key, value) VALUES ('a', 'x'), ('a', 'x')")
    with pytest.raises(psycopg.errors.UniqueViolation):
        admin.execute("CREATE UNIQUE INDEX CONCURRENTLY ducklake_bad ON ducklake_metadata (key)")
    (bad,) = found(metastore, "invalid indexes")
    assert bad.words.startswith("The index ducklake_bad of table ducklake_metadata is invalid")
    assert bad.remedy == "Run: REINDEX INDEX CONCURRENTLY ducklake_bad;"

    admin.execute("ALTER TABLE ducklake_data_file SET (autovacuum_enabled = false)")
    (off,) = found(metastore, "autovacuum")
    assert off.words == "The table ducklake_data_file runs without autovacuum."


def test_settings_of_an_older_version_are_set_by_an_upgrade(
    metastore: Metastore, admin: psycopg.Connection
) -> None:
    admin.execute("ALTER TABLE ducklake_catalog_head RESET (fillfactor)")
    (one,) = found(metastore, "settings of tables")
    assert "ducklake_catalog_head lacks these storage parameters" in one.words
    assert upgrade(metastore.database).restored == ("ducklake_catalog_head",)
    assert found(metastore, "settings of tables") == []


def test_dead_rows_bloat_and_missing_statistics_are_found(
    metastore: Metastore, admin: psycopg.Connection
) -> None:
    admin.execute("ALTER TABLE ducklake_tombstone SET (autovacuum_enabled = false)")
    admin.execute(
        "INSERT INTO ducklake_tombstone SELECT 1, 1, 1, n, repeat('x', 100), 1, 1"
        " FROM generate_series(1, 20000) n"
    )
    admin.execute("SELECT pg_stat_force_next_flush()")
    assert found(metastore, "statistics", rows=10_000)[0].words == (
        "The table ducklake_tombstone was never analyzed."
    )
    admin.execute("DELETE FROM ducklake_tombstone WHERE entity_id <= 19000")
    admin.execute("SELECT pg_stat_force_next_flush()")
    (dead,) = found(metastore, "dead rows")
    assert "ducklake_tombstone has 19,000 dead rows and 1,000 live ones" in dead.words
    assert dead.words.endswith("Last vacuum: never.")
    assert found(metastore, "bloat", bytes=1_000_000) == []  # not analyzed yet
    admin.execute("VACUUM ANALYZE ducklake_tombstone")
    (bloat,) = found(metastore, "bloat", bytes=1_000_000)
    assert bloat.words.startswith("The table ducklake_tombstone takes ")
    assert found(metastore, "statistics", rows=500) == []
    admin.execute("VACUUM FULL ducklake_tombstone")
    assert found(metastore, "bloat", bytes=1_000_000) == []


def test_idle_and_long_transactions_are_found(metastore: Metastore, postgres_dsn: str) -> None:
    assert found(metastore, "idle in transaction", seconds=0) == []
    with psycopg.connect(postgres_dsn, application_name="forgotten") as idle:
        idle.execute("SELECT 1")
        (one,) = found(metastore, "idle in transaction", seconds=0)
        pid = idle.info.backend_pid
        assert one.words.startswith(f"Session {pid} (forgotten, ")
        assert f"pg_terminate_backend({pid})" in one.remedy
        assert found(metastore, "idle in transaction") == []  # below the limit
        with closing(psycopg.connect(postgres_dsn, application_name="busy")) as busy:
            busy.pgconn.send_query(b"SELECT pg_sleep(60)")
            while not (long := found(metastore, "long transactions", seconds=0)):
                pass  # until the query runs
            assert "(busy, " in long[0].words
            busy.cancel_safe()


def test_nearly_used_up_ids_and_locks_are_found(
    metastore: Metastore, admin: psycopg.Connection
) -> None:
    admin.execute("SELECT setval('ducklake_file_id_seq', 5000000000000)")
    (one,) = found(metastore, "ids")
    assert one.words.startswith("The sequence ducklake_file_id_seq has reached 5,000,000,000,000, ")
    assert found(metastore, "locks", transactions=10**6) == []  # without partitions


def test_faults_of_a_partitioned_metastore_are_found(postgres_dsn: str) -> None:
    with forklake.open(f"ducklake:postgres:{postgres_dsn}", create=True, partitions=4) as metastore:
        assert examine(metastore, CHECKS) == []
        (one,) = found(metastore, "locks", transactions=10**6)
        assert one.words.startswith("With 4 partitions a transaction may hold ")
        with psycopg.connect(postgres_dsn, autocommit=True) as admin:
            admin.execute(
                "INSERT INTO ducklake_inlined_delete SELECT n, 1, 1, n, 1"
                " FROM generate_series(1, 400) n"
            )
            admin.execute("DROP INDEX ducklake_data_file_path")
            admin.execute(
                "ALTER TABLE ducklake_data_file_002 RESET (autovacuum_vacuum_scale_factor)"
            )
            admin.execute("SELECT pg_stat_force_next_flush()")
        reported = [one.words for one in found(metastore, "statistics", rows=300)]
        assert reported == ["The table ducklake_inlined_delete was never analyzed."]
        assert upgrade(metastore.database).restored == (
            "ducklake_data_file_path",
            "ducklake_data_file_002",
        )


@pytest.mark.slow
def test_bad_server_settings_are_found() -> None:
    settings: dict[str, str | int] = {"max_connections": 12, "max_prepared_transactions": 2}
    settings |= dict.fromkeys(("fsync", "autovacuum", "synchronous_commit"), "off")
    with PostgresServer(settings) as server:
        uri = f"ducklake:postgres:{server.dsn()}"
        with forklake.open(uri, create=True) as metastore, psycopg.connect(server.dsn()) as other:
            other.autocommit = True
            other.execute("SELECT pg_create_physical_replication_slot('forgotten', true)")
            other.execute("BEGIN; CREATE TABLE x (y int); PREPARE TRANSACTION 'half'")
            extra = [psycopg.connect(server.dsn()) for _ in range(8)]
            reported = {one.check: one for one in examine(metastore, CHECKS)}
            half = found(metastore, "prepared transactions", seconds=0)
            for one in extra:
                one.close()
            other.execute("ROLLBACK PREPARED 'half'")
    serious = {"durability", "autovacuum", "replication slots", "connections"}
    assert {name for name, one in reported.items() if one.weight is Weight.SERIOUS} == serious
    assert set(reported) - serious == {"lost commits"}
    assert "replication slot forgotten" in reported["replication slots"].words
    assert half[0].words.startswith("The prepared transaction 'half' has been waiting")
