"""Access checks for the statements of a service session, with the rights of their caller.

Rights are checked for each statement and catalog, and granted rights are cached for a moment. A
catalog that the caller can no longer read is treated as not attached.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace

from sqlglot import exp

from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.access.roles import Right
from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.crucible.sessions.roots import require_inside
from forklake.errors import Forbidden, NotFound
from forklake.model.requests import ForkRequest
from forklake.session.attachments import (
    Attachment,
    Attachments,
    AttachOptions,
    attachment_of,
    check_options,
)
from forklake.sql.guard import FUNCTIONS, MAINTAIN, READ, STATEMENTS, WRITE, Guard
from forklake.store.catalogs import CatalogRow, missing
from forklake.store.provisioning import Provided

KNOWN_SECONDS = 1.0  # how long granted rights are cached, and so how long a revoked one still works
# Options of ATTACH that callers can set; the operator controls all others.
ATTACHABLE = frozenset(
    {
        "catalog",
        "snapshot_version",
        "snapshot_time",
        "read_only",
        "data_inlining_row_limit",
        "migrate_if_required",
    }
)
_PAGE = 1000
_SECRETS = re.compile(r"(?<=//)[^/@]*@|[?].*")  # parts of file addresses that may be secret


@dataclass
class _RunningOperation:
    """Running operation, which defines the right required to read a catalog."""

    operation: str = READ
    ending: ExitStack = field(default_factory=ExitStack)
    audited: set[int] = field(default_factory=set)


class AccessGuard(Guard):
    """Guard that applies the access rules of a metastore to the caller of the running statement."""

    def __init__(
        self,
        access: Access,
        *,
        roots: Sequence[str] = (),
        dialects: Sequence[str] = ("duckdb",),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.access = access
        self.attachments = VisibleAttachments(self)
        self._roots = roots
        self._dialects = dialects
        self._clock = clock
        self._caller = LOCAL
        self._proceed: Callable[[], None] = _do_nothing
        self._running = _RunningOperation()
        self._allowed: dict[tuple[int, str], float] = {}

    @contextmanager
    def act_as(self, caller: Caller, proceed: Callable[[], None] | None = None) -> Iterator[None]:
        """Run the block as a caller. `proceed` is called at each check, and raises to stop it."""
        before, self._caller, self._proceed = self._caller, caller, proceed or _do_nothing
        if before != caller:
            self._allowed.clear()
        try:
            yield
        finally:
            self._proceed = _do_nothing

    # Called by sessions

    @contextmanager
    def authorize_statement(self, kind: type[exp.Expr]) -> Iterator[None]:
        self._proceed()
        # The statement may have waited in the queue for long: the credential may be invalid now.
        self.access.authentication.require_valid(self._caller)
        operation = STATEMENTS.get(kind)
        if operation is None:
            raise Forbidden(
                f"The statement {kind.__name__.upper()} is not allowed in sessions of the service.",
                remedy="Run it in a session outside the service: forklake.connect().",
            )
        with self._run_operation(READ if operation == WRITE else operation):
            yield

    @contextmanager
    def authorize_function(self, name: str) -> Iterator[None]:
        self._proceed()
        operation = FUNCTIONS.get(name)
        if operation is None:
            raise Forbidden(
                f"The function {name} is not allowed in sessions of the service.",
                remedy="Call it in a session outside the service: forklake.connect().",
            )
        with self._run_operation(operation):
            yield

    @contextmanager
    def _run_operation(self, operation: str) -> Iterator[None]:
        before, self._running = self._running, _RunningOperation(operation)
        try:
            with self._running.ending:
                yield
        finally:
            self._running = before

    @contextmanager
    def authorize_change(self, attachment: Attachment) -> Iterator[None]:
        running = self._running.operation
        operation = WRITE if running == READ else running
        self.require(attachment, operation)
        with self._audited(operation, attachment.catalog):
            yield

    def proceed(self) -> None:
        self._proceed()

    def check_dialect(self, name: str) -> None:
        if name not in self._dialects:
            with self._audit_denial(f"dialect {name}"):
                raise Forbidden(
                    f"The SQL dialect '{name}' is not allowed in sessions of the service.",
                    remedy=f"Use the dialect {' or '.join(self._dialects)}.",
                )

    def check_files(self, patterns: Sequence[str]) -> None:
        with self._audit_denial(", ".join(_SECRETS.sub("", one) for one in patterns)):
            require_inside(patterns, self._roots)

    def check_metadata_table(self, table: str) -> None:
        with self._audit_denial(table):
            raise Forbidden(
                f"The metadata table '{table}' cannot be read in sessions of the service.",
                remedy="Use functions such as ducklake_snapshots and ducklake_table_info.",
            )

    def shows_keys(self) -> bool:
        return False  # a key would remain usable after the caller's grant is revoked

    @contextmanager
    def _audit_denial(self, what: str) -> Iterator[None]:
        """Write a denial to the audit log if the block, which may reach outside the lake, fails."""
        try:
            yield
        except Forbidden:
            self.access.audit.record_denial(self._caller, READ, what)
            raise

    def list_catalogs(self, metastore: Metastore) -> Iterator[CatalogRow]:
        after = ""
        while page := self.access.visible.catalogs(self._caller, after=after, limit=_PAGE):
            yield from page
            after = page[-1].catalog_name

    def check_read(self, metastore: Metastore, name: str) -> None:
        self.access.authorization.catalog(self._caller, name, "catalog.diff")

    @contextmanager
    def authorize_merge(
        self, metastore: Metastore, source: str, target: str, *, dry_run: bool
    ) -> Iterator[None]:
        self.check_read(metastore, source)
        operation = "catalog.diff" if dry_run else "catalog.merge"
        found = self.access.authorization.catalog(self._caller, target, operation)
        self._proceed()
        with self._audited("catalog.merge", found):
            yield

    def fork(self, metastore: Metastore, request: ForkRequest) -> Provided:
        if request.data_path is not None:
            with self._audit_denial(f"{request.parent} with a data path"):
                raise _operator_only_error("data_path")
        return self.access.catalogs.fork(self._caller, request)

    # Called by attachments

    def opened(self, uri: str, options: AttachOptions) -> tuple[Catalog, bool]:
        """Return a catalog to attach, and whether the caller can write to it."""
        with self._audit_denial("ATTACH"):  # not the address itself, which may contain a password
            name = _require_name(uri, options)
        catalog = self.access.authorization.catalog(self._caller, name, "session.open")
        rights = self.access.authorization.rights(self._caller, [catalog.name])
        return catalog, Right.WRITE in rights[catalog.name]

    def sees(self, attachment: Attachment) -> bool:
        """Return whether the running operation can see a catalog.

        Raise Forbidden if the caller can read the catalog but lacks the right for the operation.
        """
        running = self._running
        try:
            self.require(attachment, running.operation)
        except NotFound:
            return False
        if running.operation == MAINTAIN:
            self._audit(running, attachment)
        return True

    def may_read(self, attachment: Attachment) -> bool:
        """Return whether the caller can read a catalog."""
        try:
            self.require(attachment, READ)
        except NotFound:
            return False
        return True

    def require(self, attachment: Attachment, operation: str) -> None:
        """Raise NotFound or Forbidden unless the caller can perform an operation on a catalog."""
        key, now = (attachment.catalog.catalog_id, operation), self._clock()
        if self._allowed.get(key, 0.0) > now:
            return
        found = self.access.authorization.catalog(self._caller, attachment.catalog.name, operation)
        # The name may have been given to another catalog since.
        if found.catalog_id != attachment.catalog.catalog_id:
            raise missing(attachment.catalog.name)
        self._allowed[key] = now + KNOWN_SECONDS

    def _audit(self, running: _RunningOperation, attachment: Attachment) -> None:
        catalog = attachment.catalog
        if catalog.catalog_id not in running.audited:
            running.audited.add(catalog.catalog_id)
            running.ending.enter_context(self._audited(running.operation, catalog))

    def _audited(self, operation: str, catalog: Catalog) -> AbstractContextManager[None]:
        return self.access.audit.recording(self._caller, operation, catalog.name, catalog=catalog)


class VisibleAttachments(Attachments):
    """Catalogs of the service's metastore, attached by name. Hides those that cannot be read."""

    def __init__(self, guard: AccessGuard) -> None:
        super().__init__()
        self._access_guard = guard

    def find(self, alias: str) -> Attachment | None:
        """Return the attachment of an alias, or None if it does not exist or cannot be read."""
        found = super().find(alias)
        return found if found is not None and self._access_guard.sees(found) else None

    def all(self) -> list[Attachment]:
        """Return the attachments that can be read."""
        return [one for one in super().all() if self._access_guard.may_read(one)]

    def known(self) -> list[Attachment]:
        """Return all attachments, without checking rights."""
        return super().all()

    def attach(self, uri: str, alias: str | None, options: AttachOptions) -> Attachment:
        """Attach a catalog by its name, which is given instead of an attach string."""
        check_options(options)
        self._refuse_taken(alias or uri)
        catalog, may_write = self._access_guard.opened(uri, options)
        own = replace(options, read_only=options.read_only or not may_write)
        metastore = self._access_guard.access.metastore
        return self._add(attachment_of(metastore, catalog, alias or uri, own))

    def _release(self, metastore: Metastore) -> None:
        """Do nothing: the service owns the metastore."""


def _do_nothing() -> None:
    """Do nothing: the operation continues."""


def _require_name(uri: str, options: AttachOptions) -> str:
    given = AttachOptions()
    for one in fields(AttachOptions):
        if one.name not in ATTACHABLE and getattr(options, one.name) != getattr(given, one.name):
            raise _operator_only_error(one.name.upper())
    if options.catalog not in (None, uri):
        raise Forbidden(
            f"The address {uri!r} cannot be attached in sessions of the service.",
            remedy="Attach a catalog of the service by its name: ATTACH 'sales' AS s.",
        )
    return uri


def _operator_only_error(option: str) -> Forbidden:
    return Forbidden(
        f"The option {option} cannot be set in sessions of the service.",
        remedy="Omit it. Only the operator of the service controls where files are stored.",
    )
