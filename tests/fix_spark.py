"""One Spark for the whole test run, in each worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Yield an engine on a small Spark. Start no other: `new_session` isolates."""
    from forklake.engines.spark.engine import Engine

    started = Engine.start(cores=2, memory="1500m")
    yield started
    started.close()
