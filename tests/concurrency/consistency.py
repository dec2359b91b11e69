"""Consistency checks of a metastore: invariants that must hold at every moment."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from tests.concurrency import raw
from tests.concurrency.raw import FOREVER, KINDS, Kind, RawMetastore, Row
from tests.fix_metastore import Place


def problems(place: Place, *, every_snapshot: bool = False) -> list[str]:
    """Return all violations, for each catalog as it is now, or also at each of its snapshots."""
    metastore = RawMetastore(place)
    found = [problem for check in CHECKS for problem in check(metastore)]
    for head in metastore["catalog_head"]:
        catalog_id = head["catalog_id"]
        moments = {head["snapshot_id"]}
        if every_snapshot:
            moments |= {row["snapshot_id"] for row in _history(metastore, catalog_id)}
        for at in sorted(moments):
            seen = _View(metastore, catalog_id, at).problems()
            found += [f"catalog {catalog_id} at snapshot {at}: {problem}" for problem in seen]
    return found


def _history(metastore: RawMetastore, catalog_id: int) -> list[Row]:
    """Return the changes of a catalog's snapshots, own and inherited."""
    return [
        row
        for step in metastore.lineage(catalog_id)
        for row in metastore.owned("ducklake_snapshot_changes", step["ancestor_id"])
        if row["snapshot_id"] <= step["upto_snapshot"]
    ]


# The metastore as a whole


def snapshots_exist(metastore: RawMetastore) -> Iterator[str]:
    """Check that every reference to a snapshot refers to an existing one."""
    known = {row["snapshot_id"] for row in metastore["snapshot"]}
    columns = ("snapshot_id", "begin_snapshot", "end_snapshot", "fork_snapshot", "upto_snapshot")
    for name, rows in metastore.tables.items():
        for row in rows:
            for column in columns:
                number = row.get(column)
                if number is not None and number != FOREVER and number not in known:
                    yield f"{name}.{column} names the snapshot {number}, which is not there: {row}"


def snapshots_belong_to_a_catalog(metastore: RawMetastore) -> Iterator[str]:
    """Check that every snapshot changed a catalog or ended one."""
    used = {0} | {row["snapshot_id"] for row in metastore["snapshot_changes"]}
    used |= {row["end_snapshot"] for row in metastore["catalog"]}
    for row in metastore["snapshot"]:
        if row["snapshot_id"] not in used:
            yield f"snapshot {row['snapshot_id']} belongs to no catalog"


def rows_belong_to_the_history_of_their_owner(metastore: RawMetastore) -> Iterator[str]:
    """Check that the rows of a catalog begin and end in its own snapshots."""
    history = {(row["catalog_id"], row["snapshot_id"]) for row in metastore["snapshot_changes"]}
    names = {kind.table for kind in KINDS} | {"ducklake_tombstone"}
    names |= {name for name in metastore.tables if name.startswith("ducklake_inlined_data_")}
    for name in sorted(names):
        columns = ("end_snapshot",) if "tombstone" in name else ("begin_snapshot", "end_snapshot")
        for row in metastore.tables[name]:
            for column in columns:
                number = row[column]
                if number is not None and (row["catalog_id"], number) not in history:
                    owner = row["catalog_id"]
                    yield f"{name}.{column}: {number} is not a snapshot of catalog {owner}"


def live_catalogs_have_one_head(metastore: RawMetastore) -> Iterator[str]:
    """Check that each live catalog has one live row and one head, and a dropped one neither."""
    live = Counter(row["catalog_id"] for row in metastore["catalog"] if row["end_snapshot"] is None)
    heads = Counter(row["catalog_id"] for row in metastore["catalog_head"])
    if live != heads or any(count > 1 for count in live.values()):
        yield f"live catalogs {live} and heads {heads} differ"


