"""Invalid statements: the error of each, and no change of the lake.

A block of `bad_statements.txt` is a statement and, after `!!`, the class and the message of its
error, in which `…` matches any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from forklake import Session, errors
from forklake.errors import ForklakeError
from forklake.model.kinds import DEFINITIONS

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

FILE = Path(__file__).with_name("bad_statements.txt")
SPARK = "## In Spark's dialect"  # language: ok
SETUP = """
ATTACH '{meta}' AS lake (CATALOG 'sales', DATA_PATH '{data}', CREATE_IF_NOT_EXISTS true);
USE lake;
CREATE SCHEMA s;
CREATE TABLE t(id INT NOT NULL, name VARCHAR DEFAULT 'x', price DECIMAL(9, 2), d DATE,
               st STRUCT(x INT, y VARCHAR), l INT[], m MAP(VARCHAR, INT));
INSERT INTO t VALUES (1, 'a', 1.5, '2024-01-01', {{'x': 1, 'y': 'b'}}, [1, 2], MAP {{'k': 1}}),
                     (2, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE s.u(id INT, v VARCHAR);
INSERT INTO s.u VALUES (1, 'one'), (1, 'two');
CREATE TABLE p(id INT, d DATE) PARTITIONED BY (d);
CREATE TABLE single(a INT);
CREATE VIEW v AS SELECT id, name FROM t;
CREATE MACRO f(a) AS a + 1;
CREATE MACRO tf(a) AS TABLE SELECT a AS x;
ATTACH '{meta}' AS still (CATALOG 'sales', READ_ONLY);
ATTACH '{meta}' AS other (CATALOG 'other', DATA_PATH '{data}', CREATE_IF_NOT_EXISTS true);
ATTACH '{meta}' AS past (CATALOG 'sales', SNAPSHOT_VERSION 3);
"""


class Bad(NamedTuple):
    """A statement, and its expected error."""

    dialect: str
    statement: str
    kind: type[ForklakeError]
    message: str


def blocks() -> Iterator[Bad]:
    dialect = ""
    for block in FILE.read_text().split("\n\n"):
        statement, mark, error = block.strip().partition("\n!! ")
        if mark:
            kind, message = error.split(": ", 1)
            yield Bad(dialect, statement, getattr(errors, kind), " ".join(message.split()))
        elif statement.startswith("## "):
            dialect = "spark" if statement == SPARK else "duckdb"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("bad")
    return {
        "meta": f"ducklake:{folder / 'meta.db'}",
        "data": str(folder / "data"),
        "folder": str(folder),
    }


@pytest.fixture(scope="module")
def attached(engine: Engine, places: dict[str, str]) -> Iterator[Session]:
    """Yield one lake for all tests, none of which changes it."""
    with Session(engine.spark) as session:
        session.execute(SETUP.format(**places))
        yield session


def observed(session: Session) -> object:
    """Return everything that a statement could change. Rows cannot change without a snapshot."""
    found = []
    for one in session.attachments():
        state = one.catalog.refresh() if one.pinned is None else one.pinned.state
        rows = [sorted(map(str, state.rows(kind))) for kind in DEFINITIONS]
        found.append((one.alias, one.read_only, state.snapshot_id, rows))
    return found, session.current, session.in_transaction, sorted(session.prepared)


@pytest.mark.parametrize(
    "bad", list(blocks()), ids=lambda bad: " ".join(bad.statement.split())[:70]
)
def test_bad_statement_raises_its_error_and_changes_nothing(
    bad: Bad, attached: Session, places: dict[str, str]
) -> None:
    before = observed(attached)
    statement, message = bad.statement, bad.message
    for name, value in places.items():
        statement = statement.replace(f"<{name}>", value)
        message = message.replace(f"<{name}>", value)
    with pytest.raises(ForklakeError) as raised:
        attached.execute(statement, dialect=bad.dialect).arrow()
    assert type(raised.value) is bad.kind, raised.value
    pattern = re.escape(message).replace("…", ".*")
    stated = " ".join(raised.value.message.split())
    assert re.fullmatch(pattern, stated), stated
    assert "Traceback" not in stated
    assert "org.apache" not in stated
    assert observed(attached) == before


def test_file_has_many_bad_statements() -> None:
    statements = [(bad.dialect, bad.statement) for bad in blocks()]
    assert len(statements) >= 150
    assert len(set(statements)) == len(statements)


def test_rows_are_unchanged_after_all_bad_statements(attached: Session) -> None:
    counted = "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM s.u), (SELECT sum(id) FROM v)"
    assert list(attached.execute(counted).arrow().to_pylist()[0].values()) == [2, 2, 3]
