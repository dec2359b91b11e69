"""Management of automations: add, list, enable, disable, remove, and their history."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random

from forklake.catalog.metastore import Metastore
from forklake.errors import Conflict, InvalidInput
from forklake.model.ids import SnapshotId
from forklake.model.names import checked_name
from forklake.reagent.automations.due_firings import Clock, name_occasion, parse_schedule
from forklake.reagent.automations.schedules import Schedule
from forklake.reagent.automations.workbooks import check_workbook
from forklake.reagent.workbooks import Isolation
from forklake.store.automations import (
    Automation,
    CatchUp,
    Overlap,
    Watched,
    are_installed,
    database_time,
    delete_automation,
    find_automation,
    insert_automation,
    install_automations,
    list_automations,
    revise,
    unknown_automation,
)
from forklake.store.firings import Firing, State, firings_insert, last_firings, list_firings
from forklake.store.heads import find_head

E = TypeVar("E", bound=StrEnum)
# Defaults, by whether there is a schedule: a scheduled run can be skipped without a loss, but every
# change of a table has to be processed.
_OVERLAPS = {True: Overlap.SKIP, False: Overlap.QUEUE}


class Automations:
    """Automations of a metastore. Safe to share between threads."""

    def __init__(self, metastore: Metastore, *, clock: Clock = database_time) -> None:
        self.metastore = metastore
        self._database = metastore.database
        self._clock = clock

    # Finding

    def all(self) -> list[tuple[Automation, Firing | None]]:
        """Return all automations by name, each with its newest firing."""
        if not are_installed(self._database):
            return []
        with self._database.reading() as connection:
            last = last_firings(connection)
            return [(one, last.get(one.automation_id)) for one in list_automations(connection)]

    def get(self, name: str) -> Automation:
        """Return an automation by name, or raise NotFound."""
        found = None
        if are_installed(self._database):
            with self._database.reading() as connection:
                found = find_automation(connection, name)
        if found is None:
            raise unknown_automation(name)
        return found

    def history(self, name: str, *, limit: int = 100) -> list[Firing]:
        """Return the newest firings of an automation, newest first."""
        if not 1 <= limit <= 100_000:
            raise InvalidInput(
                f"The limit {limit} is out of range.", remedy="Use a limit from 1 to 100000."
            )
        automation = self.get(name)
        with self._database.reading() as connection:
            return list_firings(connection, automation.automation_id, limit=limit)

    # Changing

    def add(
        self,
        name: str,
        catalog: str,
        *,
        workbook_path: str | Path | None = None,
        workbook_text: str | None = None,
        parameters: Mapping[str, str] | None = None,
        isolation: str | None = None,
        schedule: str | None = None,
        time_zone: str = "UTC",
        table: str | None = None,
        table_catalog: str | None = None,
        overlap: str | None = None,
        catch_up: str = CatchUp.LATEST,
    ) -> Automation:
        """Add an automation: a workbook that runs in a catalog on a schedule, or when a table of
        that catalog or of another one changes.

        Args:
            workbook_path: path of the workbook, which all runners must be able to read;
            workbook_text: or the workbook itself, in TOML.
            schedule: a cron expression of five fields, evaluated in `time_zone`;
            table: or the table to watch. Its schema defaults to `main`.
            overlap: `skip` or `queue` a firing that is due while an earlier one runs. Defaults to
                `skip` for schedules and `queue` for tables.
            catch_up: `latest` or `all`: which of several missed firings are run.
        """
        _require_one("workbook", workbook_path=workbook_path, workbook_text=workbook_text)
        _require_one("occasion", schedule=schedule, table=table)
        home = self.metastore.catalog(catalog)
        watched, seen = self._find_watched(table, table_catalog or catalog)
        with self._database.reading() as connection:
            now = self._clock(connection)
        made = Automation(
            automation_id=uuid.uuid4().int >> 66,  # a positive BIGINT
            name=checked_name(name, "automation"),
            catalog_id=home.catalog_id,
            workbook_path=None if workbook_path is None else str(Path(workbook_path).absolute()),
            workbook_text=workbook_text,
            parameters=dict(parameters or {}),
            isolation=isolation and _parse_choice(Isolation, isolation, "isolation").value,
            schedule=schedule,
            time_zone=time_zone if schedule else None,
            watched=watched,
            overlap=_parse_choice(Overlap, overlap or _OVERLAPS[schedule is not None], "overlap"),
            catch_up=_parse_choice(CatchUp, catch_up, "catch-up"),
            is_enabled=True,
            created_at=now,
            next_due_at=Schedule.parse(schedule, time_zone).next_after(now) if schedule else None,
            seen_snapshot=seen,
        )
        _check_automation(made)
        check_workbook(made, home.name)
        if not are_installed(self._database):
            install_automations(self._database)
        insert_automation(self._database, made)
        return made

    def _find_watched(
        self, table: str | None, catalog_name: str
    ) -> tuple[Watched | None, SnapshotId | None]:
        """Return the table of a name, and the snapshot after which its changes count."""
        if table is None:
            return None, None
        schema, _, name = table.rpartition(".")
        catalog = self.metastore.catalog(catalog_name)
        seen = catalog.now()
        found = seen.state.table(name, schema or "main")
        return Watched(catalog.catalog_id, schema or "main", found.table_name), seen.snapshot_id

    def remove(self, name: str) -> None:
        """Delete an automation and its history. A running firing continues to its end."""
        delete_automation(self._database, self.get(name).automation_id)

    def enable(self, name: str) -> Automation:
        """Enable an automation. What was due while it was disabled is not run."""
        return self._switch(name, is_enabled=True)

    def disable(self, name: str) -> Automation:
        """Disable an automation: no new runs start. Waiting firings stay until it is enabled."""
        return self._switch(name, is_enabled=False)

    @retry(  # a runner may be recording due firings at the same time
        retry=retry_if_exception_type(Conflict),
        stop=stop_after_attempt(20),
        wait=wait_random(0, 0.1),
        reraise=True,
    )
    def _switch(self, name: str, *, is_enabled: bool) -> Automation:
        automation = self.get(name)
        if automation.is_enabled is is_enabled:
            return automation
        with self._database.writing() as connection:
            now = self._clock(connection)
            head = automation.watched and find_head(connection, automation.watched.catalog_id)
            is_first = revise(
                connection,
                automation,
                is_enabled=is_enabled,
                next_due_at=_next_due(automation, now),
                seen_snapshot=head.snapshot_id if head else automation.seen_snapshot,
            )
            connection.commit()
        if not is_first:
            raise Conflict(f"Automation '{name}' was changed concurrently.", remedy="Try again.")
        return self.get(name)

    def fire(self, name: str) -> Firing:
        """Make an automation due now, independent of its schedule or table."""
        automation = self.get(name)
        with self._database.writing() as connection:
            now = self._clock(connection)
            occasion = f"by hand {name_occasion(now)} {uuid.uuid4().hex[:8]}"
            fired = Firing(automation.automation_id, occasion, None, State.WAITING, now)
            connection.commit([firings_insert([fired])])
        return fired


def _next_due(automation: Automation, now: datetime) -> datetime | None:
    return parse_schedule(automation).next_after(now) if automation.schedule else None


def _check_automation(made: Automation) -> None:
    if (made.overlap, made.catch_up) == (Overlap.SKIP, CatchUp.ALL):
        raise InvalidInput(
            f"Automation '{made.name}' cannot combine the overlap 'skip' with the catch-up 'all'.",
            remedy="Use the overlap 'queue', or the catch-up 'latest'.",
        )


def _parse_choice(kind: type[E], text: str, what: str) -> E:
    allowed = [one.value for one in kind]
    if text not in allowed:
        raise InvalidInput(
            f"The {what} {text!r} does not exist.", remedy=f"Use one of: {', '.join(allowed)}."
        )
    return kind(text)


def _require_one(what: str, **given: object) -> None:
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise InvalidInput(
            f"An automation needs exactly one {what}: {' or '.join(given)}.",
            remedy=f"Pass one of them; {len(chosen)} were given.",
        )
