"""Access rules of one metastore, for services and the command line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from forklake.access.audit import AuditLog
from forklake.access.authentication import Authentication
from forklake.access.authorization import Authorization
from forklake.access.context import AccessContext
from forklake.access.grants import Grants
from forklake.access.keys import Keys
from forklake.access.prefixes import PrefixGrants
from forklake.access.principals import Principals
from forklake.access.provisioning import Catalogs
from forklake.access.quotas import Quotas
from forklake.access.signing_keys import SigningKeys
from forklake.access.tokens import Tokens
from forklake.access.visible_catalogs import VisibleCatalogs
from forklake.catalog.metastore import Metastore


class Access:
    """Access rules of one metastore, in parts. Safe to share between threads.

    Every method that takes a caller first checks that this caller is allowed to do it. For
    operations without a method, get the catalog from `authorization.catalog` and do them inside of
    `audit.recording`.
    """

    def __init__(
        self,
        metastore: Metastore,
        *,
        home: Metastore | None = None,
        is_frozen: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """
        Args:
            home: the metastore of the principals, if it is another one.
            is_frozen: whether to raise Unavailable for changes, because the account is being moved.
        """
        self.metastore = metastore
        context = AccessContext(metastore, home=home, is_frozen=is_frozen, clock=clock)
        checks = Authorization(context)
        audit = AuditLog(context, checks)
        principals = Principals(context, checks, audit)
        self._context = context
        self.authorization = checks
        self.audit = audit
        self.principals = principals
        self.signing_keys = SigningKeys(context, checks, audit)
        self.authentication = Authentication(context, self.signing_keys)
        self.keys = Keys(context, checks, audit, principals)
        self.tokens = Tokens(context, checks, audit, self.signing_keys)
        self.grants = Grants(context, checks, principals)
        self.prefixes = PrefixGrants(context, checks, principals)
        self.quotas = Quotas(context, checks, audit, principals)
        self.catalogs = Catalogs(context, checks)
        self.visible = VisibleCatalogs(context, checks)

    def init(self) -> None:
        """Create missing tables of access rules, and wrap signing keys that are not wrapped.

        Keys are wrapped if FORKLAKE_KEY_FILE is set.
        """
        self._context.here.make()
        self._context.home.make()
        self.signing_keys.wrap()
