"""Commands for access rules: roles, tokens, quotas, limits and the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from forklake.cli.access import PrincipalArgument, app, open_access
from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape, iso_time, short_time
from forklake.cli.output import make_table
from forklake.errors import InvalidInput

__all__ = ["app"]
CatalogArgument = Annotated[str, typer.Argument(help="Name of a catalog.", show_default=False)]
CatalogOption = Annotated[
    str | None,
    typer.Option("--catalog", "-c", metavar="NAME", help="Name of a catalog.", show_default=False),
]
PrefixOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="All catalogs whose names begin with TEXT.", show_default=False
    ),
]


def _require_one_target(catalog: str | None, prefix: str | None) -> None:
    if (catalog is None) == (prefix is None):
        raise InvalidInput(
            "A role is granted either on a catalog or on a prefix of names.",
            remedy="Pass either --catalog NAME or --prefix TEXT.",
        )


@app.command()
@command
def grant(
    context: CommandContext,
    role: Annotated[
        str,
        typer.Argument(
            metavar="ROLE", help="reader, forker, writer, admin or owner.", show_default=False
        ),
    ],
    principal: PrincipalArgument,
    catalog: CatalogOption = None,
    prefix: PrefixOption = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="How long the grant lasts, such as 7d. Defaults to no end.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Grant a role on a catalog or a prefix. It replaces the previous role of the principal there.

    \b
    Examples:
      forklake access grant reader ada --catalog sales
      forklake access grant owner ada --prefix team- --for '30 days'
    """
    from forklake.access.callers import LOCAL

    _require_one_target(catalog, prefix)
    until = None if duration is None else _parse_end(duration)
    with open_access(context) as access:
        if catalog is not None:
            access.grants.add(LOCAL, catalog, principal, role, expires_at=until)
        elif prefix is not None:
            access.prefixes.add(LOCAL, prefix, principal, role, expires_at=until)
    document = {
        "principal": principal,
        "role": role,
        "catalog": catalog,
        "prefix": prefix,
        "expires_at": None if until is None else iso_time(until),
    }
    where = f"prefix '{prefix}'" if catalog is None else f"catalog '{catalog}'"
    message = f"{principal} is {role} on {where}."
    context.output.show(document, lambda: [escape(message)])


def _parse_end(duration: str) -> datetime:
    from forklake.model.options import as_age

    try:
        return datetime.now(UTC) + as_age(duration)
    except OverflowError:
        raise InvalidInput(
            f"The duration {duration!r} of the grant is too long.",
            remedy="Leave out --for to grant the role without an end.",
        ) from None


@app.command()
@command
def revoke(
    context: CommandContext,
    principal: PrincipalArgument,
    catalog: CatalogOption = None,
    prefix: PrefixOption = None,
) -> None:
    """Revoke the role of a principal on a catalog or a prefix.

    \b
    Examples:
      forklake access revoke ada --catalog sales
      forklake access revoke ada --prefix team-
    """
    from forklake.access.callers import LOCAL

    _require_one_target(catalog, prefix)
    with open_access(context) as access:
        if catalog is not None:
            access.grants.revoke(LOCAL, catalog, principal)
        elif prefix is not None:
            access.prefixes.revoke(LOCAL, prefix, principal)
    document = {"principal": principal, "catalog": catalog, "prefix": prefix}
    context.output.show(document, lambda: [f"Revoked the role of {escape(principal)}."])


