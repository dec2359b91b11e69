"""Principals, their keys and their limits."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.access.roles import Role
from forklake.crucible.callers import Asking
from forklake.crucible.shapes.access import (
    Key,
    Keys,
    NewKey,
    NewPrincipal,
    Prefixes,
    PrefixGrant,
    Principal,
    Principals,
    Quota,
    SetQuota,
)
from forklake.crucible.shapes.base import Name, nothing

router = APIRouter(prefix="/v1/principals", tags=["principals"])


@router.get("", summary="List principals", response_model=Principals)
def list_principals(visit: Asking) -> Response:
    """All of them; for roots."""
    found = [Principal.of(row) for row in visit.access.principals(visit.caller)]
    return Principals(principals=found).response()


@router.post("", summary="Make a principal", status_code=201, response_model=Principal)
def create_principal(visit: Asking, body: NewPrincipal) -> Response:
    """It can do nothing but create catalogs whose names begin with one of its prefixes."""
    visit.access.require(visit.caller, "principal.create")
    row = visit.service.stamps.access_for(body.account).create_principal(
        visit.caller, body.name, body.account, is_root=body.is_root, prefixes=body.prefixes
    )
    visit.service.forget_callers()
    return Principal.of(row).response(201)


@router.delete("/{principal}", summary="Disable a principal", status_code=204)
def disable_principal(visit: Asking, principal: Name) -> Response:
    """Its keys and tokens are good no more; its name stays taken."""
    visit.access.disable(visit.caller, principal)
    visit.service.forget_callers()
    return nothing()


@router.put("/{principal}/prefixes", summary="Grant a role by prefix", status_code=204)
def grant_prefix(visit: Asking, principal: Name, body: PrefixGrant) -> Response:
    """On all catalogs whose names begin so, future ones included; for roots."""
    visit.access_to(principal).grant_prefix(visit.caller, body.prefix, principal, body.role)
    return nothing()


@router.get("/{principal}/prefixes", summary="List roles by prefix", response_model=Prefixes)
def list_prefixes(visit: Asking, principal: Name) -> Response:
    """One's own; those of others for roots."""
    rows = visit.access_to(principal).prefixes(visit.caller, principal)
    found = [PrefixGrant.model_construct(prefix=row.prefix, role=Role(row.role)) for row in rows]
    return Prefixes(prefixes=found).response()


@router.delete("/{principal}/prefixes", summary="Take a role by prefix away", status_code=204)
def revoke_prefix(visit: Asking, principal: Name, prefix: str) -> Response:
    """What was granted on single catalogs stays; for roots."""
    visit.access_to(principal).revoke_prefix(visit.caller, prefix, principal)
    return nothing()


@router.get("/{principal}/keys", summary="List API keys", response_model=Keys)
def list_keys(visit: Asking, principal: Name) -> Response:
    """One's own; those of others for roots."""
    found = [
        Key(key_id=row.key_id, created_at=row.created_at, is_revoked=row.is_revoked)
        for row in visit.access.keys(visit.caller, principal)
    ]
    return Keys(keys=found).response()


@router.post("/{principal}/keys", summary="Make a key", status_code=201, response_model=NewKey)
def create_key(visit: Asking, principal: Name) -> Response:
    """Its text is shown this once: only a hash of it is kept."""
    key_id, text = visit.access.create_key(visit.caller, principal)
    return NewKey(key_id=key_id, key=text).response(201)


@router.delete("/{principal}/keys/{key}", summary="Revoke a key", status_code=204)
def revoke_key(visit: Asking, principal: Name, key: Name) -> Response:
    """It is good no more."""
    visit.access.revoke_key(visit.caller, principal, key)
    visit.service.forget_callers()
    return nothing()


@router.get("/{principal}/quota", summary="The limits of a principal", response_model=Quota)
def get_quota(visit: Asking, principal: Name) -> Response:
    """One's own; those of others for roots."""
    return Quota(**visit.access_to(principal).quota(visit.caller, principal)._asdict()).response()


@router.put("/{principal}/quota", summary="Set the limits of a principal", response_model=Quota)
def set_quota(visit: Asking, principal: Name, body: SetQuota) -> Response:
    """All of them: what is left out is without limit; for roots."""
    visit.access_to(principal).set_quota(visit.caller, principal, **body.model_dump())
    return get_quota(visit, principal)