def live_names_are_unique(metastore: RawMetastore) -> Iterator[str]:
    """Check that live catalogs have different names, and all catalogs different folders."""
    live = (row["catalog_name"] for row in metastore["catalog"] if row["end_snapshot"] is None)
    yield from _repeated("the catalog name", live)
    folders = {(row["catalog_id"], row["path"]) for row in metastore["catalog"] if row["path"]}
    yield from _repeated("the folder", (path for _, path in folders))


def heads_are_the_newest_snapshots(metastore: RawMetastore) -> Iterator[str]:
    """Check that a head equals the last snapshot of its catalog."""
    snapshots = {row["snapshot_id"]: row for row in metastore["snapshot"]}
    for head in metastore["catalog_head"]:
        own = metastore.owned("ducklake_snapshot_changes", head["catalog_id"])
        newest = max((row["snapshot_id"] for row in own), default=None)
        if newest != head["snapshot_id"]:
            yield f"the head {head} is not the newest snapshot {newest}"
        elif any(snapshots.get(newest, head)[name] != head[name] for name in _COLUMNS_OF_HEADS):
            yield f"the head {head} differs from its snapshot"


_COLUMNS_OF_HEADS = ("snapshot_time", "schema_version")


def time_runs_forward(metastore: RawMetastore) -> Iterator[str]:
    """Check that later snapshots of a catalog have later times and no lower versions."""
    snapshots = {row["snapshot_id"]: row for row in metastore["snapshot"]}
    for catalog_id in {row["catalog_id"] for row in metastore["catalog"]}:
        numbers = sorted(
            row["snapshot_id"]
            for row in _history(metastore, catalog_id)
            if row["snapshot_id"] in snapshots
        )
        for one, other in pairwise(numbers):
            if one == other:
                yield f"catalog {catalog_id} has the snapshot {one} twice"
            elif not snapshots[one]["snapshot_time"] < snapshots[other]["snapshot_time"]:
                yield f"catalog {catalog_id}: snapshot {other} is not later than {one}"
            if snapshots[one]["schema_version"] > snapshots[other]["schema_version"]:
                yield f"catalog {catalog_id}: snapshot {other} has a lower version than {one}"


def lineages_are_complete(metastore: RawMetastore) -> Iterator[str]:
    """Check that a lineage begins with the catalog itself and continues with that of its parent."""
    first_rows: dict[int, Row] = {}
    for row in sorted(metastore["catalog"], key=lambda row: int(row["begin_snapshot"])):
        first_rows.setdefault(row["catalog_id"], row)
    for catalog_id, catalog in first_rows.items():
        line = [(row["ancestor_id"], row["upto_snapshot"]) for row in metastore.lineage(catalog_id)]
        depths = [row["depth"] for row in metastore.lineage(catalog_id)]
        if depths != list(range(len(line))) or line[:1] != [(catalog_id, FOREVER)]:
            yield f"the line of catalog {catalog_id} is broken: {depths} {line}"
        elif len(line) > 1:
            parent, forked_at = line[1]
            if (parent, forked_at) != (catalog["parent_catalog_id"], catalog["fork_snapshot"]):
                yield f"the line of {catalog} goes on with catalog {parent} at {forked_at}"
            rows = metastore.lineage(parent)
            expected = [(row["ancestor_id"], min(row["upto_snapshot"], forked_at)) for row in rows]
            if line[1:] != expected:
                yield f"the line of catalog {catalog_id}, {line}, leaves its parent's, {expected}"
            if forked_at >= catalog["begin_snapshot"]:
                yield f"catalog {catalog_id} begins before the snapshot that it was forked at"
    strangers = {row["catalog_id"] for row in metastore["catalog_lineage"]} - set(first_rows)
    if strangers:
        yield f"there are lines of catalogs that do not exist: {strangers}"


