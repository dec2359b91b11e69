"""A small catalog for statements that need no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forklake import Session

_SETUP = """
    CREATE TABLE t (a INTEGER NOT NULL, b VARCHAR);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    CREATE SCHEMA s2;
    CREATE TABLE s2.u (k BIGINT)
"""


@pytest.fixture
def dry(tmp_path: Path) -> Iterator[Session]:
    """Yield a session that must not start Spark, with tables `t` (with inlined rows) and `s2.u`.

    Snapshot 1 created the catalog, 2 t, 3 its rows, 4 the schema and 5 s2.u.
    """
    with Session() as session:
        fill(session, tmp_path)
        yield session
        assert session._engine is None


def fill(session: Session, folder: Path) -> None:
    """Attach a new catalog as `lake`, and create its tables."""
    session.attach(
        f"ducklake:{folder / 'meta.db'}",
        "lake",
        catalog="sales",
        data_path=str(folder / "data"),
        data_inlining_row_limit=10,
        create_if_not_exists=True,
    )
    session.use("lake")
    session.execute(_SETUP)
