"""Routes for the grants, tokens and audit log of a catalog, and for the caller's identity."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.access.roles import right_named
from forklake.crucible.callers import Context
from forklake.crucible.shapes.access import (
    AuditEntry,
    AuditPage,
    CallerInfo,
    Grant,
    Grants,
    NewToken,
    SetGrant,
    Token,
)
from forklake.crucible.shapes.base import Limit, Name, empty_response

router = APIRouter(prefix="/v1", tags=["access"])
After = Annotated[
    str | None,
    Query(pattern=r"^[0-9]{1,64}$", description="Return the entries that follow this entry id."),
]


@router.get("/me", summary="Get the caller", response_model=CallerInfo)
def get_caller(context: Context) -> Response:
    """Return the caller's principal and, for a token, the catalog and rights it is limited to."""
    caller, bound = context.caller, context.caller.bound
    return CallerInfo(
        principal=caller.name,
        account=caller.account,
        is_root=caller.is_root,
        catalog_id=bound.catalog_id if bound else None,
        rights=sorted(right.name.lower() for right in bound.rights) if bound else None,
        expires_at=bound.expires_at if bound else None,
    ).to_response()


@router.get("/catalogs/{catalog}/grants", summary="List grants", response_model=Grants)
def list_grants(context: Context, catalog: Name) -> Response:
    """List the roles granted on this catalog. Roles granted by prefix are not included."""
    rows = context.access.grants.list(context.caller, catalog)
    found = [
        Grant(principal=row.principal, role=row.role, expires_at=row.expires_at) for row in rows
    ]
    return Grants(grants=found).to_response()


@router.put("/catalogs/{catalog}/grants/{principal}", summary="Grant a role", status_code=204)
def grant_role(context: Context, catalog: Name, principal: Name, body: SetGrant) -> Response:
    """Grant a role on this catalog, replacing the principal's current role.

    Only an owner can grant the roles `admin` and `owner`.
    """
    context.access.grants.add(
        context.caller, catalog, principal, body.role, expires_at=body.expires_at
    )
    return empty_response()


@router.delete("/catalogs/{catalog}/grants/{principal}", summary="Revoke a role", status_code=204)
def revoke_role(context: Context, catalog: Name, principal: Name) -> Response:
    """Revoke the role granted on this catalog. Roles granted by prefix are not affected."""
    context.access.grants.revoke(context.caller, catalog, principal)
    return empty_response()


@router.post(
    "/catalogs/{catalog}/tokens", summary="Create a token", status_code=201, response_model=Token
)
def create_token(context: Context, catalog: Name, body: NewToken) -> Response:
    """Create a token that is limited to this catalog and expires.

    Its rights cannot exceed those of the caller.
    """
    rights = frozenset(right_named(name) for name in body.rights)
    return Token(
        token=context.access.tokens.create(context.caller, catalog, rights, body.seconds)
    ).to_response(201)


@router.get(
    "/catalogs/{catalog}/audit", summary="List audit entries of a catalog", response_model=AuditPage
)
def list_catalog_audit(
    context: Context, catalog: Name, after: After = None, limit: Limit = 100
) -> Response:
    """List audit entries of this catalog, newest first, including denied and failed operations."""
    rows = context.access.audit.list(context.caller, catalog=catalog, after=after, limit=limit)
    more = rows[-1].audit_id if len(rows) == limit else None
    return AuditPage(entries=[AuditEntry.of(row) for row in rows], next=more).to_response()


@router.get("/audit", summary="List all audit entries", response_model=AuditPage)
def list_audit(context: Context, after: After = None, limit: Limit = 100) -> Response:
    """List audit entries of all catalogs, newest first. Requires a root principal."""
    rows = context.access.audit.list(context.caller, after=after, limit=limit)
    more = rows[-1].audit_id if len(rows) == limit else None
    return AuditPage(entries=[AuditEntry.of(row) for row in rows], next=more).to_response()
