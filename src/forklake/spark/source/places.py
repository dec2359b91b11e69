"""Places of tables, in words that any process can open: the options of `format("forklake")`.

Tasks that read and write files load this too, so the metastore is only imported to open one.
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
    from forklake.catalog.reading import Snapshotted
    from forklake.spark.naming import TableName
    from forklake.spark.session import Session

_ALIAS = "lake"
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


# Names of options, in lower case. Those of the time are also those of other table formats.
VERSIONS = ("version", "versionasof", "snapshot_version")
TIMESTAMPS = ("timestamp", "timestampasof", "snapshot_time")
READING = (*VERSIONS, *TIMESTAMPS, "pushdown", "readchangefeed")
STREAMING = (
    *(*VERSIONS, *TIMESTAMPS, "readchangefeed", "startingversion"),
    *("maxsnapshotspertrigger", "ignoredeletes", "ignorechanges"),
)
WRITING: tuple[str, ...] = ()
STREAM_WRITING = ("checkpointlocation", "queryname")  # Spark passes on what it was given


@dataclass(frozen=True, slots=True)
class When:
    """The moment at which a table is read; neither means now."""

    version: int | None = None
    timestamp: datetime | str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> When:
        """The moment that options name."""
        known = {key.lower(): (key, value) for key, value in options.items()}
        versions = [known[name] for name in VERSIONS if name in known]
        timestamps = [known[name] for name in TIMESTAMPS if name in known]
        if len(versions) + len(timestamps) > 1:
            named = [name for name, _ in (*versions, *timestamps)]
            raise InvalidInput(
                f"The options {' and '.join(named)} name a time each.", remedy="Give one of them."
            )
        version = number(*versions[0]) if versions else None
        return cls(version, timestamps[0][1] if timestamps else None)

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


def refuse_unknown(options: Mapping[str, str], allowed: Sequence[str], action: str) -> None:
    """Raise InvalidInput if an option is neither of the place nor one of those allowed."""
    known = {*Place.__slots__, *allowed}
    unknown = [key for key in options if key.lower() not in known]
    if not unknown:
        return
    if unknown[0].lower() in ("path", "paths"):
        remedy = "Name the table by the options uri, catalog and table, without a path."
    else:
        remedy = f"The options are: {', '.join(sorted(known))}."
    raise InvalidInput(f"There is no option '{unknown[0]}' to {action} with.", remedy=remedy)


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
