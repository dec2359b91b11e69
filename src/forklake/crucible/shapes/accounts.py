"""Models of accounts and stamps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from forklake.crucible.shapes.base import RequestBody, ResponseBody
from forklake.store import stamps as store

StampName = Annotated[str, Field(min_length=1, max_length=128)]


class Account(ResponseBody):
    """Account with its stamp.

    `state` is `ready`, `moving` (to `other_stamp`, read-only) or `cleaning` (`other_stamp` still
    holds rows from before the move).
    """

    name: str
    stamp: str
    state: str
    other_stamp: str | None

    @classmethod
    def of(cls, row: store.Account) -> Account:
        """Return the model of a stored account."""
        return cls(
            name=row.name, stamp=row.stamp, state=row.state.value, other_stamp=row.other_stamp
        )


class Accounts(ResponseBody):
    """Accounts that are assigned to a stamp, and the names of all stamps."""

    accounts: list[Account]
    stamps: list[str]


class NewAccount(RequestBody):
    """New account. Without `stamp`, the stamp with the fewest accounts is used."""

    name: Annotated[str, Field(min_length=1, max_length=128)]
    stamp: StampName | None = None
