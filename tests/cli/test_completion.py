"""Completion in the shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from forklake import ColumnSpec
from forklake.cli.shell.completion import SqlCompleter
from forklake.sql.session import Session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Yield a session that uses a catalog with a few tables, without Spark."""
    uri = f"ducklake:{tmp_path_factory.mktemp('completion') / 'lake.db'}"
    with Session() as found:
        found.attach(uri, "lake", catalog="lake", create_if_not_exists=True)
        found.attach(uri, "agent-1", catalog="agent-1", create_if_not_exists=True)
        found.use("lake")
        found.create_schema("stock")
        columns = [ColumnSpec("id", "bigint"), ColumnSpec("Unit price", "double")]
        found.create_table("orders", columns)
        found.create_table("stock.items", [ColumnSpec("item_name", "varchar")])
        found.create_table('"agent-1".main.notes', [ColumnSpec("body", "varchar")])
        yield found


def complete(session: Session, text: str) -> list[tuple[str, str]]:
    """Return the completions at the bar, each with its kind."""
    before, _, after = text.partition("|")
    document = Document(before + after, len(before))
    found = SqlCompleter(session).get_completions(document, CompleteEvent())
    return [(one.text, one.display_meta_text) for one in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT * FROM ord|", [("orders", "table")]),
        (
            "SELECT * FROM |",
            [
                ("orders", "table"),
                ("main", "schema"),
                ("stock", "schema"),
                ("lake", "catalog"),
                ('"agent-1"', "catalog"),
            ],
        ),
        ("SELECT * FROM stock.|", [("items", "table")]),
        ("FROM lake.sto|", [("stock", "schema")]),
        ("FROM lake.stock.|", [("items", "table")]),
        ('FROM "agent-1".n|', [("notes", "table")]),
        ('FROM "agent-1".main.|', [("notes", "table")]),
        ("FROM nowhere.|", []),
        ("SELECT i| FROM orders", [("id", "column")]),
        ("SELECT orders.| FROM orders", [("id", "column"), ('"Unit price"', "column")]),
        ('SELECT "un| FROM orders', [('"Unit price"', "column")]),
        ("SELECT o.i| FROM lake.main.orders AS o", [("id", "column")]),
        ("SELECT it| FROM stock.items", [("item_name", "column")]),
        ("UPDATE orders SET uni|", [('"Unit price"', "column")]),
        (".he|", [(".help", "command")]),
    ],
)
def test_names_are_completed(session: Session, text: str, found: list[tuple[str, str]]) -> None:
    # SQL keywords may begin in the same way.
    assert [one for one in complete(session, text) if one[1] not in {"keyword", "function"}] == (
        found
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SEL|", ("SELECT", "keyword")),
        ("sel|", ("select", "keyword")),
        ("cou|", ("count", "function")),
    ],
)
def test_keywords_are_completed_in_the_typed_case(
    session: Session, text: str, found: tuple[str, str]
) -> None:
    assert found in complete(session, text)


def test_no_keywords_are_offered_in_place_of_a_table(session: Session) -> None:
    assert not {what for _, what in complete(session, "SELECT 1 FROM |")} & {"keyword", "function"}


def test_keywords_are_offered_without_a_catalog(tmp_path: Path) -> None:
    with Session() as empty:
        assert ("SELECT", "keyword") in complete(empty, "SE|")
        assert complete(empty, "FROM t.|") == []


def test_names_created_in_the_open_transaction_are_completed(session: Session) -> None:
    session.begin()
    session.create_table("drafts", [ColumnSpec("id", "bigint")])
    assert complete(session, "FROM dra|") == [("drafts", "table")]
    session.rollback()
    assert complete(session, "FROM dra|") == []
