"""Registers the fixtures that several test modules share, and marks and orders the tests."""

import pytest

pytest_plugins = [
    "tests.fix_folders",
    "tests.fix_java",
    "tests.fix_postgres",
    "tests.fix_mariadb",
    "tests.fix_proxy",
    "tests.fix_metastore",
    "tests.fix_spark",
    "tests.fix_lake",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run files with slow tests first, and those without Spark last.

    Otherwise one worker could end alone with a long file.
    """
    for item in items:
        mark(item)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    spark = {item.path for item in items if item.get_closest_marker("jvm")}
    items.sort(key=lambda item: (item.path not in slow, item.path not in spark))


def mark(item: pytest.Item) -> None:
    """Mark what a test needs, as far as its fixtures and parameters show it."""
    fixtures = getattr(item, "fixturenames", ())
    if "engine" in fixtures:
        item.add_marker(pytest.mark.jvm)
    if "mysql_address" in fixtures:
        item.add_marker(pytest.mark.mysql)
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        backend = item.callspec.params.get("backend")
        if isinstance(backend, str):
            item.add_marker(backend)
