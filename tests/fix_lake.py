"""Sessions on the shared Spark of the test run, and one with a new catalog."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forklake import Session

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


@pytest.fixture
def metadata(tmp_path: Path) -> str:
    """Return the address of a metastore that does not exist yet."""
    return f"ducklake:{tmp_path / 'meta.db'}"


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    """Yield a session without attached catalogs."""
    with Session(engine.spark) as found:
        yield found


@pytest.fixture
def lake(session: Session, metadata: str, tmp_path: Path) -> Session:
    """Return a session that uses a new catalog, attached as `lake`, with its files in `data`."""
    data = str(tmp_path / "data")
    session.attach(metadata, "lake", catalog="sales", data_path=data, create_if_not_exists=True)
    session.use("lake")
    return session
