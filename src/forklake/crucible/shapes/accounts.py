"""Accounts and stamps, as requests and answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from forklake.crucible.shapes.base import Answer, Body
from forklake.store import stamps as store

StampName = Annotated[str, Field(min_length=1, max_length=128)]


class Account(Answer):
    """An account, the stamp it lives in, and what happens to it."""

    name: str
    stamp: str
    state: str
    other_stamp: str | None

    @classmethod
    def of(cls, row: store.Account) -> Account:
        """An account as the metastore keeps it."""
        return cls(
            name=row.name, stamp=row.stamp, state=row.state.value, other_stamp=row.other_stamp
        )


class Accounts(Answer):
    """The accounts that were given a stamp, and the stamps there are."""

    accounts: list[Account]
    stamps: list[str]


class NewAccount(Body):
    """An account to make; without a stamp it goes where the fewest are."""

    name: Annotated[str, Field(min_length=1, max_length=128)]
    stamp: StampName | None = None