@app.command()
@command
def grants(
    context: CommandContext,
    catalog: Annotated[
        str | None, typer.Argument(help="Name of a catalog.", show_default=False)
    ] = None,
    principal: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="List the roles of this principal on prefixes of names.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the roles on a catalog, or of a principal on prefixes.

    \b
    Examples:
      forklake access grants sales
      forklake access grants --principal ada
    """
    from forklake.access.callers import LOCAL

    if (catalog is None) == (principal is None):
        raise InvalidInput(
            "Grants are listed either for a catalog or for a principal.",
            remedy="Pass either CATALOG or --principal NAME.",
        )
    with open_access(context) as access:
        if catalog is not None:
            found = [
                (one.principal, one.role.value, one.expires_at)
                for one in access.grants.list(LOCAL, catalog)
            ]
        else:
            prefixes = access.prefixes.list(LOCAL, str(principal))
            found = [(one.prefix, str(one.role), None) for one in prefixes]
    subject = "principal" if catalog is not None else "prefix"
    document = {
        "catalog": catalog,
        "principal": principal,
        "grants": [
            {subject: what, "role": role, "expires_at": None if until is None else iso_time(until)}
            for what, role, until in found
        ],
    }
    rows = [(what, role, "" if until is None else short_time(until)) for what, role, until in found]
    context.output.show(document, lambda: [make_table((subject, "role", "until"), rows)])


@app.command()
@command
def token(
    context: CommandContext,
    principal: PrincipalArgument,
    catalog: CatalogArgument,
    rights: Annotated[
        list[str] | None,
        typer.Option(
            "--right",
            metavar="NAME",
            help="read, fork, write, administer or own. Defaults to read. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long the token is valid.")
    ] = "1h",
) -> None:
    """Create and print a token for one catalog.

    The token has the given rights of the principal on the catalog, for a limited time.

    \b
    Examples:
      forklake access token ada sales
      forklake access token ada sales --right read --right fork --for 8h
    """
    from forklake.access.callers import LOCAL
    from forklake.access.roles import right_named
    from forklake.model.options import as_age

    chosen = [right_named(name) for name in rights or ["read"]]
    with open_access(context) as access:
        caller = access.principals.act_as(LOCAL, principal)
        text = access.tokens.create(caller, catalog, chosen, int(as_age(duration).total_seconds()))
    context.output.show({"token": text}, lambda: [text])


Limit = Annotated[
    str | None,
    typer.Option(metavar="N", help="New maximum number, or none.", show_default=False),
]


@app.command()
@command
def quota(
    context: CommandContext,
    principal: PrincipalArgument,
    catalogs: Limit = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="New maximum size of each catalog that it creates or owns, such as 10GB, or none.",
            show_default=False,
        ),
    ] = None,
    sessions: Limit = None,
) -> None:
    """Show or set the limits of a principal.

    \b
    Examples:
      forklake access quota ada
      forklake access quota ada --catalogs 1000 --bytes 10GB --sessions none
    """
    from forklake.access.callers import LOCAL

    given = {"catalogs": catalogs, "bytes": size, "sessions": sessions}
    changes = {name: _parse_limit(text) for name, text in given.items() if text is not None}
    with open_access(context) as access:
        if changes:
            before = access.quotas.find(LOCAL, principal)._asdict()
            access.quotas.set(LOCAL, principal, **(before | changes))
        found = access.quotas.find(LOCAL, principal)._asdict()
    rows = [(name, "none" if value is None else value) for name, value in found.items()]
    context.output.show(
        {"principal": principal, **found}, lambda: [make_table(("limit", "maximum"), rows)]
    )


@app.command()
@command
def limit(
    context: CommandContext,
    catalog: CatalogArgument,
    size: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="New maximum size, such as 10GB, or none.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show or set the maximum size of a catalog.

    The files that the catalog wrote itself count, at all of its snapshots; inherited files do not.

    \b
    Examples:
      forklake access limit sales
      forklake access limit sales --bytes 10GB
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        if size is not None:
            access.quotas.set_catalog_limit(LOCAL, catalog, _parse_limit(size))
        found = access.quotas.find_catalog_limit(LOCAL, catalog)
    message = "no limit" if found is None else f"at most {found:,} bytes"
    context.output.show(
        {"catalog": catalog, "bytes": found}, lambda: [f"{escape(catalog)}: {message}."]
    )


def _parse_limit(text: str) -> int | None:
    from forklake.model.options import as_bytes

    return None if text.lower() == "none" else as_bytes(text)


@app.command()
@command
def audit(
    context: CommandContext,
    catalog: Annotated[
        str | None, typer.Argument(help="List only entries of this catalog.", show_default=False)
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Continue after this entry of a previous page.", show_default=False
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of entries.")] = 100,
) -> None:
    """List operations that were done, denied or failed, newest first.

    \b
    Examples:
      forklake access audit
      forklake access audit sales --limit 20
    """
    from forklake.access.callers import LOCAL

    with open_access(context) as access:
        found = access.audit.list(LOCAL, catalog=catalog, after=after, limit=limit)
    document = {
        "entries": [
            {
                "audit_id": one.audit_id,
                "time": iso_time(one.happened_at),
                "principal": one.principal,
                "operation": one.operation,
                "object": one.object,
                "catalog_id": one.catalog_id,
                "outcome": one.outcome.value,
            }
            for one in found
        ],
        "next_after": found[-1].audit_id if len(found) == limit else None,
    }
    rows = [
        (short_time(one.happened_at), one.principal, one.operation, one.object, one.outcome.value)
        for one in found
    ]
    headings = ("time", "principal", "operation", "object", "outcome")
    context.output.show(document, lambda: [make_table(headings, rows)])
