"""Sessions on the one Spark of the test run, and a new catalog in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forklake import Session

if TYPE_CHECKING:
    from forklake.spark.engine.engine import Engine


@pytest.fixture
def metadata(tmp_path: Path) -> str:
    """Where a metastore may be made."""
    return f"ducklake:{tmp_path / 'meta.db'}"


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    """A session with nothing attached."""
    with Session(engine.spark) as found:
        yield found


@pytest.fixture
def lake(session: Session, metadata: str, tmp_path: Path) -> Session:
    """A session that uses a new catalog, attached as `lake`, with its files in `data`."""
    data = str(tmp_path / "data")
    session.attach(metadata, "lake", catalog="sales", data_path=data, create_if_not_exists=True)
    session.use("lake")
    return session
