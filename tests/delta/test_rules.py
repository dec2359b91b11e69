"""Rules of Delta tables for writers: how they are stored, and which changes they allow."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from forklake import Catalog, Metastore
from forklake.delta.audit import audit_catalog
from forklake.delta.mirror_writer import mirror_catalog
from forklake.delta.publication import publish_table
from forklake.delta.table_import import import_delta
from forklake.delta.takeover import take_over
from forklake.errors import Forbidden, InvalidInput, Unsupported
from forklake.maintenance import add_data_files
from forklake.model.changes import ChangeKind
from forklake.model.rules import Check, Generated, Rules, from_text, to_text
from forklake.session.places import Place
from forklake.sql.session import Session
from pyspark_forklake.datasource import ForklakeSource
from tests.delta.hand_written import HandWrittenLog
from tests.delta.mirrored import log_actions
from tests.delta.readers import read_everywhere
from tests.delta.ruled import ALL, import_and_take_over, import_rules, write_rules
from tests.fix_metastore import BACKENDS

on_every_backend = pytest.mark.parametrize("backend", BACKENDS, indirect=True)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """Return SQLite, the fastest backend, unless a test is parametrized with others."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def catalog(metastore: Metastore, tmp_path: Path) -> Catalog:
    return metastore.create_catalog("sales", data_path=str(tmp_path / "data"))


# Stored rules


def invariant(text: str) -> dict[str, str]:
    """Return the schema metadata of a column with an invariant."""
    return {"delta.invariants": json.dumps({"expression": {"expression": text}})}


EVERYTHING = [
    ("a", "long", invariant("a > 0")),
    ("b", "long", {"delta.generationExpression": "a * 2"}),
    ("c", "long", {"CURRENT_DEFAULT": "42"}),
]
CONFIGURATION = {"delta.constraints.small": "a < 100", "delta.appendOnly": "true"}


@on_every_backend
def test_rules_are_stored_and_inherited_by_forks(
    metastore: Metastore, catalog: Catalog, written: HandWrittenLog
) -> None:
    write_rules(written, EVERYTHING, CONFIGURATION)
    expected = Rules(
        checks=(
            Check("CHECK constraint 'small'", "a < 100", ("a",)),
            Check("invariant of column 'a'", "a > 0", ("a",)),
        ),
        generated=(Generated("b", "a * 2", ("a",)),),
        no_ends="It is append-only: its rows are never deleted or changed.",
    )
    assert import_rules(catalog, written) == expected
    state = metastore.fork("sales", "agent").now().state
    assert state.rules(state.table("t")) == expected
    assert [one.default_value for one in state.fields(state.table("t"))] == [None, None, "42"]
    assert from_text(to_text(expected)) == expected


