"""Attaching catalogs, and resolving table names. Needs no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import forklake
from forklake import ColumnSpec, Session
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from forklake.session.names import perhaps, split_name
from tests.fix_metastore import Place

COLUMNS = [ColumnSpec("id", "int64")]


@pytest.fixture
def metadata(tmp_path: Path) -> str:
    return f"ducklake:{tmp_path / 'meta.db'}"


@pytest.fixture
def bare() -> Iterator[Session]:
    """Yield a session without attached catalogs."""
    with forklake.connect() as session:
        yield session


@pytest.fixture
def lake(bare: Session, metadata: str) -> Session:
    """Return a session that uses a new catalog."""
    bare.attach(metadata, "lake", catalog="sales", create_if_not_exists=True)
    bare.use("lake")
    return bare


def add_table(session: Session, name: str) -> None:
    """Create a table without rows."""
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        change.transaction.create_table(place.table, COLUMNS, schema=place.schema)


# Options of ATTACH


def test_a_catalog_must_be_named(bare: Session, metadata: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        bare.attach(metadata, "lake", create_if_not_exists=True)
    assert caught.value.message == (
        "CATALOG is required. Please provide CATALOG when attaching the database."
    )
    assert not Path(metadata.removeprefix("ducklake:")).exists()


def test_a_missing_metastore_or_catalog_is_not_found(lake: Session, metadata: str) -> None:
    with pytest.raises(NotFound, match=r"^DuckLake metadata not found"):
        lake.attach(f"{metadata}2", catalog="sales")
    with pytest.raises(NotFound, match=r"^Catalog 'x' does not exist"):
        lake.attach(metadata, catalog="x")
    assert [one.alias for one in lake.attachments()] == ["lake"]


def test_on_every_backend_catalogs_of_one_metastore_share_its_connections(
    place: Place, tmp_path: Path, bare: Session
) -> None:
    data = str(tmp_path / "data")
    for name in ("one", "two"):
        bare.attach(
            place.uri,
            catalog=name,
            data_path=data,
            metadata_schema=place.metadata_schema,
            create_if_not_exists=True,
        )
    first, second = bare.attachments()
    assert (first.alias, second.alias) == ("one", "two")
    assert first.metastore is second.metastore
    assert first.data_path == second.data_path == f"{data}/"
    with forklake.connect() as other:
        uri = place.uri.removeprefix("ducklake:")
        other.attach(uri, catalog="two", metadata_schema=place.metadata_schema)
        assert other.attachments()[0].metastore is first.metastore
    add_table(bare, "two.main.t")  # the metastore stays open while an attachment uses it
    assert [table.table_name for table in bare.viewing(second).state.tables()] == ["t"]


def test_a_new_catalog_of_an_embedded_metastore_has_a_folder_beside_it(
    lake: Session, metadata: str
) -> None:
    assert lake.attachment("lake").data_path == f"{metadata.removeprefix('ducklake:')}.files/"


def test_a_new_catalog_of_a_server_needs_a_data_path(bare: Session, shared_database: str) -> None:
    with pytest.raises(InvalidInput, match="no data path"):
        bare.attach(
            f"ducklake:postgres:{shared_database}",
            catalog="nowhere",
            metadata_schema="attach_without_data_path",
            create_if_not_exists=True,
        )


def test_another_data_path_is_refused_without_the_override_option(
    lake: Session, metadata: str, tmp_path: Path
) -> None:
    other = str(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="does not match existing data path"):
        lake.attach(metadata, "moved", catalog="sales", data_path=other)
    lake.attach(metadata, "moved", catalog="sales", data_path=other, override_data_path=True)
    assert lake.attachment("moved").data_path == f"{other}/"
    same = lake.attachment("lake").data_path
    lake.attach(metadata, "same", catalog="sales", data_path=same.rstrip("/"))


def test_a_snapshot_is_attached_read_only(lake: Session, metadata: str) -> None:
    add_table(lake, "t")
    (*_, created) = lake.snapshots("lake")
    add_table(lake, "u")
    lake.attach(metadata, "then", catalog="sales", snapshot_version=created.snapshot_id)
    moment = created.snapshot_time.astimezone(UTC).replace(tzinfo=None)
    lake.attach(metadata, "at_noon", catalog="sales", snapshot_time=str(moment))
    for alias in ("then", "at_noon"):
        state = lake.viewing(lake.attachment(alias)).state
        assert [table.table_name for table in state.tables()] == ["t"]
        with pytest.raises(Forbidden, match="read-only"):
            lake.create_schema(f"{alias}.s")


def test_impossible_snapshot_options_are_refused(lake: Session, metadata: str) -> None:
    now = datetime.now(UTC)
    with pytest.raises(InvalidInput, match="both SNAPSHOT_VERSION and SNAPSHOT_TIME"):
        lake.attach(metadata, "x", catalog="sales", snapshot_version=1, snapshot_time=now)
    with pytest.raises(NotFound, match="No snapshot found at version"):
        lake.attach(metadata, "x", catalog="sales", snapshot_version=1000)
    with pytest.raises(NotFound):
        lake.attach(metadata, "x", catalog="sales", snapshot_time=now - timedelta(days=1))
    with pytest.raises(InvalidInput, match="cannot be read"):
        lake.attach(metadata, "x", catalog="sales", snapshot_time="noon")
    with pytest.raises(InvalidInput, match="created read-only"):
        lake.attach(metadata, catalog="new", read_only=True, create_if_not_exists=True)
    assert [one.alias for one in lake.attachments()] == ["lake"]


def test_a_read_only_attachment_refuses_changes(lake: Session, metadata: str) -> None:
    lake.attach(metadata, "seen", catalog="sales", read_only=True)
    with pytest.raises(Forbidden, match="read-only"):
        lake.create_schema("seen.s")


def test_encryption_is_fixed_when_a_catalog_is_created(lake: Session, metadata: str) -> None:
    lake.attach(metadata, "secret", catalog="secret", encrypted=True, create_if_not_exists=True)
    secret = lake.attachment("secret")
    assert secret.option(secret.catalog.refresh(), "encrypted") == "true"
    with pytest.raises(InvalidInput, match="are encrypted"):
        lake.attach(metadata, "s2", catalog="secret", encrypted=False)
    with pytest.raises(InvalidInput, match="are not encrypted"):
        lake.attach(metadata, "s3", catalog="sales", encrypted=True)
    lake.attach(metadata, "s4", catalog="secret", encrypted="AUTOMATIC")


def test_a_stored_inlining_limit_overrides_that_of_an_attachment(
    lake: Session, metadata: str
) -> None:
    lake.attach(metadata, "inlining", catalog="sales", data_inlining_row_limit=10)
    inlining, plain = lake.attachment("inlining"), lake.attachment("lake")
    name = "data_inlining_row_limit"
    assert inlining.option(inlining.catalog.refresh(), name) == "10"
    assert plain.option(plain.catalog.refresh(), name) == "0"
    lake.set_option("lake", name, 3)
    assert inlining.option(inlining.catalog.refresh(), name) == "3"
    with pytest.raises(InvalidInput, match=name):
        lake.attach(metadata, "x", catalog="sales", data_inlining_row_limit=-1)


def test_aliases_are_unique_ignoring_case(lake: Session, metadata: str) -> None:
    with pytest.raises(AlreadyExists, match="already exists"):
        lake.attach(metadata, "LAKE", catalog="sales")
    lake.attach(metadata, catalog="sales")
    assert lake.attachment("Sales").alias == "sales"


# Life of sessions


def test_attachments_in_use_cannot_be_detached(lake: Session, metadata: str) -> None:
    lake.attach(metadata, "other", catalog="sales")
    with pytest.raises(InvalidInput, match="is the current catalog"):
        lake.detach("lake")
    with lake.transaction():
        lake.create_schema("other.s")
        with pytest.raises(InvalidInput, match="open transaction"):
            lake.detach("other")
    lake.detach("OTHER")
    with pytest.raises(NotFound, match="No catalog is attached as 'other'"):
        lake.detach("other")


def test_sessions_are_independent_and_cursors_share_attachments(
    lake: Session, metadata: str
) -> None:
    with forklake.connect() as other:
        assert other.attachments() == []
    cursor = lake.cursor()
    assert cursor.current == ("lake", "main")
    cursor.attach(metadata, "second", catalog="sales")
    cursor.use("second")
    assert (lake.current, cursor.current) == (("lake", "main"), ("second", "main"))
    lake.begin()
    assert not cursor.in_transaction
    lake.rollback()
    lake.close()
    add_table(cursor, "t")
    cursor.close()


def test_a_closed_session_refuses_use_and_can_be_closed_again(lake: Session) -> None:
    lake.begin()
    lake.create_schema("s")
    lake.close()
    lake.close()
    for use in (
        lambda: lake.use("lake"),
        lambda: lake.resolve("t"),
        lake.begin,
        lake.cursor,
        lambda: lake.create_schema("s"),
        lambda: lake.attach("ducklake:x", catalog="x"),
    ):
        with pytest.raises(InvalidInput, match="The session is closed"):
            use()


# Names


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("orders", ("orders",)),
        (" lake . main.orders ", ("lake", "main", "orders")),
        ('lake.main."my.table"', ("lake", "main", "my.table")),
        ('"a ""b"" c".`d``.e`', ('a "b" c', "d`.e")),
        ("my lake.t", ("my lake", "t")),
        (("lake", "a.b"), ("lake", "a.b")),
    ],
)
def test_names_are_split_into_parts(name: str, parts: tuple[str, ...]) -> None:
    assert split_name(name) == parts


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", '"a', 'a"b', '""'])
def test_invalid_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        split_name(name)


def test_names_resolve_to_an_attachment_schema_and_table(lake: Session, metadata: str) -> None:
    lake.attach(metadata, "other", catalog="more", create_if_not_exists=True)
    lake.create_schema("Store")
    for name, place in {
        "t": "lake.main.t",
        "store.t": "lake.Store.t",
        "other.t": "other.main.t",
        "OTHER.Main.t": "other.main.t",
        '"LAKE"."STORE"."a.b"': "lake.Store.a.b",
    }.items():
        assert str(lake.resolve(name)) == place
    lake.use("store")
    assert str(lake.resolve("t")) == "lake.Store.t"
    lake.use("other.main")
    assert str(lake.resolve("t")) == "other.main.t"


def test_a_name_that_may_be_a_catalog_or_a_schema_is_ambiguous(lake: Session) -> None:
    lake.create_schema("lake")
    with pytest.raises(InvalidInput, match='Ambiguous reference to catalog or schema "lake"'):
        lake.resolve("lake.t")


def test_errors_suggest_similar_names(lake: Session) -> None:
    lake.create_schema("shops")
    add_table(lake, "orders")
    with pytest.raises(NotFound, match="neither a schema nor an attached catalog 'shop'"):
        lake.resolve("shop.t")
    with pytest.raises(NotFound, match="Did you mean 'lake'"):
        lake.resolve("lakes.main.t")
    with pytest.raises(NotFound, match=r"'lake\.mine' does not exist.*'main'"):
        lake.use("lake.mine")
    with pytest.raises(NotFound, match=r"'lake\.main\.order' does not exist.*'orders'"):
        lake.drop_table("order")
    with pytest.raises(InvalidInput, match="4 parts"):
        lake.resolve("a.b.c.d")
    assert perhaps("zz", ["a", "b"], what="letters") == "The letters are: a, b."
    assert perhaps("zz", [], what="letters") == "No letters exist yet."


def test_short_names_need_a_current_catalog(bare: Session, metadata: str) -> None:
    bare.attach(metadata, "lake", catalog="sales", create_if_not_exists=True)
    with pytest.raises(NotFound, match="No catalog is current"):
        bare.resolve("t")
    assert str(bare.resolve("lake.t")) == "lake.main.t"


# Forks


def test_a_fork_is_created_by_alias_or_name_and_optionally_attached(lake: Session) -> None:
    add_table(lake, "t")
    at = lake.snapshots("lake")[-1].snapshot_id
    add_table(lake, "u")
    lake.fork("lake", "now", attach_as="now")
    lake.fork("sales", "then", at=at, attach_as="then")
    names = {
        alias: [one.table_name for one in lake.viewing(lake.attachment(alias)).state.tables()]
        for alias in ("now", "then")
    }
    assert names == {"now": ["t", "u"], "then": ["t"]}
    add_table(lake, "then.mine")
    with pytest.raises(NotFound):
        lake.find_table(lake.viewing(lake.attachment("lake")), lake.resolve("mine"))
    with pytest.raises(NotFound):
        lake.fork("nothing", "x")
    with pytest.raises(AlreadyExists):
        lake.fork("lake", "third", attach_as="now")
