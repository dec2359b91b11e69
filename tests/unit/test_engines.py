"""Code above data engines does not load PySpark until it needs rows of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import sys
import forklake
import forklake.maintenance.compaction, forklake.merging.fork_merge, forklake.sql.query.binding

with forklake.connect() as session:
    for text in (
        "ATTACH 'ducklake:{metastore}' AS lake (CATALOG 'lake', CREATE_IF_NOT_EXISTS)",
        "USE lake",
        "CREATE TABLE t (id INTEGER, name VARCHAR)",
        "CALL lake.set_option('data_inlining_row_limit', 10)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    ):
        session.execute(text)
    assert session.update("t", {{"name": "'z'"}}, "id = 2") == 1
    assert session.delete("t", "id = 1") == 1
print(sorted({{name.split(".")[0] for name in sys.modules}} & {{"pyspark", "py4j"}}))
"""


def test_sessions_change_inlined_rows_without_pyspark(tmp_path: Path) -> None:
    program = _PROGRAM.format(metastore=tmp_path / "lake.db")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
