"""Stamps and accounts as the metastores keep them, and the numbering of ids across stamps.

All ids of a stamp leave the same remainder when they are divided by the number of possible stamps.
So ids are unique among all stamps, and an account moves with every id that it has: those in names
of tables, in files, in tokens, and those that somebody has noted down.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forklake.errors import AlreadyExists, InvalidInput
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Insert

MOST_STAMPS = 64
_SEQUENCES = ("ducklake_snapshot_id_seq", "ducklake_entity_id_seq", "ducklake_file_id_seq")


class State(StrEnum):
    """What happens to an account."""

    READY = "ready"
    MOVING = "moving"  # to the other stamp; nobody writes
    CLEANING = "cleaning"  # it has moved; the other stamp is still to be cleaned


@dataclass(frozen=True, slots=True)
class Account:
    """An account, where it lives, and where it goes or came from."""

    name: str
    stamp: str
    state: State = State.READY
    other_stamp: str | None = None


# Stamps


def stamp_numbers(connection: Connection) -> dict[str, int]:
    """The stamps that a metastore knows, and their numbers."""
    return dict(connection.fetch("SELECT name, number FROM crucible_stamp"))


def add_stamp(database: Database, name: str) -> int:
    """The number of a stamp; the next one for a new stamp."""
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        known = stamp_numbers(connection)
        if name in known:
            return known[name]
        number = max(known.values(), default=-1) + 1
        if number >= MOST_STAMPS:
            raise InvalidInput(
                f"The stamp '{name}' is one too many.", remedy=f"Use up to {MOST_STAMPS}."
            )
        connection.commit([Insert("crucible_stamp", ("name", "number"), [(name, number)])])
        return number


def own_stamp(database: Database, name: str, number: int, above: list[int]) -> None:
    """Make a metastore that stamp: from now on its ids have the stamp's remainder, and lie above
    some others, one of each sequence."""
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        if not stamp_numbers(connection):
            _renumber(connection, number, above)
            connection.run([Insert("crucible_stamp", ("name", "number"), [(name, number)])])
        connection.commit()


def raise_ids(database: Database, number: int, above: list[int]) -> None:
    """Let a stamp give ids only that lie above some others."""
    with database.writing() as connection:
        _renumber(connection, number, above)
        connection.commit()


def _renumber(connection: Connection, number: int, above: list[int]) -> None:
    for sequence, least in zip(_SEQUENCES, above, strict=True):
        # Whoever wants an id waits from here on until this is committed.
        connection.fetch(f"ALTER SEQUENCE {sequence} INCREMENT BY {MOST_STAMPS}")
        connection.fetch(
            f"SELECT setval('{sequence}', (greatest(last_value, :least) / {MOST_STAMPS} + 1)"
            f" * {MOST_STAMPS} + :number, false) FROM {sequence}",
            least=least,
            number=number,
        )


def last_ids(connection: Connection) -> list[int]:
    """Ids of each sequence above which none has been given."""
    found = [connection.fetch(f"SELECT last_value FROM {sequence}") for sequence in _SEQUENCES]
    return [int(rows[0][0]) for rows in found]


# Accounts

_COLUMNS = ("name", "stamp", "state", "other_stamp")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM crucible_account"


def find_account(connection: Connection, name: str) -> Account | None:
    """What is known about an account."""
    rows = connection.fetch(f"{_SELECT} WHERE name = :name", name=name)
    return _account(*rows[0]) if rows else None


def list_accounts(connection: Connection) -> list[Account]:
    """All accounts that were given a stamp, by name."""
    return [_account(*row) for row in connection.fetch(f"{_SELECT} ORDER BY name")]


def insert_account(database: Database, account: Account) -> None:
    """Keep a new account."""
    row = (account.name, account.stamp, account.state.value, account.other_stamp)
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        if find_account(connection, account.name) is not None:
            raise AlreadyExists(
                f"Account '{account.name}' already exists.", remedy="Choose another name."
            )
        connection.commit([Insert("crucible_account", _COLUMNS, [row])])


def write_account(database: Database, account: Account) -> None:
    """Keep where an account lives, and what happens to it."""
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
    """The principals of an account."""
    rows = connection.fetch(
        "SELECT principal_id FROM crucible_principal WHERE account = :account", account=account
    )
    return [number for (number,) in rows]


def share_identities(home: Connection, stamp: Connection) -> None:
    """Let the database of a stamp know the principals and signing keys, which are kept at home:
    its views for tenants ask for them. Commits."""
    stamp.run(stamp.lock(Lock.ACCESS))
    for table, columns in _SHARED.items():
        text = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1"
        rows = home.fetch(text)
        if rows != stamp.fetch(text):
            stamp.fetch(f"DELETE FROM {table}")
            stamp.run([Insert(table, columns, rows)] if rows else [])
    stamp.commit()


_SHARED = {
    "crucible_principal": (
        "principal_id",
        "name",
        "account",
        "is_root",
        "created_at",
        "disabled_at",
    ),
    "crucible_signing_key": ("kid", "secret", "created_at", "retired_at"),
}
