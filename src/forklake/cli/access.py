"""Commands about access rules: principals and their keys.

They work on the metastore itself: whoever can open it may do everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.formatting import iso_time, short_time, visible
from forklake.cli.output import table
from forklake.cli.session import Session, command
from forklake.model.figures import counted

if TYPE_CHECKING:
    from forklake.access.access import Access

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
principal = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
key = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(principal, name="principal")
app.add_typer(key, name="key")
PrincipalArgument = Annotated[
    str, typer.Argument(metavar="PRINCIPAL", help="Name of a principal.", show_default=False)
]


@contextmanager
def rules(session: Session) -> Iterator[Access]:
    """The access rules of the metastore."""
    from forklake.access.access import Access

    with session.open() as metastore:
        yield Access(metastore)


@app.callback()
def access() -> None:
    """Say who may do what, and see what was done.

    There are principals with keys, their roles on catalogs, tokens, and limits.
    Each command takes --json and the other options of forklake.

    \b
    Examples:
      forklake access init
      forklake access principal add ada --prefix ada-
      forklake access grant reader ada --catalog sales
    """


@app.command()
@command
def init(session: Session) -> None:
    """Make the tables of access rules; those that are there stay.

    The rules begin with the first principal: from then on a service asks for a key.

    \b
    Example:
      forklake access init
    """
    with rules(session) as access:
        access.init()
        is_open = access.is_open()
    said = "There are tables for access rules" + (", and no principal yet." if is_open else ".")
    session.output.show({"has_principals": not is_open}, lambda: [said])


@principal.callback()
def principals() -> None:
    """Those who may ask for something."""


@principal.command("add")
@command
def add_principal(
    session: Session,
    name: PrincipalArgument,
    account: Annotated[str, typer.Option(metavar="NAME", help="Account it belongs to.")] = (
        "default"
    ),
    is_root: Annotated[bool, typer.Option("--root", help="It may do everything.")] = False,
    prefixes: Annotated[
        list[str] | None,
        typer.Option(
            "--prefix",
            metavar="TEXT",
            help="It may make, and owns, catalogs whose names begin so.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Add a principal, which can do nothing until it has a key.

    \b
    Examples:
      forklake access principal add root --root
      forklake access principal add ada --account research --prefix ada-
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        made = access.create_principal(
            LOCAL, name, account, is_root=is_root, prefixes=prefixes or []
        )
    document = {"name": made.name, "account": made.account, "is_root": made.is_root}
    said = f"Added the principal {visible(made.name)} of the account {visible(made.account)}."
    session.output.show(document, lambda: [said])


@principal.command("list")
@command
def list_principals(session: Session) -> None:
    """List principals.

    \b
    Example:
      forklake access principal list
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        found = access.principals(LOCAL)
    document = {
        "principals": [
            {
                "name": one.name,
                "account": one.account,
                "is_root": one.is_root,
                "is_disabled": one.is_disabled,
            }
            for one in found
        ]
    }
    rows = [
        (
            one.name,
            one.account,
            "root" if one.is_root else "",
            "disabled" if one.is_disabled else "",
        )
        for one in found
    ]
    session.output.show(document, lambda: [table(("principal", "account", "", ""), rows)])


@principal.command("disable")
@command
def disable_principal(session: Session, name: PrincipalArgument) -> None:
    """Let a principal, its keys and its tokens be good no more.

    \b
    Example:
      forklake access principal disable ada
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        access.disable(LOCAL, name)
    session.output.show({"name": name}, lambda: [f"Disabled the principal {visible(name)}."])


@key.callback()
def keys() -> None:
    """Keys by which principals are known."""


@key.command("add")
@command
def add_key(session: Session, name: PrincipalArgument) -> None:
    """Make a key and show it, this once: only a hash of it is kept.

    \b
    Example:
      forklake access key add ada
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        key_id, text = access.create_key(LOCAL, name)
    session.output.show({"key_id": key_id, "key": text}, lambda: [text])


@key.command("list")
@command
def list_keys(session: Session, name: PrincipalArgument) -> None:
    """List the keys of a principal.

    \b
    Example:
      forklake access key list ada
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        found = access.keys(LOCAL, name)
    document = {
        "keys": [
            {
                "key_id": one.key_id,
                "created_at": iso_time(one.created_at),
                "is_revoked": one.is_revoked,
            }
            for one in found
        ]
    }
    rows = [
        (one.key_id, short_time(one.created_at), "revoked" if one.is_revoked else "")
        for one in found
    ]
    session.output.show(document, lambda: [table(("key", "made", ""), rows)])


@key.command("revoke")
@command
def revoke_key(
    session: Session,
    name: PrincipalArgument,
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key.")],
) -> None:
    """Let a key be good no more.

    \b
    Example:
      forklake access key revoke ada 0123456789abcdef
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        access.revoke_key(LOCAL, name, key_id)
    session.output.show({"key_id": key_id}, lambda: [f"Revoked the key {visible(key_id)}."])


@app.command()
@command
def rotate(session: Session) -> None:
    """Sign tokens with a new key. Those of the key before stay good, older ones do not.

    \b
    Example:
      forklake access rotate
    """
    from forklake.access.callers import LOCAL

    with rules(session) as access:
        access.rotate_signing_key(LOCAL)
    session.output.show({"rotated": True}, lambda: ["Tokens are signed with a new key."])


@app.command()
@command
def tidy(session: Session) -> None:
    """Remove grants on catalogs that are gone.

    \b
    Example:
      forklake access tidy
    """
    with rules(session) as access:
        count = access.tidy()
    session.output.show({"removed": count}, lambda: [f"Removed {counted(count, 'grant')}."])
