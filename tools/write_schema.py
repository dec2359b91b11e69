"""Write the schema files: `make schema`."""

from __future__ import annotations

from pathlib import Path

import forklake.store.schema
from forklake.store.schema.script import schema_files


def main() -> None:
    """Write all schema files beside the description that they are rendered from."""
    folder = Path(forklake.store.schema.__file__).parent
    for name, text in schema_files().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
