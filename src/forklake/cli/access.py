"""Commands for access rules: principals and their keys.

They work on the metastore itself: whether it can be opened is the only check of rights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape, iso_time, short_time
from forklake.cli.output import make_table
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
def open_access(context: CommandContext) -> Iterator[Access]:
    """Open the metastore and yield its access rules."""
    from forklake.access.access import Access

    with context.open() as metastore:
        yield Access(metastore)


@app.callback()
def access() -> None:
    """Manage principals, keys, roles, limits and the audit log.

    Principals have keys and, on catalogs, roles. Tokens and limits restrict them.
    Each command takes --json and the other global options of forklake.

    \b
    Examples:
      forklake access init
      forklake access principal add ada --prefix ada-
      forklake access grant reader ada --catalog sales
    """


@app.command()
@command
def init(context: CommandContext) -> None:
    """Create the tables of access rules. Existing tables are kept.

    The rules take effect with the first principal: from then on, the service requires a key or
    a token.

    \b
    Example:
      forklake access init
    """
    with open_access(context) as access:
        access.init()
        is_open = access.principals.is_empty()
    message = "The tables of access rules exist" + (", without a principal." if is_open else ".")
    context.output.show({"has_principals": not is_open}, lambda: [message])


@principal.callback()
def principals() -> None:
    """Manage principals: users, programs and agents."""


@principal.command("add")
@command
def add_principal(
    context: CommandContext,
    name: PrincipalArgument,
    account: Annotated[str, typer.Option(metavar="NAME", help="Account of the principal.")] = (
        "default"
    ),
    is_root: Annotated[bool, typer.Option("--root", help="Grant all rights.")] = False,
    prefixes: Annotated[
        list[str] | None,
        typer.Option(
            "--prefix",
            metavar="TEXT",
            help="Let it create and own catalogs whose names begin with TEXT. Can be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Add a principal. It has no access until a key is created for it.

    \b
    Examples:
      forklake access principal add root --root
      forklake access principal add ada --account research --prefix ada-
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        made = access.principals.create(
            LOCAL, name, account, is_root=is_root, prefixes=prefixes or []
        )
    document = {"name": made.name, "account": made.account, "is_root": made.is_root}
    message = f"Added principal {escape(made.name)} of account {escape(made.account)}."
    context.output.show(document, lambda: [message])


@principal.command("list")
@command
def list_principals(context: CommandContext) -> None:
    """List the principals.

    \b
    Example:
      forklake access principal list
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        found = access.principals.list(LOCAL)
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
    context.output.show(document, lambda: [make_table(("principal", "account", "", ""), rows)])


@principal.command("disable")
@command
def disable_principal(context: CommandContext, name: PrincipalArgument) -> None:
    """Disable a principal with all its keys and tokens.

    \b
    Example:
      forklake access principal disable ada
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        access.principals.disable(LOCAL, name)
    context.output.show({"name": name}, lambda: [f"Disabled principal {escape(name)}."])


@key.callback()
def keys() -> None:
    """Manage the keys of principals."""


@key.command("add")
@command
def add_key(context: CommandContext, name: PrincipalArgument) -> None:
    """Create a key and print it once: only its hash is stored.

    \b
    Example:
      forklake access key add ada
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        key_id, text = access.keys.create(LOCAL, name)
    context.output.show({"key_id": key_id, "key": text}, lambda: [text])


@key.command("list")
@command
def list_keys(context: CommandContext, name: PrincipalArgument) -> None:
    """List the keys of a principal.

    \b
    Example:
      forklake access key list ada
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        found = access.keys.list(LOCAL, name)
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
    context.output.show(document, lambda: [make_table(("key", "created", ""), rows)])


@key.command("revoke")
@command
def revoke_key(
    context: CommandContext,
    name: PrincipalArgument,
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key.")],
) -> None:
    """Revoke a key of a principal.

    \b
    Example:
      forklake access key revoke ada 0123456789abcdef
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        access.keys.revoke(LOCAL, name, key_id)
    context.output.show({"key_id": key_id}, lambda: [f"Revoked key {escape(key_id)}."])


@app.command()
@command
def rotate(context: CommandContext) -> None:
    """Rotate the key that signs tokens. Tokens of the previous key stay valid, older ones do not.

    \b
    Example:
      forklake access rotate
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        access.signing_keys.rotate(LOCAL)
    context.output.show({"rotated": True}, lambda: ["Tokens are signed with a new key."])


@app.command()
@command
def tidy(context: CommandContext) -> None:
    """Remove grants on catalogs that do not exist anymore.

    \b
    Example:
      forklake access tidy
    """
    with open_access(context) as access:
        count = access.grants.tidy()
    context.output.show({"removed": count}, lambda: [f"Removed {counted(count, 'grant')}."])