def test_rules_not_listed_by_the_protocol_are_ignored(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    write_rules(written, EVERYTHING, CONFIGURATION, features=())
    assert import_rules(catalog, written) == Rules()
    state = catalog.now().state
    assert all(one.default_value is None for one in state.fields(state.table("t")))


def test_rules_change_with_the_log(catalog: Catalog, written: HandWrittenLog) -> None:
    write_rules(written, EVERYTHING, CONFIGURATION)
    assert import_rules(catalog, written).no_ends
    metadata = json.loads((written.folder / f"{0:020d}.json").read_text().splitlines()[1])
    metadata["metaData"]["configuration"] = {}
    metadata["metaData"]["schemaString"] = metadata["metaData"]["schemaString"].replace(
        '"CURRENT_DEFAULT": "42"', '"CURRENT_DEFAULT": "\'7\'"'
    )
    written.commit(1, metadata)
    rules = import_rules(catalog, written)
    assert rules.no_ends is None
    assert [one.name for one in rules.checks] == ["invariant of column 'a'"]
    state = catalog.now().state
    assert state.fields(state.table("t"))[2].default_value == "7"


@pytest.mark.parametrize(
    ("columns", "configuration", "reason"),
    [
        ([("a", "long", {})], {"delta.constraints.odd": "rand() > a"}, "'odd'.*'rand' is not"),
        (
            [("a", "long", invariant("b > 0"))],
            {},
            "invariant of column 'a'.*column 'b' does not exist",
        ),
        ([("a", "date", {"delta.generationExpression": "now()"})], {}, "'a'.*'now' is not"),
        ([("a", "long", {"delta.identity.start": 1})], {}, "'a' is an identity column"),
        ([("a", "string", {"CURRENT_DEFAULT": "uuid()"})], {}, "'a' has a default.*uuid"),
    ],
)
def test_unsupported_rules_only_forbid_writing_rows(
    lake: Session,
    written: HandWrittenLog,
    columns: list[tuple[str, str, dict[str, Any]]],
    configuration: dict[str, str],
    reason: str,
) -> None:
    write_rules(written, columns, configuration)
    import_and_take_over(lake, str(written.root))
    with pytest.raises(Forbidden, match=reason):
        lake.execute("INSERT INTO t VALUES (NULL)")
    lake.execute("TRUNCATE t")
    # The folder of the lake has none either.
    assert not list(written.root.parent.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("default", "kept"),
    [
        (r"'a\'b'", ("a'b", "literal")),
        ("-1.5", ("-1.5", "literal")),
        ("true", ("TRUE", "literal")),
        ("NULL", (None, None)),
        ("DATE '2024-01-31'", ("2024-01-31", "literal")),
        ("current_timestamp()", ("now()", "expression")),
        ("now()", ("now()", "expression")),
        ("current_date", ("current_date", "expression")),
    ],
)
def test_defaults_are_imported(
    catalog: Catalog, written: HandWrittenLog, default: str, kept: tuple[str | None, str | None]
) -> None:
    write_rules(written, [("a", "string", {"CURRENT_DEFAULT": default})])
    assert import_rules(catalog, written) == Rules()
    state = catalog.now().state
    (field,) = state.fields(state.table("t"))
    assert (field.default_value, field.default_value_type) == kept


def test_columns_named_by_rules_cannot_be_renamed_or_dropped(
    metastore: Metastore, catalog: Catalog, written: HandWrittenLog
) -> None:
    write_rules(written, [*EVERYTHING, ("d", "long", {})], {"delta.constraints.small": "a < 9"})
    import_rules(catalog, written)
    with metastore.fork("sales", "agent").transaction() as transaction:
        table = transaction.table("t")
        for name in ("a", "B"):
            with pytest.raises(InvalidInput, match="a rule of table 't' uses its name"):
                transaction.rename_column(table, name, "z")
            with pytest.raises(InvalidInput, match="a rule of table 't' uses its name"):
                transaction.drop_column(table, name)
        transaction.rename_column(table, "d", "z")
        transaction.drop_column(table, "c")


def test_commits_have_in_commit_timestamps_if_enabled(
    catalog: Catalog, written: HandWrittenLog
) -> None:
    features, configuration = ["inCommitTimestamp"], {"delta.enableInCommitTimestamps": "true"}
    write_rules(written, [("a", "long", {})], configuration, features=features)
    import_rules(catalog, written)
    take_over(catalog, catalog.now().state.table("t"))
    info = log_actions(written.root, 1)[0]["commitInfo"]
    assert info["inCommitTimestamp"] == info["timestamp"]


@pytest.mark.parametrize(
    ("rules", "kinds", "is_refused"),
    [
        (Rules(no_ends="no"), {ChangeKind.INSERTED}, False),
        (Rules(no_ends="no"), {ChangeKind.INSERTED, ChangeKind.DELETED}, True),
        (Rules(no_ends="no"), {ChangeKind.INLINED_DELETE}, True),
        (Rules(no_ends="no"), {ChangeKind.MERGED, ChangeKind.REWRITTEN}, False),
        (Rules(no_writes="no"), {ChangeKind.DELETED}, False),
        (Rules(no_writes="no"), {ChangeKind.INLINED_INSERT}, True),
        (Rules(no_writes="no"), {ChangeKind.MERGED, ChangeKind.ALTERED_TABLE}, False),
        (Rules(), set(ChangeKind), False),
    ],
)
def test_rules_forbid_the_listed_changes(
    rules: Rules, kinds: set[ChangeKind], is_refused: bool
) -> None:
    assert (rules.why_not(kinds) is not None) == is_refused


# Enforcement


def rows_of(location: Path) -> dict[str, Any]:
    """Return the rows of a Delta table by reader, for all readers that can read it."""
    answers = read_everywhere(str(location))
    return {name: answer for name, answer in answers.items() if not isinstance(answer, Exception)}


def test_every_written_row_satisfies_the_constraints(lake: Session, tmp_path: Path) -> None:
    location = tmp_path / "foreign"
    ids = pa.table({"id": pa.array([7, 8], pa.int64()), "name": ["x", "y"]})
    write_deltalake(str(location), ids)
    DeltaTable(str(location)).alter.add_constraint({"positive": "id > 0"})
    import_and_take_over(lake, str(location))
    lake.execute("INSERT INTO t VALUES (1, 'a')")
    written = sorted(tmp_path.rglob("*.parquet"))
    broken = r"does not satisfy the CHECK constraint 'positive': id > 0\. The row is {\"id\":-1,"
    for statement in (
        "INSERT INTO t VALUES (2, 'b'), (-1, NULL)",
        "INSERT INTO t SELECT i - 1, 'q' FROM range(3) r(i) WHERE i <> 1",
        "UPDATE t SET id = -id WHERE id = 1",
        "MERGE INTO t USING (SELECT -1 AS id, 'm' AS name) s ON t.id = s.id"
        " WHEN NOT MATCHED THEN INSERT *",
    ):
        with pytest.raises(InvalidInput, match=broken):
            lake.execute(statement)
    with pytest.raises(InvalidInput, match=r'The row is \{"id":null,"name":"n"\}'):
        lake.insert("t", [{"name": "n"}])
    with pytest.raises(Unsupported, match="not checked for rows that come with files"):
        add_data_files(lake, "lake", "t", str(location / "*.parquet"))
    source = ForklakeSource(Place.attached(lake.resolve("t")).options())
    with pytest.raises(Unsupported, match="not checked for rows that come by the data source"):
        source.writer(source.schema(), overwrite=False)
    assert sorted(tmp_path.rglob("*.parquet")) == written
    lake.execute("UPDATE t SET id = id + 1 WHERE id = 7; DELETE FROM t WHERE id = 1")
    lake.execute("ALTER TABLE t ADD COLUMN more BIGINT")
    answers = rows_of(location)
    assert len(answers) >= 3
    assert {json.dumps(sorted(map(str, one.elements()))) for one in answers.values()} == {
        json.dumps(sorted(map(str, [(8, None, "x"), (8, None, "y")])))
    }
    assert audit_catalog(lake.attachment("lake").catalog) == []


def test_unwritten_rows_are_not_checked_against_constraints(lake: Session, tmp_path: Path) -> None:
    location = str(tmp_path / "foreign")
    write_deltalake(location, pa.table({"id": pa.array([7], pa.int64())}))
    DeltaTable(location).alter.add_constraint({"positive": "id > 0"})
    import_delta(lake.attachment("lake").catalog, location, "t")
    lake.fork("lake", "agent", attach_as="agent")
    lake.execute("CREATE TABLE agent.wanted AS SELECT i AS id FROM range(1, 4) r(i)")
    lake.execute(
        "INSERT INTO agent.t SELECT n.id FROM (SELECT i - 2 AS id FROM range(6) r(i)) n"
        " JOIN agent.wanted w ON w.id = n.id"
    )
    with pytest.raises(InvalidInput, match="'positive'"):
        lake.execute("INSERT INTO agent.t VALUES (0)")
    assert sorted(row.id for row in lake.table("agent.t").collect()) == [1, 2, 3, 7]
    publish_table(lake.attachment("agent").catalog, "t", "main", str(tmp_path / "published"))
    published = DeltaTable(str(tmp_path / "published"))
    assert published.metadata().configuration == {"delta.constraints.positive": "id > 0"}
    assert "checkConstraints" in (published.protocol().writer_features or ())


GENERATED = [
    ("at", "timestamp", {}),
    ("n", "integer", {"CURRENT_DEFAULT": "42"}),
    ("day", "date", {"delta.generationExpression": "CAST(at AS DATE)"}),
    ("twice", "integer", {"delta.generationExpression": "n * 2", "comment": "of n"}),
]


def test_missing_generated_columns_are_computed_and_given_ones_checked(
    lake: Session, written: HandWrittenLog
) -> None:
    write_rules(written, GENERATED, partition_by=["day"])
    import_and_take_over(lake, str(written.root))
    lake.execute(
        "INSERT INTO t (at) VALUES ('2024-01-31 12:00:00+00');"
        "INSERT INTO t VALUES ('2024-01-31 13:00:00+00', 2, DEFAULT, 4)"
    )
    for statement in (
        "INSERT INTO t VALUES ('2024-01-31 13:00:00+00', 2, '2024-01-31', 5)",
        "INSERT INTO t SELECT TIMESTAMPTZ '2024-01-31 13:00:00+00', i, DATE '2024-01-31', i"
        " FROM range(1, 2) r(i)",
        "UPDATE t SET twice = 1",
    ):
        with pytest.raises(InvalidInput, match=r"generated column 'twice': n \* 2"):
            lake.execute(statement)
    lake.execute(
        "UPDATE t SET n = n + 1, at = at + INTERVAL 1 DAY WHERE n = 42;"
        "MERGE INTO t USING (SELECT 2 AS n, TIMESTAMPTZ '2024-03-01 00:00:00+00' AS at) s"
        " ON t.n = s.n WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;"
        "ALTER TABLE t ADD COLUMN more BIGINT"
    )
    found = lake.table("t").select("n", "twice", "day").collect()
    assert sorted((one.n, one.twice, str(one.day)) for one in found) == [
        (2, 4, "2024-03-01"),
        (43, 86, "2024-02-01"),
    ]
    answers = rows_of(written.root)
    assert len(answers) == 4
    assert len({tuple(sorted(map(str, one))) for one in answers.values()}) == 1
    fields = json.loads(DeltaTable(str(written.root)).schema().to_json())["fields"]
    assert [one["metadata"] for one in fields] == [*(one[2] for one in GENERATED), {}]


def mapped(number: int) -> dict[str, Any]:
    """Return the schema metadata of a column with another name in files."""
    return {
        "delta.columnMapping.id": number,
        "delta.columnMapping.physicalName": f"col-{number}",
    }


def test_rules_use_logical_column_names(lake: Session, written: HandWrittenLog) -> None:
    inside = {"name": "x", "type": "long", "nullable": True, "metadata": mapped(2)}
    kind = {"type": "struct", "fields": [inside]}
    columns = [
        ("s", kind, mapped(1)),
        ("y", "long", mapped(3) | {"delta.generationExpression": "s.x + 1"}),
    ]
    properties = {"delta.columnMapping.mode": "name", "delta.constraints.c": "s.x > 0 AND y < 9"}
    write_rules(written, columns, properties, features=[*ALL, "columnMapping"], reader=2)
    import_and_take_over(lake, str(written.root))
    lake.execute("INSERT INTO t (s) VALUES ({'x': 1})")
    for value in (0, 8):
        with pytest.raises(InvalidInput, match=f'The row is .*"x":{value}'):
            lake.execute(f"INSERT INTO t (s) VALUES ({{'x': {value}}})")
    (row,) = rows_of(written.root)["duckdb"]
    assert row == ((("x", 1),), 2)


def test_an_append_only_table_accepts_only_new_rows(lake: Session, written: HandWrittenLog) -> None:
    write_rules(written, [("a", "long", {})], {"delta.appendOnly": "true"})
    import_and_take_over(lake, str(written.root))
    lake.execute("INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3)")
    for statement in (
        "DELETE FROM t WHERE a = 1",
        "UPDATE t SET a = 4",
        "TRUNCATE t",
        "INSERT OVERWRITE t VALUES (4)",
    ):
        with pytest.raises(Forbidden, match="It is append-only"):
            lake.execute(statement)
    lake.execute("CALL ducklake_merge_adjacent_files('lake')")
    mirror_catalog(lake.attachment("lake").catalog)
    assert sorted(row.a for row in lake.table("t").collect()) == [1, 2, 3]
    last = log_actions(written.root, 4)
    assert [one["remove"]["dataChange"] for one in last if "remove" in one] == [False, False]


# Tables of other writers

FOREIGN = [
    ("dat_check_constraints", "('a', 1, '2020-01-01')", "('a', -1, '2020-01-01')", "int > 0"),
    ("delta_dbr_8_1_generated_columns", "(10, 11)", "(10, 10)", r"c1 \+ 1"),
    ("trino_invariants", "(2)", "(NULL)", "dummy < 3"),
    ("deltars_issue-2152", None, "(1, 'x')", "is an identity column"),
    ("dat_generated_columns", None, "('a', 1, NULL, NULL)", "'now' is not known"),
]


@pytest.mark.parametrize(("name", "good", "bad", "reason"), FOREIGN)
def test_rules_of_tables_of_other_writers_are_enforced(
    lake: Session,
    delta_corpus: Path,
    tmp_path: Path,
    name: str,
    good: str | None,
    bad: str,
    reason: str,
) -> None:
    copy = shutil.copytree(delta_corpus / name / "table", tmp_path / "copy")
    import_and_take_over(lake, str(copy))
    before = lake.table("t").count()
    with pytest.raises((InvalidInput, Forbidden), match=reason):
        lake.execute(f"INSERT INTO t VALUES {bad}")
    if good is not None:
        lake.execute(f"INSERT INTO t VALUES {good}")
    expected = before + (good is not None)
    assert {sum(one.values()) for one in rows_of(copy).values()} == {expected}
