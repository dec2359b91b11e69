"""Loads the fixtures that several test modules share, and puts tests in order."""

import pytest

pytest_plugins = [
    "tests.fix_java",
    "tests.fix_postgres",
    "tests.fix_proxy",
    "tests.fix_metastore",
    "tests.fix_spark",
    "tests.fix_lake",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: no worker is left alone with one when all else is done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
