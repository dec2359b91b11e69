"""Locations of tables as the options of `format("forklake")`, with which any process can open them.

Tasks that read and write files import this module too, so the metastore is imported only on use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput, Unsupported

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog
    from forklake.catalog.snapshot_reads import SnapshotReads
    from forklake.session.name_resolution import TableName
    from forklake.session.session import Session

SOURCE = "forklake"  # name of the data source for Spark
_ALIAS = "lake"
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


# Names of options, in lower case. Those for snapshots include the names of other table formats.
VERSIONS = ("version", "versionasof", "snapshot_version")
TIMESTAMPS = ("timestamp", "timestampasof", "snapshot_time")
READING = (*VERSIONS, *TIMESTAMPS, "pushdown", "readchangefeed")
STREAMING = (
    *(*VERSIONS, *TIMESTAMPS, "readchangefeed", "startingversion"),
    *("maxsnapshotspertrigger", "ignoredeletes", "ignorechanges"),
)
WRITING: tuple[str, ...] = ()
STREAM_WRITING = ("checkpointlocation", "queryname")  # Spark passes them on from the stream


@dataclass(frozen=True, slots=True)
class When:
    """Snapshot at which a table is read, by version or timestamp; with neither, the newest one."""

    version: int | None = None
    timestamp: datetime | str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> When:
        """Return the snapshot that options select."""
        known = {key.lower(): (key, value) for key, value in options.items()}
        versions = [known[name] for name in VERSIONS if name in known]
        timestamps = [known[name] for name in TIMESTAMPS if name in known]
        if len(versions) + len(timestamps) > 1:
            named = [name for name, _ in (*versions, *timestamps)]
            raise InvalidInput(
                f"The options {' and '.join(named)} each select a snapshot.",
                remedy="Set only one of them.",
            )
        version = number(*versions[0]) if versions else None
        return cls(version, timestamps[0][1] if timestamps else None)

    def seen(self, catalog: Catalog) -> SnapshotReads:
        """Return the catalog at this snapshot."""
        from forklake.session.attachments import moment

        if self.version is None and self.timestamp is None:
            return catalog.now()
        return catalog.at(
            version=self.version,
            timestamp=None if self.timestamp is None else moment(self.timestamp),
        )


NOW = When()


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a table: a metastore, a catalog in it, and the name of the table."""

    uri: str
    catalog: str
    table: str
    metadata_schema: str | None = None
    data_path: str | None = None
    data_inlining_row_limit: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Place:
        """Return the location that options contain; their keys are not case-sensitive."""
        known = {key.lower(): value for key, value in options.items()}
        missing = [name for name in ("uri", "catalog", "table") if not known.get(name)]
        if missing:
            raise InvalidInput(
                f"Required options are missing: {', '.join(missing)}.",
                remedy="Set uri (ducklake:...), catalog and table (schema.table).",
            )
        return cls(**{name: known.get(name) for name in cls.__slots__})  # type: ignore[arg-type]

    @classmethod
    def attached(cls, name: TableName) -> Place:
        """Return the location of a table of an attached catalog."""
        from forklake.store.uri import parse_uri

        attachment = name.attachment
        target = parse_uri(attachment.uri)
        if target.backend == "duckdb":
            raise Unsupported(
                f"The metastore of '{attachment.alias}' is a DuckDB file, which other processes"
                " cannot open while this process has it open.",
                remedy="Use a metastore in PostgreSQL or SQLite.",
            )
        location = target.location
        if target.backend == "sqlite":
            location = str(Path(location).absolute())
        return cls(
            uri=f"ducklake:{target.backend}:{location}",
            catalog=attachment.catalog.name,
            table=f'"{_double_quotes(name.schema)}"."{_double_quotes(name.table)}"',
            metadata_schema=attachment.metadata_schema,
            data_path=attachment.catalog.row.data_path,
            data_inlining_row_limit=attachment.defaults.get("data_inlining_row_limit"),
        )

    def options(self) -> dict[str, str]:
        """Return the options for this location."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @contextmanager
    def opened(self, when: When = NOW) -> Iterator[tuple[Session, TableName]]:
        """Yield a session with the catalog attached, and the resolved table name in it."""
        from forklake.session.session import Session

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


def refuse_unknown(options: Mapping[str, str], allowed: Sequence[str], action: str) -> None:
    """Raise InvalidInput if an option neither belongs to the location nor is allowed."""
    known = {*Place.__slots__, *allowed}
    unknown = [key for key in options if key.lower() not in known]
    if not unknown:
        return
    if unknown[0].lower() in ("path", "paths"):
        remedy = "Set the options uri, catalog and table; a path is not supported."
    else:
        remedy = f"The options are: {', '.join(sorted(known))}."
    raise InvalidInput(f"Unknown option '{unknown[0]}' to {action}.", remedy=remedy)


def number(name: str, text: str, least: int = 0) -> int:
    """Return the value of an option that is an integer."""
    if not text.strip().isdecimal() or int(text) < least:
        raise InvalidInput(
            f"The option {name} cannot be {text!r}.",
            remedy=f"Use an integer, at least {least}.",
        )
    return int(text)


def switch(name: str, text: str | None) -> bool:
    """Return the value of an option that is true or false."""
    word = (text or "false").strip().lower()
    if word not in _TRUE + _FALSE:
        raise InvalidInput(f"The option {name} cannot be {text!r}.", remedy="Use true or false.")
    return word in _TRUE


def _double_quotes(name: str) -> str:
    return name.replace('"', '""')
