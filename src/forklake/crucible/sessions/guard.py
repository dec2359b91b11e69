"""The guard of a service's session: its statements do what the rights of whoever sent them allow.

Rights are asked for at each statement, on every catalog that it looks at, and what was allowed is
remembered for a moment only. A catalog that may no longer be read is one that is not attached.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta

from sqlglot import exp

from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.access.roles import Right
from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.crucible.sessions.roots import require_inside
from forklake.errors import Forbidden, NotFound
from forklake.spark.attachments import (
    Attachment,
    Attachments,
    AttachOptions,
    attachment_of,
    check_options,
)
from forklake.sql.guarding import FUNCTIONS, MAINTAIN, READ, STATEMENTS, WRITE, Guard
from forklake.store.catalogs import CatalogRow, missing

KNOWN_SECONDS = 1.0  # how long a right that was withdrawn may still be used
# What a user of the service says when attaching; all else is up to the operator.
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
_SECRETS = re.compile(r"(?<=//)[^/@]*@|[?].*")  # that addresses of files may hold


@dataclass
class _Running:
    """An operation while it runs: the right that it takes to look at a catalog."""

    operation: str = READ
    ending: ExitStack = field(default_factory=ExitStack)
    audited: set[int] = field(default_factory=set)


class AccessGuard(Guard):
    """Asks the access rules of a metastore, for whoever sent the statement that runs."""

    def __init__(
        self,
        access: Access,
        *,
        roots: Sequence[str] = (),
        dialects: Sequence[str] = ("duckdb",),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.access = access
        self.attachments = SeenAttachments(self)
        self._roots = roots
        self._dialects = dialects
        self._clock = clock
        self._caller = LOCAL
        self._proceed: Callable[[], None] = _go_on
        self._running = _Running()
        self._allowed: dict[tuple[int, str], float] = {}

    @contextmanager
    def acting(self, caller: Caller, proceed: Callable[[], None] | None = None) -> Iterator[None]:
        """What runs inside does so for a caller, as long as `proceed` raises nothing."""
        before, self._caller, self._proceed = self._caller, caller, proceed or _go_on
        if before != caller:
            self._allowed.clear()
        try:
            yield
        finally:
            self._proceed = _go_on

    # What sessions ask

    @contextmanager
    def statement(self, kind: type[exp.Expr]) -> Iterator[None]:
        self._proceed()
        self.access.require_good(self._caller)  # it may have waited for long
        operation = STATEMENTS.get(kind)
        if operation is None:
            raise Forbidden(
                f"The statement {kind.__name__.upper()} cannot be run here.",
                remedy="Run it in a session of your own, outside of the service.",
            )
        with self._operating(READ if operation == WRITE else operation):
            yield

    @contextmanager
    def function(self, name: str) -> Iterator[None]:
        self._proceed()
        operation = FUNCTIONS.get(name)
        if operation is None:
            raise Forbidden(
                f"The function {name} cannot be called here.",
                remedy="Call it in a session of your own, outside of the service.",
            )
        with self._operating(operation):
            yield

    @contextmanager
    def _operating(self, operation: str) -> Iterator[None]:
        before, self._running = self._running, _Running(operation)
        try:
            with self._running.ending:
                yield
        finally:
            self._running = before

    @contextmanager
    def change(self, attachment: Attachment) -> Iterator[None]:
        running = self._running.operation
        operation = WRITE if running == READ else running
        self.require(attachment, operation)
        with self._noted(operation, attachment.catalog):
            yield

    def proceed(self) -> None:
        self._proceed()

    def dialect(self, name: str) -> None:
        if name not in self._dialects:
            with self._watched(f"dialect {name}"):
                raise Forbidden(
                    f"Statements and views in the dialect '{name}' cannot be run here.",
                    remedy=f"Write them in the dialect {' or '.join(self._dialects)}.",
                )

    def files(self, patterns: Sequence[str]) -> None:
        with self._watched(", ".join(_SECRETS.sub("", one) for one in patterns)):
            require_inside(patterns, self._roots)

    def metadata(self, table: str) -> None:
        with self._watched(table):
            raise Forbidden(
                f"The table '{table}' of the metastore itself cannot be read here.",
                remedy="Use functions such as ducklake_snapshots and ducklake_table_info.",
            )

    def shows_keys(self) -> bool:
        return False  # a key would outlive the grant of the caller that has read it

    @contextmanager
    def _watched(self, what: str) -> Iterator[None]:
        """What is refused inside leads out of the lake: the audit says who tried it."""
        try:
            yield
        except Forbidden:
            self.access.note_denial(self._caller, READ, what)
            raise

    def catalogs(self, metastore: Metastore) -> Iterator[CatalogRow]:
        after = ""
        while page := self.access.visible(self._caller, after=after, limit=_PAGE):
            yield from page
            after = page[-1].catalog_name

    def read(self, metastore: Metastore, name: str) -> None:
        self.access.catalog(self._caller, name, "catalog.diff")

    @contextmanager
    def merging(
        self, metastore: Metastore, source: str, target: str, *, dry_run: bool
    ) -> Iterator[None]:
        self.read(metastore, source)
        operation = "catalog.diff" if dry_run else "catalog.merge"
        found = self.access.catalog(self._caller, target, operation)
        self._proceed()
        with self._noted("catalog.merge", found):
            yield

    def fork(
        self,
        metastore: Metastore,
        parent: str,
        name: str,
        *,
        at: int | None,
        data_path: str | None,
        mode: str,
        if_not_exists: bool,
        ttl: timedelta | None,
    ) -> tuple[CatalogRow, bool]:
        if data_path is not None:
            with self._watched(f"{parent} with a data path"):
                raise _left_to_the_operator("data_path")
        rows, made = self.access.fork(
            self._caller,
            parent,
            [name],
            at=at,
            mode=mode,
            if_not_exists=if_not_exists,
            ttl=ttl,
        )
        return rows[0], bool(made)

    # What attachments ask

    def opened(self, uri: str, options: AttachOptions) -> tuple[Catalog, bool]:
        """A catalog to attach, and whether the caller may change it."""
        with self._watched("ATTACH"):  # an address may hold a password
            name = _name_of(uri, options)
        catalog = self.access.catalog(self._caller, name, "session.open")
        rights = self.access.rights(self._caller, [catalog.name])
        return catalog, Right.WRITE in rights[catalog.name]

    def sees(self, attachment: Attachment) -> bool:
        """Whether the operation that runs may look at a catalog; Forbidden if it may only read."""
        running = self._running
        try:
            self.require(attachment, running.operation)
        except NotFound:
            return False
        if running.operation == MAINTAIN:
            self._audit(running, attachment)
        return True

    def may_read(self, attachment: Attachment) -> bool:
        """Whether a catalog may be seen at all."""
        try:
            self.require(attachment, READ)
        except NotFound:
            return False
        return True

    def require(self, attachment: Attachment, operation: str) -> None:
        """NotFound or Forbidden unless the caller may do this to a catalog."""
        key, now = (attachment.catalog.catalog_id, operation), self._clock()
        if self._allowed.get(key, 0.0) > now:
            return
        found = self.access.catalog(self._caller, attachment.catalog.name, operation)
        if found.catalog_id != attachment.catalog.catalog_id:  # another one has its name now
            raise missing(attachment.catalog.name)
        self._allowed[key] = now + KNOWN_SECONDS

    def _audit(self, running: _Running, attachment: Attachment) -> None:
        catalog = attachment.catalog
        if catalog.catalog_id not in running.audited:
            running.audited.add(catalog.catalog_id)
            running.ending.enter_context(self._noted(running.operation, catalog))

    def _noted(self, operation: str, catalog: Catalog) -> AbstractContextManager[None]:
        return self.access.audited(self._caller, operation, catalog.name, catalog=catalog)


class SeenAttachments(Attachments):
    """Catalogs of the service's own metastore, attached by their names."""

    def __init__(self, guard: AccessGuard) -> None:
        super().__init__()
        self._access_guard = guard

    def find(self, alias: str) -> Attachment | None:
        """The attachment of an alias, if it may be looked at."""
        found = super().find(alias)
        return found if found is not None and self._access_guard.sees(found) else None

    def all(self) -> list[Attachment]:
        """All attachments that may be read."""
        return [one for one in super().all() if self._access_guard.may_read(one)]

    def known(self) -> list[Attachment]:
        """All attachments, as their owner made them."""
        return super().all()

    def attach(self, uri: str, alias: str | None, options: AttachOptions) -> Attachment:
        """Attach a catalog by its name, which is the place of others' addresses."""
        check_options(options)
        self._refuse_taken(alias or uri)
        catalog, may_write = self._access_guard.opened(uri, options)
        own = replace(options, read_only=options.read_only or not may_write)
        metastore = self._access_guard.access.metastore
        return self._add(attachment_of(metastore, catalog, alias or uri, own))

    def _give_back(self, metastore: Metastore) -> None:
        """Nothing: it is the service's."""


def _go_on() -> None:
    """Nobody wants it to stop."""


def _name_of(uri: str, options: AttachOptions) -> str:
    given = AttachOptions()
    for one in fields(AttachOptions):
        if one.name not in ATTACHABLE and getattr(options, one.name) != getattr(given, one.name):
            raise _left_to_the_operator(one.name.upper())
    if options.catalog not in (None, uri):
        raise Forbidden(
            f"The address {uri!r} cannot be attached here.",
            remedy="Attach a catalog of the service by its name: ATTACH 'sales' AS s.",
        )
    return uri


def _left_to_the_operator(option: str) -> Forbidden:
    return Forbidden(
        f"The option {option} cannot be given here: the operator says where files are.",
        remedy="Leave it out.",
    )
