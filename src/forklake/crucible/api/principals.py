"""Routes for principals, their API keys, roles by prefix, and quotas."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.access.roles import Role
from forklake.crucible.callers import Context
from forklake.crucible.shapes.access import (
    Key,
    Keys,
    NewKey,
    NewPrincipal,
    PrefixGrant,
    PrefixGrants,
    Principal,
    Principals,
    Quota,
    SetQuota,
)
from forklake.crucible.shapes.base import Name, empty_response

router = APIRouter(prefix="/v1/principals", tags=["principals"])


@router.get("", summary="List principals", response_model=Principals)
def list_principals(context: Context) -> Response:
    """List all principals. Requires a root principal."""
    found = [Principal.of(row) for row in context.access.principals.list(context.caller)]
    return Principals(principals=found).to_response()


@router.post("", summary="Create a principal", status_code=201, response_model=Principal)
def create_principal(context: Context, body: NewPrincipal) -> Response:
    """Create a principal. Unless it is a root, it can only create catalogs under its prefixes."""
    context.access.authorization.require(context.caller, "principal.create")
    row = context.service.stamps.access_for(body.account).principals.create(
        context.caller, body.name, body.account, is_root=body.is_root, prefixes=body.prefixes
    )
    context.service.forget_callers()
    return Principal.of(row).to_response(201)


@router.delete("/{principal}", summary="Disable a principal", status_code=204)
def disable_principal(context: Context, principal: Name) -> Response:
    """Disable a principal. Its keys and tokens become invalid, and its name stays reserved."""
    context.access.principals.disable(context.caller, principal)
    context.service.forget_callers()
    return empty_response()


@router.put("/{principal}/prefixes", summary="Grant a role by prefix", status_code=204)
def grant_prefix(context: Context, principal: Name, body: PrefixGrant) -> Response:
    """Grant a role on all current and future catalogs whose names begin with a prefix.

    Requires a root principal.
    """
    context.access_to(principal).prefixes.add(context.caller, body.prefix, principal, body.role)
    return empty_response()


@router.get("/{principal}/prefixes", summary="List roles by prefix", response_model=PrefixGrants)
def list_prefixes(context: Context, principal: Name) -> Response:
    """List the roles of a principal by prefix. Only a root can list those of other principals."""
    rows = context.access_to(principal).prefixes.list(context.caller, principal)
    found = [PrefixGrant.model_construct(prefix=row.prefix, role=Role(row.role)) for row in rows]
    return PrefixGrants(prefixes=found).to_response()


@router.delete("/{principal}/prefixes", summary="Revoke a role by prefix", status_code=204)
def revoke_prefix(context: Context, principal: Name, prefix: str) -> Response:
    """Revoke a role granted by prefix. Roles granted on single catalogs are not affected.

    Requires a root principal.
    """
    context.access_to(principal).prefixes.revoke(context.caller, prefix, principal)
    return empty_response()


@router.get("/{principal}/keys", summary="List API keys", response_model=Keys)
def list_keys(context: Context, principal: Name) -> Response:
    """List the API keys of a principal. Only a root can list those of other principals."""
    found = [
        Key(key_id=row.key_id, created_at=row.created_at, is_revoked=row.is_revoked)
        for row in context.access.keys.list(context.caller, principal)
    ]
    return Keys(keys=found).to_response()


@router.post(
    "/{principal}/keys", summary="Create an API key", status_code=201, response_model=NewKey
)
def create_key(context: Context, principal: Name) -> Response:
    """Create an API key. Only its hash is stored: the key is returned once and never again."""
    key_id, text = context.access.keys.create(context.caller, principal)
    return NewKey(key_id=key_id, key=text).to_response(201)


@router.delete("/{principal}/keys/{key}", summary="Revoke an API key", status_code=204)
def revoke_key(context: Context, principal: Name, key: Name) -> Response:
    """Revoke an API key. It becomes invalid immediately, or within a second on other processes."""
    context.access.keys.revoke(context.caller, principal, key)
    context.service.forget_callers()
    return empty_response()


@router.get("/{principal}/quota", summary="Get the quota of a principal", response_model=Quota)
def get_quota(context: Context, principal: Name) -> Response:
    """Return the limits of a principal. Only a root can read those of other principals."""
    found = context.access_to(principal).quotas.find(context.caller, principal)
    return Quota(**found._asdict()).to_response()


@router.put("/{principal}/quota", summary="Set the quota of a principal", response_model=Quota)
def set_quota(context: Context, principal: Name, body: SetQuota) -> Response:
    """Replace all limits of a principal; an omitted limit is removed. Requires a root principal."""
    context.access_to(principal).quotas.set(context.caller, principal, **body.model_dump())
    return get_quota(context, principal)
