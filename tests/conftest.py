"""Loads the fixtures that several test modules share."""

pytest_plugins = [
    "tests.fix_postgres",
    "tests.fix_proxy",
    "tests.fix_metastore",
    "tests.fix_spark",
    "tests.fix_lake",
]
