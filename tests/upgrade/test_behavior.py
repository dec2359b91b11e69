"""Behavior tests on upgraded metastores of version 0.1.0.

All other tests run on them too: FORKLAKE_TEST_UPGRADED=1 pytest tests/behavior.
"""

from __future__ import annotations

import pytest

from tests.behavior.test_appending import *  # noqa: F403
from tests.behavior.test_forks import *  # noqa: F403
from tests.behavior.test_snapshots import *  # noqa: F403
from tests.behavior.test_sweeping import *  # noqa: F403
from tests.fix_metastore import Place
from tests.upgrade import dumps


@pytest.fixture
def place(vacant_place: Place) -> Place:
    """Return an upgraded metastore without catalogs."""
    dumps.load_empty(vacant_place)
    dumps.upgrade(vacant_place)
    return vacant_place
