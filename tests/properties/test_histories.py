"""Random histories over catalogs and forks, on which the product and a plain model must agree."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from forklake import Catalog, Metastore
from tests.fix_metastore import Place, mysql_database, postgres_schema
from tests.properties.actions import ACTIONS
from tests.properties.model import ModelCatalog, ModelState
from tests.properties.observe import observe

# Run more with: FORKLAKE_HISTORIES=5000
HISTORIES = int(os.environ.get("FORKLAKE_HISTORIES", "150"))
STEPS = 50
seeds = st.integers(0, 2**32)


class Histories(RuleBasedStateMachine):
    """A metastore with a few catalogs, and a model of each."""

    def __init__(self) -> None:
        super().__init__()
        self.place = self.make_place()
        self.metastore: Metastore = self.place.open()
        self.models: dict[str, ModelCatalog] = {}
        self.handles: dict[str, Catalog] = {}
        self.count = 0

    def make_place(self) -> Place:
        """Return the place of this history."""
        self.folder = tempfile.mkdtemp()
        return Place("sqlite", f"ducklake:sqlite:{Path(self.folder) / 'metastore.db'}")

    def remove_place(self) -> None:
        """Remove the files of the history."""
        shutil.rmtree(self.folder)

    def teardown(self) -> None:
        try:
            for name, model in self.models.items():
                self.check_history(name, model)
        finally:
            self.metastore.close()
            self.remove_place()

    def check_history(self, name: str, model: ModelCatalog) -> None:
        """Check that the catalog lists exactly the snapshots of the model, with its contents."""
        catalog = self.metastore.catalog(name)
        assert [one.snapshot_id for one in catalog.snapshots()] == sorted(model.history)
        for version, state in model.history.items():
            assert observe(catalog, version) == state.view(), (name, version)

    def new_name(self) -> str:
        self.count += 1
        return f"catalog-{self.count}"

    def pick(self, random: Random) -> tuple[str, ModelCatalog]:
        name = random.choice(sorted(self.models))
        return name, self.models[name]

    def keep(self, catalog: Catalog, model: ModelCatalog) -> None:
        self.handles[catalog.name] = catalog
        self.models[catalog.name] = model

    @initialize()
    def first_catalog(self) -> None:
        self.create()

    @precondition(lambda self: len(self.models) < 6)
    @rule()
    def create(self) -> None:
        catalog = self.metastore.create_catalog(self.new_name())
        snapshot = catalog.current_snapshot()
        self.keep(catalog, ModelCatalog(catalog.name, {snapshot: ModelState()}))

    # Repeated so that most steps change something.
    @rule(seed=seeds)
    def commit(self, seed: int) -> None:
        random = Random(seed)
        name, model = self.pick(random)
        draft = model.draft()
        catalog = self.handles[name]
        transaction = catalog.transaction()
        done = [random.choice(ACTIONS)(transaction, draft, random) for _ in range(4)]
        committed = transaction.commit()
        if committed is None:
            assert draft.view() == model.now.view() or any(done)
            return
        model.history[committed.snapshot_id] = draft
        assert observe(catalog) == draft.view()

    commit_2 = rule(seed=seeds)(lambda self, seed: self.commit(seed))
    commit_3 = rule(seed=seeds)(lambda self, seed: self.commit(seed))
    commit_4 = rule(seed=seeds)(lambda self, seed: self.commit(seed))

    @rule(seed=seeds)
    def roll_back(self, seed: int) -> None:
        random = Random(seed)
        name, model = self.pick(random)
        transaction = self.handles[name].transaction()
        for _ in range(3):
            random.choice(ACTIONS)(transaction, model.draft(), random)
            break
        transaction.rollback()
        assert observe(self.handles[name]) == model.now.view()

    @precondition(lambda self: len(self.models) < 8)
    @rule(seed=seeds, mode=st.sampled_from(["inherit", "inherit", "copy"]), past=st.booleans())
    def fork(self, seed: int, mode: str, past: bool) -> None:
        random = Random(seed)
        name, model = self.pick(random)
        at = random.choice(sorted(model.history)) if past else model.head
        fork = self.metastore.fork(name, self.new_name(), at=at if past else None, mode=mode)
        self.keep(fork, model.forked(fork.name, at, fork.current_snapshot()))
        assert observe(fork) == model.history[at].view()

    @rule(seed=seeds)
    def materialize(self, seed: int) -> None:
        name, model = self.pick(Random(seed))
        snapshot = self.metastore.materialize(name)
        if snapshot is not None:
            model.history[snapshot] = model.draft()
        assert observe(self.handles[name]) == model.now.view()

    @precondition(lambda self: len(self.models) > 3)
    @rule(seed=seeds)
    def drop(self, seed: int) -> None:
        name, _ = self.pick(Random(seed))
        self.metastore.drop_catalog(name)
        del self.models[name], self.handles[name]
        assert self.metastore.find(name) is None

    @rule(seed=seeds)
    def look_back(self, seed: int) -> None:
        random = Random(seed)
        name, model = self.pick(random)
        version = random.choice(sorted(model.history))
        assert observe(self.handles[name], version) == model.history[version].view()


def run(machine: type[Histories], histories: int, steps: int = STEPS) -> None:
    """Run random histories."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=histories,
            stateful_step_count=steps,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_histories_agree_with_the_model_on_sqlite() -> None:
    run(Histories, HISTORIES)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_histories_agree_with_the_model_on_duckdb() -> None:
    class OnDuckdb(Histories):
        def make_place(self) -> Place:
            self.folder = tempfile.mkdtemp()
            return Place("duckdb", f"ducklake:duckdb:{Path(self.folder) / 'metastore.db'}")

    run(OnDuckdb, max(1, HISTORIES // 40))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_histories_agree_with_the_model_on_postgresql(shared_database: str) -> None:
    class OnPostgres(Histories):
        def make_place(self) -> Place:
            self.schema = postgres_schema(shared_database)
            return self.schema.__enter__()

        def remove_place(self) -> None:
            self.schema.__exit__(None, None, None)

    run(OnPostgres, max(1, HISTORIES // 10))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_histories_agree_with_the_model_on_mysql(mysql_address: str) -> None:
    class OnMysql(Histories):
        def make_place(self) -> Place:
            self.database = mysql_database(mysql_address)
            return self.database.__enter__()

        def remove_place(self) -> None:
            self.database.__exit__(None, None, None)

    run(OnMysql, max(1, HISTORIES // 20))
