"""Stamps and accounts in the metastores, and the numbering of ids across stamps.

A stamp is one of several metastores behind the service. All ids of a stamp leave the same remainder
when divided by the maximum number of stamps. So ids are unique among all stamps, and an account can
move with all its ids: those in names of tables, in files, in tokens, and those stored by users.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forklake.errors import AlreadyExists, InvalidInput
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Insert
from forklake.store.schema.optional_tables import ACCOUNT, PRINCIPAL, SIGNING_KEY, STAMP

MOST_STAMPS = 64
_SEQUENCES = ("ducklake_snapshot_id_seq", "ducklake_entity_id_seq", "ducklake_file_id_seq")


class State(StrEnum):
    """State of an account."""

    READY = "ready"
    MOVING = "moving"  # being copied to the other stamp; writes are blocked
    CLEANING = "cleaning"  # has moved; its rows in the other stamp are still to be deleted


@dataclass(frozen=True, slots=True)
class Account:
    """Account, its stamp, and the stamp that it moves to or came from."""

    name: str
    stamp: str
    state: State = State.READY
    other_stamp: str | None = None


# Stamps


def stamp_numbers(connection: Connection) -> dict[str, int]:
    """Return the stamps recorded in a metastore, and their numbers."""
    return dict(connection.fetch("SELECT name, number FROM crucible_stamp"))


def add_stamp(database: Database, name: str) -> int:
    """Return the number of a stamp. A new one gets the next number."""
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        known = stamp_numbers(connection)
        if name in known:
            return known[name]
        number = max(known.values(), default=-1) + 1
        if number >= MOST_STAMPS:
            raise InvalidInput(
                f"The stamp '{name}' cannot be added: there are {MOST_STAMPS} already.",
                remedy=f"Use up to {MOST_STAMPS} stamps.",
            )
        connection.commit([Insert(STAMP.name, STAMP.column_names, [(name, number)])])
        return number


def own_stamp(database: Database, name: str, number: int, above: list[int]) -> None:
    """Make a metastore the stamp with this number.

    From now on its ids have the remainder of the stamp and are above `above`, one id for each
    sequence.
    """
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        if not stamp_numbers(connection):
            _renumber(connection, number, above)
            connection.run([Insert(STAMP.name, STAMP.column_names, [(name, number)])])
        connection.commit()


def raise_ids(database: Database, number: int, above: list[int]) -> None:
    """Make a stamp allocate only ids above `above`, one id for each sequence."""
    with database.writing() as connection:
        _renumber(connection, number, above)
        connection.commit()


def _renumber(connection: Connection, number: int, above: list[int]) -> None:
    for sequence, least in zip(_SEQUENCES, above, strict=True):
        # ALTER SEQUENCE locks: id allocations wait from here on until this is committed.
        connection.fetch(f"ALTER SEQUENCE {sequence} INCREMENT BY {MOST_STAMPS}")
        connection.fetch(
            f"SELECT setval('{sequence}', (greatest(last_value, :least) / {MOST_STAMPS} + 1)"
            f" * {MOST_STAMPS} + :number, false) FROM {sequence}",
            least=least,
            number=number,
        )


def last_ids(connection: Connection) -> list[int]:
    """Return for each sequence an id above which none has been allocated."""
    found = [connection.fetch(f"SELECT last_value FROM {sequence}") for sequence in _SEQUENCES]
    return [int(rows[0][0]) for rows in found]


# Accounts

_COLUMNS = ACCOUNT.column_names
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM crucible_account"


def find_account(connection: Connection, name: str) -> Account | None:
    """Return the account with this name, or None."""
    rows = connection.fetch(f"{_SELECT} WHERE name = :name", name=name)
    return _account(*rows[0]) if rows else None


def list_accounts(connection: Connection) -> list[Account]:
    """Return all accounts that were assigned a stamp, sorted by name."""
    return [_account(*row) for row in connection.fetch(f"{_SELECT} ORDER BY name")]


def insert_account(database: Database, account: Account) -> None:
    """Add an account. Raises AlreadyExists if its name is taken."""
    row = (account.name, account.stamp, account.state.value, account.other_stamp)
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        if find_account(connection, account.name) is not None:
            raise AlreadyExists(
                f"Account '{account.name}' already exists.", remedy="Choose another name."
            )
        connection.commit([Insert("crucible_account", _COLUMNS, [row])])


def write_account(database: Database, account: Account) -> None:
    """Store the stamp and the state of an account."""
    with database.writing() as connection:
        connection.fetch(
            "INSERT INTO crucible_account (name, stamp, state, other_stamp)"
            " VALUES (:name, :stamp, :state, :other) ON CONFLICT (name) DO UPDATE SET"
            " stamp = excluded.stamp, state = excluded.state, other_stamp = excluded.other_stamp",
            name=account.name,
            stamp=account.stamp,
            state=account.state.value,
            other=account.other_stamp,
        )
        connection.commit()


def _account(name: str, stamp: str, state: str, other_stamp: str | None) -> Account:
    return Account(name, stamp, State(state), other_stamp)


def principals_of_account(connection: Connection, account: str) -> list[int]:
    """Return the principals of an account."""
    rows = connection.fetch(
        "SELECT principal_id FROM crucible_principal WHERE account = :account", account=account
    )
    return [number for (number,) in rows]


def share_identities(home: Connection, stamp: Connection) -> None:
    """Copy principals and signing keys from the home metastore to a stamp, and commit.

    The views for tenants in the stamp query them.
    """
    stamp.run(stamp.lock(Lock.ACCESS))
    for table in (PRINCIPAL, SIGNING_KEY):
        columns = table.column_names
        text = f"SELECT {', '.join(columns)} FROM {table.name} ORDER BY 1"
        rows = home.fetch(text)
        if rows != stamp.fetch(text):
            stamp.fetch(f"DELETE FROM {table.name}")
            stamp.run([Insert(table.name, columns, rows)] if rows else [])
    stamp.commit()
