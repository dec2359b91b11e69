"""Transactions of statements that read and change: on one snapshot, all or nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklake.sql.session import Session


def atomic(session: Session) -> AbstractContextManager[None]:
    """Return the context of the open transaction, or of a new one for this statement."""
    return nullcontext() if session.in_transaction else session.transaction()