def tombstones_end_something(metastore: RawMetastore) -> Iterator[str]:
    """Check that a tombstone refers to rows that its catalog inherited."""
    for catalog_id in {row["catalog_id"] for row in metastore["tombstone"]}:
        inherited: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
        for step in metastore.lineage(catalog_id)[1:]:
            for kind in _all_kinds(metastore):
                inherited[kind.code].update(
                    kind.tombstone_key(row)
                    for row in metastore.owned(kind.table, step["ancestor_id"])
                    if row["begin_snapshot"] <= step["upto_snapshot"]
                )
        tables = {entity for _, entity, _, _ in inherited[raw.TABLE.code]}
        for row in metastore.owned("ducklake_tombstone", catalog_id):
            names = ("table_id", "entity_id", "entity_key", "begin_snapshot")
            key = tuple(row[name] for name in names)
            is_cut = row["kind"] in (raw.ALL_FILES, raw.ALL_CONTENT)
            if (row["table_id"] not in tables) if is_cut else (key not in inherited[row["kind"]]):
                yield f"a tombstone ends nothing: {row}"


def children_have_parents(metastore: RawMetastore) -> Iterator[str]:
    """Check that rows that refer to a numbered parent have one."""
    for child, parent, column in (
        ("file_column_stats", "data_file", "data_file_id"),
        ("file_partition_value", "data_file", "data_file_id"),
        ("partition_column", "partition_info", "partition_id"),
        ("macro_impl", "macro", "macro_id"),
        ("macro_parameters", "macro", "macro_id"),
        ("name_mapping", "column_mapping", "mapping_id"),
    ):
        known = {row[column] for row in metastore[parent]}
        for row in metastore[child]:
            if row[column] not in known:
                yield f"a row of {child} has lost its parent: {row}"


def counters_are_ahead(metastore: RawMetastore) -> Iterator[str]:
    """Check that no id in use can be assigned again."""
    following = {row["name"]: row["next_value"] for row in metastore.tables["ducklake_sequence"]}
    used = {
        "snapshot": [("snapshot", "snapshot_id")],
        "entity": [("catalog", "catalog_id"), ("schema", "schema_id"), ("table", "table_id")],
        "file": [("data_file", "data_file_id"), ("delete_file", "delete_file_id")],
    }
    for sequence, columns in used.items():
        numbers = [row[column] for table, column in columns for row in metastore[table]]
        if following[sequence] is not None and max(numbers, default=-1) >= following[sequence]:
            yield f"the counter {sequence} is at {following[sequence]}, behind {max(numbers)}"


Check = Callable[[RawMetastore], Iterable[str]]
CHECKS: tuple[Check, ...] = (
    snapshots_exist,
    snapshots_belong_to_a_catalog,
    rows_belong_to_the_history_of_their_owner,
    live_catalogs_have_one_head,
    live_names_are_unique,
    heads_are_the_newest_snapshots,
    time_runs_forward,
    lineages_are_complete,
    tombstones_end_something,
    children_have_parents,
    counters_are_ahead,
)


def _all_kinds(metastore: RawMetastore) -> list[Kind]:
    names = {row["table_name"] for row in metastore["inlined_data_tables"]}
    return [*KINDS, *(metastore.inlined_rows_kind(name) for name in sorted(names))]


def _repeated(what: str, values: Iterable[Any]) -> Iterator[str]:
    for value, count in Counter(values).items():
        if count > 1:
            yield f"{what} {value!r} is there {count} times"


# One catalog at one snapshot


