"""Routes for accounts and their stamps. `forklake account move` moves an account."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.crucible.callers import Context
from forklake.crucible.shapes.accounts import Account, Accounts, NewAccount

router = APIRouter(prefix="/v1/accounts", tags=["accounts"])


@router.get("", summary="List accounts", response_model=Accounts)
def list_accounts(context: Context) -> Response:
    """List the accounts that are assigned to a stamp. All others are stored in the home metastore.

    Requires a root principal.
    """
    context.access.authorization.require(context.caller, "account.list")
    stamps = context.service.stamps
    found = [Account.of(row) for row in stamps.accounts()]
    return Accounts(accounts=found, stamps=list(stamps.names)).to_response()


@router.post("", summary="Create an account", status_code=201, response_model=Account)
def create_account(context: Context, body: NewAccount) -> Response:
    """Create an account in the given stamp, or else in the stamp with the fewest accounts.

    Requires a root principal.
    """
    context.access.authorization.require(context.caller, "account.create")
    with context.access.audit.recording(context.caller, "account.create", body.name):
        made = context.service.stamps.create_account(body.name, body.stamp)
    return Account.of(made).to_response(201)
