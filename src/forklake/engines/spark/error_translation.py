"""Errors of Spark in a block of code, raised as errors of Forklake."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def translate_spark_errors() -> Iterator[None]:
    """Translate Spark errors to Forklake errors where the query or its data are at fault."""
    try:
        yield
    except Exception as reason:
        if "pyspark" not in sys.modules:  # it takes long to load, and has raised nothing
            raise
        from forklake.engines.spark.query_failures import translate_spark_error

        found = translate_spark_error(reason)
        if found is None:
            raise
        raise found from None
