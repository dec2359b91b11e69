"""A service behind PgBouncer in transaction mode, which changes connections between transactions.

FORKLAKE_PGBOUNCER is the program where it is not on the path. Without it these tests are skipped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from psycopg.conninfo import conninfo_to_dict

import forklake
from forklake.crucible.settings import Settings
from forklake.errors import InvalidInput
from tests.concurrency.consistency import problems
from tests.crucible.served import RunningService, run_service
from tests.fix_metastore import Place

PROGRAM = os.environ.get("FORKLAKE_PGBOUNCER") or shutil.which(
    "pgbouncer", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
)
C = "/v1/catalogs"
CONFIGURATION = """
[databases]
* = host={host} port={port} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 3
logfile = {folder}/log
"""
pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(PROGRAM is None, reason="needs PgBouncer"),
]


@pytest.fixture
def pooled(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Yield the same database through a pooler with few connections."""
    assert PROGRAM is not None
    server = conninfo_to_dict(postgres_dsn)
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("pooler")))
    for above in (folder, *folder.parents):
        if above.owner() == "root" and os.geteuid() == 0 and above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    folder.chmod(0o777)
    file = folder / "pgbouncer.ini"
    file.write_text(CONFIGURATION.format(host=server["host"], port=server["port"], folder=folder))
    # PgBouncer refuses to run as root.
    user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None  # language: ok
    process = subprocess.Popen([PROGRAM, "-q", str(file)], user=user, stderr=subprocess.PIPE)
    try:
        dsn = f"host={folder} port=6432 user=postgres dbname={server['dbname']}"
        while not (folder / ".s.PGSQL.6432").exists():
            assert process.poll() is None, process.communicate()
        yield Place("postgresql", f"ducklake:postgres:{dsn}")
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture
def served(postgres_dsn: str, pooled: Place, tmp_path: Path) -> Iterator[RunningService]:
    """Yield a service behind the pooler; its tables were created without it."""
    forklake.open(f"ducklake:postgres:{postgres_dsn}", create=True).close()
    with run_service(Settings(metastore=pooled.uri, data_path=str(tmp_path))) as found:
        yield found


def test_a_service_works_behind_a_pooler(served: RunningService, postgres_dsn: str) -> None:
    alice = served.client_of("alice")
    assert alice.post(C, json={"name": "alice-a"}).status_code == 201

    def work(number: int) -> tuple[int, ...]:
        fork = f"alice-{number}"
        table = {"name": "t", "columns": [{"name": "x", "type": "int32"}]}
        with httpx.Client(
            base_url=served.address, headers=alice.headers, trust_env=False, timeout=60
        ) as client:
            return (
                client.post(f"{C}/alice-a/schemas", json={"name": f"s{number}"}).status_code,
                client.post(f"{C}/alice-a/forks", json={"name": fork}).status_code,
                client.post(f"{C}/{fork}/schemas/main/tables", json=table).status_code,
                client.get(f"{C}/{fork}/schemas/main/tables/t").status_code,
            )

    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(work, range(36))) == {(201, 201, 201, 200)}
    names = [f"alice-many-{number}" for number in range(100)]  # enough to be sent in bulk
    assert alice.post("/v1/batch/create", json={"names": names}).status_code == 201
    assert problems(Place("postgresql", f"ducklake:postgres:{postgres_dsn}")) == []


def test_a_schema_other_than_the_default_of_the_role_is_refused(pooled: Place) -> None:
    with pytest.raises(InvalidInput, match="pooler"):
        forklake.open(pooled.uri, metadata_schema="elsewhere")