class _View:
    """The visible rows of a catalog at a snapshot."""

    def __init__(self, metastore: RawMetastore, catalog_id: int, at: int) -> None:
        self._rows = {kind: metastore.visible(kind, catalog_id, at) for kind in KINDS}
        self._inlined: list[Row] = []
        self._missing: list[str] = []
        for table in self._rows[raw.INLINED_TABLE]:
            kind = metastore.inlined_rows_kind(table["table_name"])
            if kind.table not in metastore.tables:
                self._missing.append(kind.table)
            self._inlined += metastore.visible(kind, catalog_id, at)

    def problems(self) -> Iterator[str]:
        for name in self._missing:
            yield f"the table {name} of the metastore is not there"
        yield from self._identities()
        yield from self._names()
        yield from self._owners()
        for table in self._rows[raw.TABLE]:
            for problem in self._table(table["table_id"]):
                yield f"table {table['table_name']}: {problem}"

    def _identities(self) -> Iterator[str]:
        for kind, rows in self._rows.items():
            found = (tuple(row[column] for column in kind.identity) for row in rows)
            yield from _repeated(kind.table, found)
        found = ((row["table_id"], row["row_id"]) for row in self._inlined)
        yield from _repeated("the inlined row", found)

    def _names(self) -> Iterator[str]:
        rows = self._rows
        yield from _repeated("the schema", (row["schema_name"].lower() for row in rows[raw.SCHEMA]))
        relations = [(row["schema_id"], row["table_name"].lower()) for row in rows[raw.TABLE]]
        relations += [(row["schema_id"], row["view_name"].lower()) for row in rows[raw.VIEW]]
        yield from _repeated("the table or view", relations)
        yield from _repeated(
            "the column",
            (
                (row["table_id"], row["parent_column"], row["column_name"].lower())
                for row in rows[raw.COLUMN]
            ),
        )

    def _owners(self) -> Iterator[str]:
        """Check that parts of visible objects are visible with them."""
        rows = self._rows
        schemas = {row["schema_id"] for row in rows[raw.SCHEMA]}
        tables = {row["table_id"] for row in rows[raw.TABLE]}
        files = {row["data_file_id"] for row in rows[raw.DATA_FILE]}
        objects = schemas | tables | {row["view_id"] for row in rows[raw.VIEW]}
        objects |= {row["macro_id"] for row in rows[raw.MACRO]}
        for kind, column, known in (
            *((kind, "schema_id", schemas) for kind in (raw.TABLE, raw.VIEW, raw.MACRO)),
            *((kind, "table_id", tables) for kind in KINDS if kind.scope == "table_id"),
            *((kind, "data_file_id", files) for kind in (raw.DELETE_FILE, raw.INLINED_DELETE)),
            (raw.TAG, "object_id", objects),
            (raw.OPTION, "scope_id", objects | {0}),
        ):
            for row in rows[kind]:
                if row[column] not in known:
                    yield f"a row of {kind.table} belongs to nothing that is visible: {row}"

    def _table(self, table_id: int) -> Iterator[str]:
        def of_table(rows: list[Row]) -> list[Row]:
            return [row for row in rows if row["table_id"] == table_id]

        files = of_table(self._rows[raw.DATA_FILE])
        inlined = of_table(self._inlined)
        statistics = of_table(self._rows[raw.TABLE_STATISTICS])
        if len(statistics) != 1:
            yield f"there are {len(statistics)} rows of statistics"
            return
        stored = statistics[0]
        deleted = len(of_table(self._rows[raw.INLINED_DELETE])) + sum(
            row["delete_count"] for row in of_table(self._rows[raw.DELETE_FILE])
        )
        held = sum(row["record_count"] for row in files) + len(inlined) - deleted
        if stored["record_count"] != held:
            yield f"the statistics have {stored['record_count']} rows, the table {held}"
        size = sum(row["file_size_bytes"] for row in files)
        if stored["file_size_bytes"] != size:
            yield f"the statistics have {stored['file_size_bytes']} bytes, the files {size}"
        numbered = [row for row in files if row["row_id_start"] is not None]
        spans = [
            (row["row_id_start"], row["row_id_start"] + row["record_count"]) for row in numbered
        ]
        spans += [(row["row_id"], row["row_id"] + 1) for row in inlined]
        for (_, end), (begin, _) in pairwise(sorted(spans)):
            if begin < end:
                yield f"row ids overlap: one span ends at {end}, the next begins at {begin}"
        if max((end for _, end in spans), default=0) > stored["next_row_id"]:
            yield f"the next row id {stored['next_row_id']} was given already"
        columns = {row["column_id"] for row in of_table(self._rows[raw.COLUMN])}
        if not columns:
            yield "it has no columns"
