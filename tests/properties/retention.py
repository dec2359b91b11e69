"""Random histories with expiry and clean-up: a world of catalogs, and a checker of it.

The checker reads the tables of the metastore directly, independently of how the product decides
what may be removed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random

from forklake import Catalog, Metastore, NewDataFile, NewDeleteFile, Transaction
from forklake.model.changes import ChangeKind
from tests.concurrency import raw
from tests.concurrency.raw import FOREVER, KINDS, RawMetastore
from tests.fix_metastore import Place
from tests.properties.actions import ACTIONS
from tests.properties.model import ModelCatalog, ModelFile, ModelState, ModelTable
from tests.properties.observe import observe

MOST_CATALOGS = 6
_strays = count()


class World:
    """A few catalogs with files on disk, a model of each, and the owners of snapshots."""

    def __init__(self, place: Place, folder: Path, random: Random) -> None:
        self.place = place
        self.metastore: Metastore = place.open()
        self.folder = folder
        self.random = random
        self.models: dict[str, ModelCatalog] = {}
        self.handles: dict[str, Catalog] = {}
        # The owners of snapshots in the history of each catalog, and the ancestors of each.
        self.owners: dict[str, dict[int, str]] = {}
        self.lineages: dict[str, list[str]] = {}
        self.dropped: dict[str, int] = {}
        self._names = count(1)
        self.create()

    # Steps

    def step(self) -> str:
        """Make one random step, and return its name."""
        chosen = self.random.choices(list(_STEPS), list(_STEPS.values()))[0]
        getattr(self, chosen)()
        return chosen

    def _pick(self) -> str:
        return self.random.choice(sorted(self.models))

    def _keep(self, catalog: Catalog, model: ModelCatalog, line: list[str]) -> None:
        name = catalog.name
        self.models[name], self.handles[name], self.lineages[name] = model, catalog, line

    def create(self) -> None:
        if len(self.models) >= MOST_CATALOGS:
            return
        name = f"catalog-{next(self._names)}"
        catalog = self.metastore.create_catalog(name, data_path=str(self.folder))
        snapshot = catalog.current_snapshot()
        self._keep(catalog, ModelCatalog(name, {snapshot: ModelState()}), [])
        self.owners[name] = {snapshot: name}

    def commit(self) -> None:
        name = self._pick()
        draft = self.models[name].draft()
        transaction = self.handles[name].transaction()
        for _ in range(4):
            self.random.choice(ACTIONS)(transaction, draft, self.random)
        self._commit(name, transaction, draft)

    def compact(self) -> None:
        """Replace some files by one."""
        name = self._pick()
        draft = self.models[name].draft()
        found = self._pick_table(draft, lambda table: bool(table.files))
        if found is None:
            return
        schema, table_name, expected = found
        transaction = self.handles[name].transaction()
        table = transaction.table(table_name, schema)
        old = transaction.data_files(table)[: self.random.randint(1, 3)]
        rows = sum(expected.files.pop(file.path).live for file in old)
        new = self._moved(name, expected, rows)
        kind = self.random.choice([ChangeKind.MERGED, ChangeKind.REWRITTEN])
        transaction.compact(table, kind, files=old, data_files=[new])
        self._commit(name, transaction, draft)

    def flush(self) -> None:
        """Move inlined rows and deletes to files."""
        name = self._pick()
        draft = self.models[name].draft()
        found = self._pick_table(
            draft, lambda one: bool(one.rows or any(file.positions for file in one.files.values()))
        )
        if found is None:
            return
        schema, table_name, expected = found
        transaction = self.handles[name].transaction()
        table = transaction.table(table_name, schema)
        deletes = []
        for file in transaction.data_files(table):
            known = expected.files[file.path]
            if known.positions:
                path, count = self._new_path(name, "deletes"), known.rows - known.live
                deletes.append(NewDeleteFile(file.data_file_id, path, count, 5))
                known.delete_file, known.positions = (path, count), set()
        rows = transaction.inlined_rows(table)
        new = [self._moved(name, expected, len(rows))] if rows else []
        expected.rows.clear()
        transaction.compact(
            table, ChangeKind.FLUSHED, rows=rows, data_files=new, delete_files=deletes
        )
        self._commit(name, transaction, draft)

    def _pick_table(
        self, draft: ModelState, is_fit: Callable[[ModelTable], bool]
    ) -> tuple[str, str, ModelTable] | None:
        tables = [
            (schema, table, expected)
            for schema, found in sorted(draft.schemas.items())
            for table, expected in sorted(found.tables.items())
            if is_fit(expected)
        ]
        return self.random.choice(tables) if tables else None

    def _new_path(self, name: str, kind: str) -> str:
        return f"{self.handles[name].row.path}{kind}-{next(_strays)}.parquet"

    def _moved(self, name: str, expected: ModelTable, rows: int) -> NewDataFile:
        """Return a file for rows that have ids already."""
        path = self._new_path(name, "moved")
        expected.files[path] = ModelFile(rows, rows * 10, None)  # type: ignore[arg-type]
        return NewDataFile(path, rows, rows * 10, row_ids=False)

    def _commit(self, name: str, transaction: Transaction, draft: ModelState) -> None:
        for work in transaction._draft.tables.values():
            for _, new in work.data_files:
                self._write(new.path, new.file_size_bytes)
            for _, deletes in work.delete_files:
                self._write(deletes.path, deletes.file_size_bytes)
        committed = transaction.commit()
        if committed is not None:
            self.models[name].history[committed.snapshot_id] = draft
            self.owners[name][committed.snapshot_id] = name

    def _write(self, path: str, size: int) -> None:
        full = self.folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(b"x" * size)

    def fork(self) -> None:
        if len(self.models) >= MOST_CATALOGS:
            return
        parent = self._pick()
        model = self.models[parent]
        at = self.random.choice([model.head, *sorted(model.history)])
        mode = self.random.choice(["inherit", "inherit", "copy"])
        name = f"catalog-{next(self._names)}"
        fork = self.metastore.fork(parent, name, at=at, mode=mode)
        snapshot = fork.current_snapshot()
        inherits = mode == "inherit"
        self._keep(
            fork,
            model.forked(name, at, snapshot),
            [parent, *self.lineages[parent]] if inherits else [],
        )
        inherited = {one: who for one, who in self.owners[parent].items() if one <= at}
        own = dict.fromkeys(inherited, name)
        self.owners[name] = (inherited if inherits else own) | {snapshot: name}

    def materialize(self) -> None:
        name = self._pick()
        snapshot = self.metastore.materialize(name)
        if snapshot is None:
            return
        beyond = set(self.lineages[name])
        self.lineages[name] = []
        for one, line in self.lineages.items():
            if one == name or name in line:
                self.lineages[one] = line[: line.index(name) + 1] if name in line else []
                self.owners[one] = {
                    at: name if who in beyond else who for at, who in self.owners[one].items()
                }
        self.models[name].history[snapshot] = self.models[name].draft()
        self.owners[name][snapshot] = name

    def drop(self) -> None:
        if len(self.models) < 3:
            return
        name = self._pick()
        self.metastore.drop_catalog(name)
        self.dropped[name] = self.handles[name].catalog_id
        del self.models[name], self.handles[name], self.lineages[name], self.owners[name]

    def expire(self) -> None:
        name = self._pick()
        own = sorted(at for at, who in self.owners[name].items() if who == name)[:-1]
        if self.random.random() < 0.5:
            chosen = set(self.random.sample(own, self.random.randint(0, len(own))))
        else:
            chosen = set(own[: self.random.randint(0, len(own))])
        reported = self.handles[name].expire_snapshots(versions=sorted(chosen))
        assert {one.snapshot_id for one in reported} == chosen
        self._forget(name, chosen)

    def _forget(self, owner: str, chosen: set[int]) -> None:
        for name, owners in self.owners.items():
            for at in [at for at, who in owners.items() if who == owner and at in chosen]:
                del owners[at], self.models[name].history[at]

    def reclaim(self) -> None:
        limit = self.random.randint(1, 3)
        done = self.metastore.reclaim_dropped(limit, cleanup_all=self.random.random() < 0.5)
        assert len(done.catalogs) == limit or set(self.dropped.values()) <= set(done.catalogs)
        for name in [one for one, number in self.dropped.items() if number in done.catalogs]:
            del self.dropped[name]
            everything = {at for owners in self.owners.values() for at in owners}
            self._forget(name, everything)

    def clean(self) -> None:
        before = self.on_disk()
        catalog = self.handles[self._pick()]
        expected = catalog.cleanup_old_files(cleanup_all=True, dry_run=True)
        assert self.on_disk() == before
        removed = catalog.cleanup_old_files(cleanup_all=True)
        assert sorted(removed) == sorted(expected)
        assert before - self.on_disk() == {_relative(self.folder, path) for path in removed}
        assert catalog.scheduled_files() == []

    def scan_for_orphans(self) -> None:
        catalog = self.handles[self._pick()]
        stray = f"{catalog.row.path}main/lost-{next(_strays)}.parquet"
        self._write(stray, 1)
        known = RawFiles(RawMetastore(self.place)).known()
        removed = {
            _relative(self.folder, path) for path in catalog.delete_orphaned_files(cleanup_all=True)
        }
        assert stray in removed
        assert not removed & known
        assert all(path.startswith(catalog.row.path) for path in removed)

    def finish(self) -> None:
        """Remove everything possible, until only needed rows and files are left."""
        while self.metastore.reclaim_dropped(1).catalogs:
            pass
        for name in self.dropped:
            self._forget(name, {at for owners in self.owners.values() for at in owners})
        for catalog in self.handles.values():
            catalog.expire_snapshots(older_than=datetime.now(UTC))
            newest = self.models[catalog.name].head
            own = {at for at, who in self.owners[catalog.name].items() if who == catalog.name}
            self._forget(catalog.name, own - {newest})
        self.metastore.reclaim_dropped(cleanup_all=True)
        for catalog in self.handles.values():
            catalog.cleanup_old_files(cleanup_all=True)

    def on_disk(self) -> set[str]:
        """Return the existing files."""
        return {_relative(self.folder, str(one)) for one in self.folder.rglob("*.parquet")}

    # Checks

    def check(self) -> None:
        """Check that all visible files exist, and that a catalog shows the right contents."""
        metastore = RawMetastore(self.place)
        sizes = {path: (self.folder / path).stat().st_size for path in self.on_disk()}
        seen = RawFiles(metastore)
        for name, model in self.models.items():
            number = self.handles[name].catalog_id
            assert seen.history(number) == set(model.history), name
            for at in model.history:
                for path, size in seen.needed(number, at):
                    assert sizes.get(path) == size, (name, at, path)
        name = self._pick()
        at = self.random.choice(sorted(self.models[name].history))
        assert observe(self.handles[name], at) == self.models[name].history[at].view(), (name, at)

    def check_all(self) -> None:
        """Check that every snapshot of every catalog shows its contents."""
        self.check()
        for name, model in self.models.items():
            listed = [one.snapshot_id for one in self.handles[name].snapshots()]
            assert listed == sorted(model.history)
            for at, state in model.history.items():
                assert observe(self.handles[name], at) == state.view(), (name, at)

    def check_nothing_is_left(self) -> None:
        """Check that no unneeded rows and files are left."""
        seen = RawFiles(RawMetastore(self.place))
        leftovers = list(seen.leftovers())
        assert not leftovers, leftovers[:5]
        strays = {path for path in self.on_disk() if "/main/lost-" in path}
        assert self.on_disk() - strays == seen.known()


_STEPS = {
    "create": 2,
    "commit": 40,
    "compact": 8,
    "flush": 5,
    "fork": 12,
    "materialize": 3,
    "drop": 6,
    "expire": 14,
    "reclaim": 5,
    "clean": 8,
    "scan_for_orphans": 4,
}


def _relative(folder: Path, path: str) -> str:
    return str(Path(path).relative_to(folder))


class RawFiles:
    """Files and their readers, according to the tables of a metastore."""

    def __init__(self, metastore: RawMetastore) -> None:
        self._metastore = metastore

    def history(self, catalog_id: int) -> set[int]:
        """Return the snapshots that a catalog can read."""
        return {
            row["snapshot_id"]
            for step in self._metastore.lineage(catalog_id)
            for row in self._metastore.owned("ducklake_snapshot_changes", step["ancestor_id"])
            if row["snapshot_id"] <= step["upto_snapshot"]
        }

    def needed(self, catalog_id: int, at: int) -> Iterator[tuple[str, int]]:
        """Yield the files that a catalog reads at a snapshot, with their sizes."""
        for kind in (raw.DATA_FILE, raw.DELETE_FILE):
            for row in self._metastore.visible(kind, catalog_id, at):
                yield row["path"], row["file_size_bytes"]

    def known(self) -> set[str]:
        """Return all files that any row refers to."""
        return {
            row["path"] for name in ("data_file", "delete_file") for row in self._metastore[name]
        }

    def leftovers(self) -> Iterator[str]:
        """Yield rows that no catalog can see at any snapshot, and children without a parent."""
        names = [kind.table for kind in KINDS]
        names += [one for one in self._metastore.tables if one.startswith("ducklake_inlined_data_")]
        for name in dict.fromkeys(names):
            for row in self._metastore.tables[name]:
                if row["catalog_id"] is not None and not self._is_seen(row):
                    yield f"{name}: {row}"
        numbers = {row["data_file_id"] for row in self._metastore["data_file"]}
        for name in ("file_column_stats", "file_partition_value"):
            for row in self._metastore[name]:
                if row["data_file_id"] not in numbers:
                    yield f"{name}: {row}"
        macros = {row["macro_id"] for row in self._metastore["macro"]}
        for name in ("macro_impl", "macro_parameters"):
            for row in self._metastore[name]:
                if row["macro_id"] not in macros:
                    yield f"{name}: {row}"

    def _is_seen(self, row: raw.Row) -> bool:
        points = self._points(row["catalog_id"])
        place = bisect_left(points, row["begin_snapshot"])
        end = FOREVER if row["end_snapshot"] is None else row["end_snapshot"]
        return place < len(points) and points[place] < end

    def _points(self, catalog_id: int) -> list[int]:
        live = {row["catalog_id"] for row in self._metastore["catalog_head"]}
        own = self._metastore.owned("ducklake_snapshot_changes", catalog_id)
        pins = (
            row["upto_snapshot"]
            for row in self._metastore["catalog_lineage"]
            if row["ancestor_id"] == catalog_id and row["depth"] > 0 and row["catalog_id"] in live
        )
        return sorted({*(row["snapshot_id"] for row in own), *pins})
