"""Accounts: in which stamp each lives. They are moved with `forklake account move`."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.crucible.callers import Asking
from forklake.crucible.shapes.accounts import Account, Accounts, NewAccount

router = APIRouter(prefix="/v1/accounts", tags=["accounts"])


@router.get("", summary="List accounts", response_model=Accounts)
def list_accounts(visit: Asking) -> Response:
    """Those that were given a stamp; others live in the home metastore. For roots."""
    visit.access.require(visit.caller, "account.list")
    stamps = visit.service.stamps
    found = [Account.of(row) for row in stamps.accounts()]
    return Accounts(accounts=found, stamps=list(stamps.names)).response()


@router.post("", summary="Make an account", status_code=201, response_model=Account)
def create_account(visit: Asking, body: NewAccount) -> Response:
    """In a stamp, or in the one that has the fewest accounts. For roots."""
    visit.access.require(visit.caller, "account.create")
    with visit.access.audited(visit.caller, "account.create", body.name):
        made = visit.service.stamps.create_account(body.name, body.stamp)
    return Account.of(made).response(201)
