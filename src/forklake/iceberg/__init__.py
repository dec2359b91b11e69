"""Lake tables as Iceberg tables: Iceberg metadata over the existing data files."""

from importlib.util import find_spec

from forklake.errors import Unsupported

if find_spec("pyiceberg") is None:
    raise Unsupported(
        "Iceberg tables need the package pyiceberg, which is not installed.",
        remedy="Install it: pip install 'forklake[iceberg]'.",
    )
