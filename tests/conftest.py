"""Registers the fixtures that several test modules share, and orders the tests."""

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
        if "engine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.jvm)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    spark = {item.path for item in items if "engine" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (item.path not in slow, item.path not in spark))
