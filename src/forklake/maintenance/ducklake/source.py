"""Read-only access to the metadata database of a DuckLake, in one database snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
from psycopg import sql
from psycopg.rows import dict_row

from forklake.errors import InvalidInput, NotFound, Unavailable, Unsupported
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.model.names import quoted
from forklake.store.uri import Target, parse_uri

Row = dict[str, Any]
VERSIONS = ("0.3", "0.4", "1.0")
# Types whose values are texts in every database.
_TEXTS = frozenset({"varchar", "json", "uuid"})


class DuckLakeSource:
    """The metadata tables of a DuckLake."""

    def __init__(self, address: str, fetch: Callable[[str], list[Row]], tables: set[str]) -> None:
        self.address = address
        self._fetch = fetch
        self._tables = tables

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table, or none if this DuckLake version does not have it."""
        return self._fetch(table) if table in self._tables else []

    def require_version(self) -> None:
        """Raise NotFound or Unsupported if this is not a DuckLake that can be imported."""
        values = {row["key"]: row["value"] for row in self.rows("ducklake_metadata")}
        if "version" not in values:
            raise NotFound(
                f"{self.address} does not hold a DuckLake.",
                remedy="Name the database, and the schema, that hold its metadata.",
            )
        if values["version"] not in VERSIONS:
            raise Unsupported(
                f"The DuckLake in {self.address} has version {values['version']}, which cannot be"
                " imported.",
                remedy=f"Migrate it to one of these versions: {', '.join(VERSIONS)}.",
            )
        if values.get("encrypted") == "true":
            raise Unsupported(
                f"The files of the DuckLake in {self.address} are encrypted in a format that only"
                " DuckDB reads.",
                remedy="Copy it to a DuckLake that is not encrypted, and import that.",
            )


@contextmanager
def open_source(uri: str, metadata_schema: str | None = None) -> Iterator[DuckLakeSource]:
    """Open the DuckLake at `ducklake:lake.ducklake` or `ducklake:postgres:dbname=lake`."""
    target = parse_uri(uri)
    match target.backend:
        case "postgresql":
            opened = _postgres(target, metadata_schema or "public")
        case "duckdb":
            opened = _duckdb(target, metadata_schema or "main")
        case "mysql":
            raise Unsupported(
                "A DuckLake cannot be imported from MySQL.",
                remedy="Copy it to a DuckDB file or to PostgreSQL first.",
            )
        case other:
            raise Unsupported(
                f"{uri!r} is not a DuckLake that can be imported: the file does not exist, or is a"
                f" file of {other}.",
                remedy="Name an existing DuckDB file, or a PostgreSQL database.",
            )
    with opened as source:
        source.require_version()
        yield source


@contextmanager
def _duckdb(target: Target, schema: str) -> Iterator[DuckLakeSource]:
    try:
        connection = duckdb.connect(target.location, read_only=True)
    except duckdb.Error as reason:
        raise Unavailable(
            f"The DuckLake {target.location!r} cannot be opened: {reason}.",
            remedy="Check the path, and close programs that write to the file.",
        ) from reason
    with connection:
        connection.execute("BEGIN")

        def fetch(table: str) -> list[Row]:
            named = f"{quoted(schema)}.{quoted(table)}"
            found: list[Row] = connection.sql(f"FROM {named}").to_arrow_table().to_pylist()
            return found

        names = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = ?", [schema]
        )
        yield DuckLakeSource(target.location, fetch, {name for (name,) in names.fetchall()})


@contextmanager
def _postgres(target: Target, schema: str) -> Iterator[DuckLakeSource]:
    try:
        connection = psycopg.connect(target.location, row_factory=dict_row)
    except psycopg.Error as reason:
        raise Unavailable(
            f"Cannot connect to the PostgreSQL database of the DuckLake: {reason}.",
            remedy="Check the address and the credentials.",
        ) from reason
    with connection:
        connection.set_read_only(True)
        connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)

        def fetch(table: str) -> list[Row]:
            text = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, table))
            return connection.execute(text).fetchall()

        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", [schema]
        )
        yield DuckLakeSource(schema, fetch, {row["table_name"] for row in names.fetchall()})


# Inlined values


def decode_values(field: Field, stored: Sequence[Any]) -> list[Any]:
    """Return stored values of a column as Python values.

    Types that the database does not have are stored as text of DuckDB. PostgreSQL stores text as
    bytes, since its text type does not accept NUL characters.
    """
    if field.type == "blob":
        return [None if one is None else bytes(one) for one in stored]
    texts = [one.decode() if isinstance(one, bytes) else one for one in stored]
    if field.type not in _TEXTS and any(isinstance(one, str) for one in texts):
        texts = _cast(field, texts)
    return [_to_python(field, one) for one in texts]


def _cast(field: Field, texts: Sequence[Any]) -> list[Any]:
    """Parse texts with a DuckDB cast."""
    given = pa.table({"v": pa.array([None if one is None else str(one) for one in texts])})
    with duckdb.connect() as connection:
        connection.register("given", given)
        try:
            rows = connection.sql(f"SELECT CAST(v AS {duckdb_type(field)}) AS v FROM given")
            found: list[Any] = rows.to_arrow_table().column(0).to_pylist()
        except duckdb.Error as reason:
            raise InvalidInput(
                f"Values of column '{field.name}' are not of type {field.type}: {reason}.",
                remedy="Flush the inlined rows of that table in the DuckLake, and import again.",
            ) from reason
    return found


def _to_python(field: Field, value: Any) -> Any:
    """Convert a value of Arrow or psycopg to the Python type of a field."""
    if value is None:
        return None
    match field.type:
        case "struct":
            return {one.name: _to_python(one, value[one.name]) for one in field.fields}
        case "list":
            return [_to_python(field.fields[0], one) for one in value]
        case "map":
            key, item = field.fields
            pairs = value.items() if isinstance(value, dict) else value
            return [(_to_python(key, name), _to_python(item, one)) for name, one in pairs]
        case "uuid":
            return str(value)
        case kind if "int" in kind and kind != "interval":
            return int(value)
    return value
