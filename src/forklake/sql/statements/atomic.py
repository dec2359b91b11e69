"""Statements that read and change: on one snapshot, and all or nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklake.sql.session import Session


def atomic(session: Session) -> AbstractContextManager[None]:
    """The open transaction, or else one for this statement alone."""
    return nullcontext() if session.in_transaction else session.transaction()
