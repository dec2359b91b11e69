"""Tables of the lake as Iceberg tables: metadata for readers, over the files that are there."""

from importlib.util import find_spec

from forklake.errors import Unsupported

if find_spec("pyiceberg") is None:
    raise Unsupported(
        "Iceberg tables need the package pyiceberg.",
        remedy="Install it: pip install 'forklake[iceberg]'.",
    )
