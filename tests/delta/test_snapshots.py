"""Files of a table as Arrow, read from every database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from forklake import Metastore
from forklake.delta.snapshots import files_as_arrow, find_file
from forklake.model.files import ColumnBounds
from tests.delta.mirrored import append, end_oldest, make_catalog, new_file


def test_files_are_listed_with_their_column_statistics(
    metastore: Metastore, tmp_path: Path
) -> None:
    catalog = make_catalog(metastore, tmp_path, "orders")
    table = catalog.now().state.table("orders")
    assert files_as_arrow(catalog.now(), table).num_rows == 0
    append(catalog, ["orders"], 1, 2)
    past = catalog.now()
    name_column = past.state.fields(table)[1].column_id
    file = new_file(catalog, "orders", [7])
    odd = ColumnBounds(name_column, None, 1, None, "", 'a,"b"\nc', contains_nan=False)
    with catalog.transaction() as transaction:
        transaction.add_data_files(table, [replace(file, bounds=(*file.bounds, odd))])
    end_oldest(catalog, "orders")
    fork = metastore.fork("sales", "fork")
    append(fork, ["orders"], 9)
    (before,) = files_as_arrow(past, table).to_pylist()
    assert (before["record_count"], before["id.min_value"], before["id.max_value"]) == (2, "1", "2")
    assert (before["name.min_value"], before["name.null_count"]) == (None, None)
    (now,) = files_as_arrow(catalog.now(), table, ["name"]).to_pylist()
    assert now["path"] == file.path
    assert now["path_is_relative"] is True
    assert now["name.min_value"] == ""
    assert now["name.max_value"] == 'a,"b"\nc'
    assert (now["name.contains_nan"], now["name.null_count"]) == (False, None)
    assert "id.min_value" not in now
    assert set(files_as_arrow(fork.now(), table)["id.min_value"].to_pylist()) == {"7", "9"}
    found = find_file(catalog.now(), table, file.path)
    assert found is not None
    assert found.record_count == 1
    assert find_file(past, table, file.path) is None
