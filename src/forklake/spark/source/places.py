"""Places of tables, in words that any process can open: the options of `format("forklake")`.

Tasks that read and write files load this too, so the metastore is only imported to open one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput, Unsupported

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog
    from forklake.catalog.reading import Snapshotted
    from forklake.spark.naming import TableName
    from forklake.spark.session import Session

_ALIAS = "lake"
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


@dataclass(frozen=True, slots=True)
class When:
    """The moment at which a table is read; neither means now."""

    version: int | None = None
    timestamp: datetime | str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> When:
        """The moment that options name."""
        known = {key.lower(): value for key, value in options.items()}
        version, timestamp = known.get("version"), known.get("timestamp")
        if version is not None and timestamp is not None:
            raise InvalidInput(
                "Both a version and a timestamp are given.", remedy="Give one of them."
            )
        return cls(None if version is None else number("version", version), timestamp)

    def seen(self, catalog: Catalog) -> Snapshotted:
        """A catalog as it was then."""
        from forklake.spark.attachments import moment

        if self.version is None and self.timestamp is None:
            return catalog.now()
        return catalog.at(
            version=self.version,
            timestamp=None if self.timestamp is None else moment(self.timestamp),
        )


NOW = When()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table is: a metastore, a catalog in it, and the table's name."""

    uri: str
    catalog: str
    table: str
    metadata_schema: str | None = None
    data_path: str | None = None
    data_inlining_row_limit: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Place:
        """The place that options name, whatever the case of their keys."""
        known = {key.lower(): value for key, value in options.items()}
        missing = [name for name in ("uri", "catalog", "table") if not known.get(name)]
        if missing:
            raise InvalidInput(
                f"The option {' and '.join(repr(name) for name in missing)} is needed.",
                remedy="Give uri (ducklake:...), catalog and table (schema.table).",
            )
        return cls(**{name: known.get(name) for name in cls.__slots__})  # type: ignore[arg-type]

    @classmethod
    def attached(cls, name: TableName) -> Place:
        """The place of a table of an attached catalog."""
        from forklake.store.uri import parse_uri

        attachment = name.attachment
        target = parse_uri(attachment.uri)
        if target.backend == "duckdb":
            raise Unsupported(
                f"The metastore of '{attachment.alias}' is a DuckDB file, which other processes"
                " cannot open while this one does.",
                remedy="Keep the metastore in PostgreSQL or SQLite.",
            )
        location = target.location
        if target.backend == "sqlite":
            location = str(Path(location).absolute())
        return cls(
            uri=f"ducklake:{target.backend}:{location}",
            catalog=attachment.catalog.name,
            table=f'"{_doubled(name.schema)}"."{_doubled(name.table)}"',
            metadata_schema=attachment.metadata_schema,
            data_path=attachment.catalog.row.data_path,
            data_inlining_row_limit=attachment.defaults.get("data_inlining_row_limit"),
        )

    def options(self) -> dict[str, str]:
        """The options that name the place."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @contextmanager
    def opened(self, when: When = NOW) -> Iterator[tuple[Session, TableName]]:
        """A session that has the catalog attached, and what it calls the table."""
        from forklake.spark.session import Session

        limit = self.data_inlining_row_limit
        with Session() as session:
            session.attach(
                self.uri,
                _ALIAS,
                catalog=self.catalog,
                metadata_schema=self.metadata_schema,
                data_path=self.data_path,
                override_data_path=self.data_path is not None,
                data_inlining_row_limit=None
                if limit is None
                else number("data_inlining_row_limit", limit),
            )
            session.use(_ALIAS)
            yield (
                session,
                session.resolve(self.table, version=when.version, timestamp=when.timestamp),
            )


def number(name: str, text: str, least: int = 0) -> int:
    """The value of an option that is a whole number."""
    if not text.strip().isdecimal() or int(text) < least:
        raise InvalidInput(
            f"The option {name} cannot be {text!r}.", remedy=f"Use a number from {least} on."
        )
    return int(text)


def switch(name: str, text: str | None) -> bool:
    """The value of an option that is on or off."""
    word = (text or "false").strip().lower()
    if word not in _TRUE + _FALSE:
        raise InvalidInput(f"The option {name} cannot be {text!r}.", remedy="Use true or false.")
    return word in _TRUE


def _doubled(name: str) -> str:
    return name.replace('"', '""')
