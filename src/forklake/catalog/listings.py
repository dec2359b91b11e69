"""Reads of the files of a table through listings (`store.listings`): few likely files, or all.

A listing contains all files that its owner added up to a snapshot. Newer files, and files of owners
without a listing, are queried from the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from forklake.catalog.file_columns import KnownFiles, fetch_known
from forklake.catalog.zones import matching_zones
from forklake.model.ids import CatalogId, ColumnId, SnapshotId, TableId
from forklake.model.kinds import DATA_FILE
from forklake.model.orders import Order
from forklake.model.predicates import AllOf, AnyOf, Question, Within
from forklake.store.columns import from_bytes
from forklake.store.listings import NO_COLUMN, Listed, Part, newest, parts_text
from forklake.store.operations import Statement
from forklake.store.rows import Reader

# Looking up a file by id takes so many times as long as comparing one file in a full scan.
_LOOKUP = 8
# Ended files are visible only to readers of earlier snapshots.
_OF_USE = " AND (p.number = 0 OR l.cap < p.upto_snapshot)"
# Owners of files, each with the last snapshot that its listing covers.
Covered = Mapping[CatalogId, SnapshotId]


def parts_on_line(
    reader: Reader,
    table_id: TableId,
    wanted: Iterable[Part],
    columns: Iterable[int],
    condition: str = "",
) -> Statement:
    """Return the statement that reads parts of the listings of a table, for some columns."""
    numbers = ", ".join(str(int(one)) for one in columns)
    text = parts_text(wanted, f" AND p.column_id IN ({numbers}){condition}")
    return reader.on_line(text, scope=table_id)


def _files(reader: Reader, table_id: TableId, where: str, **given: object) -> Statement:
    return reader.statement(DATA_FILE, scope=table_id, where=where, **given)


def _unlisted(reader: Reader, table_id: TableId, covered: Covered) -> list[Statement]:
    """Return the statements that read all visible files which listings do not contain."""
    later = "r.catalog_id = :owner AND r.begin_snapshot > :upto"
    statements = [
        _files(reader, table_id, later, owner=owner, upto=upto) for owner, upto in covered.items()
    ]
    if reader.inherits:
        owners = ", ".join(str(int(owner)) for owner in covered)
        statements.append(_files(reader, table_id, f"l.ancestor_id NOT IN ({owners})"))
    return statements


# Few files


def likely_files(reader: Reader, table_id: TableId, asked: Question) -> list[Statement] | None:
    """Return statements that read all visible files which may match, and not many others.

    None if there is nothing to gain: no listing, or a question that most files may match.
    """
    questions = _by_column(asked)
    if not questions:
        return None
    matched: dict[int, list[_Matched]] = {}
    zones = parts_on_line(reader, table_id, [Part.ZONES], questions)
    for one in newest(reader.fetch(zones)):
        order, question = questions[ColumnId(one.column_id)]
        matched.setdefault(one.column_id, []).append(_Matched.of(one, order, question))
    best = max(matched.values(), key=_excluded, default=[])
    count = sum(one.count for one in best)
    if not best or count * _LOOKUP > _excluded(best):
        return None
    numbers = [number for one in best for number in _numbers(reader, table_id, one)]
    if len(numbers) < count:  # the listing was replaced during this read
        return None
    dialect = reader.dialect
    among = dialect.any_of("r.data_file_id", "files")
    wanted = _files(reader, table_id, among, files=dialect.array(numbers))
    covered = {one.listed.catalog_id: one.listed.upto_snapshot for one in best}
    return [wanted, *_unlisted(reader, table_id, covered)]


@dataclass(frozen=True, slots=True)
class _Matched:
    """Zones of a column in one listing that may match, and the files inside and outside of them."""

    listed: Listed
    zones: list[int]
    count: int
    excluded: int

    @classmethod
    def of(cls, listed: Listed, order: Order, asked: Question) -> _Matched:
        bounds = from_bytes(listed.body)
        zones = matching_zones(bounds, ColumnId(listed.column_id), order, asked)
        counts = bounds["file_count"].to_pylist()
        count = sum(counts[zone] for zone in zones)
        return cls(listed, zones, count, sum(counts) - count)


def _excluded(matched: Iterable[_Matched]) -> int:
    return sum(one.excluded for one in matched)


def _numbers(reader: Reader, table_id: TableId, matched: _Matched) -> Iterable[int]:
    if not matched.zones:
        return
    listed = matched.listed
    text = parts_text(
        [Part.NUMBERS],
        " AND p.catalog_id = :owner AND p.upto_snapshot = :upto AND p.column_id = :column"
        f" AND {reader.dialect.any_of('p.number', 'zones')}",
    )
    statement = reader.on_line(
        text,
        scope=table_id,
        owner=listed.catalog_id,
        upto=listed.upto_snapshot,
        column=listed.column_id,
        zones=reader.dialect.array(matched.zones),
    )
    for row in reader.fetch(statement):
        yield from from_bytes(Listed(*row).body)["data_file_id"].to_pylist()


def _by_column(asked: Question) -> dict[ColumnId, tuple[Order, Question]]:
    """Return the parts of a conjunction that concern the values of a single column."""
    found: dict[tuple[ColumnId, Order], list[Question]] = {}
    for part in asked.parts if isinstance(asked, AllOf) else (asked,):
        about = _about(part)
        if len(about) == 1 and (subject := about.pop()):
            found.setdefault(subject, []).append(part)
    return {
        column: (order, AllOf(tuple(several)) if len(several) > 1 else several[0])
        for (column, order), several in found.items()
    }


def _about(asked: Question) -> set[tuple[ColumnId, Order] | None]:
    """Return the columns whose values a question concerns, with None for any other part."""
    match asked:
        case Within(column_id, order):
            return {(column_id, order)}
        case AllOf(parts) | AnyOf(parts):
            return {one for part in parts for one in _about(part)}
    return {None}


# All files


def fetch_files(
    reader: Reader, table_id: TableId, columns: Sequence[ColumnId], *, are_listed: bool
) -> KnownFiles:
    """Return all visible files of a table, with the statistics of some columns."""
    pieces = _seen_in_listings(reader, table_id, columns) if are_listed else None
    if pieces is None:
        return fetch_known(reader, reader.statement(DATA_FILE, scope=table_id), columns)
    return KnownFiles(
        pa.concat_tables(piece.files for piece in pieces),
        {one: pa.concat_tables(piece.bounds[one] for piece in pieces) for one in columns},
    )


def _seen_in_listings(
    reader: Reader, table_id: TableId, columns: Sequence[ColumnId]
) -> list[KnownFiles] | None:
    """Return the files in pieces; None without listings that have all columns."""
    wanted = {NO_COLUMN, *columns}
    text = parts_on_line(reader, table_id, [Part.FILES, Part.BOUNDS], wanted, _OF_USE)
    found: dict[CatalogId, list[Listed]] = {}
    for one in newest(reader.fetch_bodies(text)):
        found.setdefault(one.catalog_id, []).append(one)
    if not found or any({one.column_id for one in parts} != wanted for parts in found.values()):
        return None
    covered = {owner: parts[0].upto_snapshot for owner, parts in found.items()}
    pieces = [_seen(reader, table_id, parts, columns) for parts in found.values()]
    rest = _unlisted(reader, table_id, covered)
    return pieces + [fetch_known(reader, statement, columns) for statement in rest]


def _seen(
    reader: Reader, table_id: TableId, parts: Sequence[Listed], columns: Sequence[ColumnId]
) -> KnownFiles:
    """Return the visible files of one listing."""
    owner, upto = parts[0].catalog_id, parts[0].upto_snapshot
    began = "r.catalog_id = :owner AND r.begin_snapshot <= :upto"
    visible = _files(reader, table_id, began, owner=owner, upto=upto)
    numbers = f"SELECT f.data_file_id FROM ({visible.sql}) f"
    seen = reader.fetch_numbers(Statement(numbers, visible.parameters))
    known = _listed(parts, columns)
    if len(seen) == known.files.num_rows:
        return known
    places = pc.index_in(seen, known.files["data_file_id"])
    assert not places.null_count, "a listing lacks a file"
    return known.take(places)


def _listed(parts: Sequence[Listed], columns: Sequence[ColumnId]) -> KnownFiles:
    bodies: dict[int, list[pa.Table]] = {}
    for one in sorted(parts, key=lambda part: part.number):
        bodies.setdefault(one.column_id, []).append(from_bytes(one.body))
    tables = {column: pa.concat_tables(several) for column, several in bodies.items()}
    return KnownFiles(tables[NO_COLUMN], {one: tables[one] for one in columns})
