"""Packages that do not work with the SQL dialect, which are refused by name."""

from __future__ import annotations

import pytest
from sqlglot import tokens

from forklake.errors import Unsupported
from forklake.sql.requirements import refuse_compiled_sqlglot


def test_compiled_sqlglot_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_compiled_sqlglot()
    monkeypatch.setattr(tokens, "SQLGLOTC_INSTALLED", True)
    with pytest.raises(Unsupported, match="'sqlglotc' is installed") as raised:
        refuse_compiled_sqlglot()
    assert "pip uninstall sqlglotc" in raised.value.remedy
