"""Time to live of catalogs, and the dropping of expired catalogs.

An expired catalog stays usable until it is dropped: its clients are not interrupted, and its time
to live can still be extended.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.store import provisioning

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

# Catalogs dropped per transaction; with more, commits to one of them would wait too long.
_BATCH = 1000
_LONGEST = timedelta(days=36_500)


def expiry_of(ttl: timedelta | None) -> datetime | None:
    """Return when a time to live that begins now ends; None for no limit."""
    if ttl is None:
        return None
    if not timedelta(0) < ttl <= _LONGEST:
        raise InvalidInput(
            f"The time to live {ttl} is not valid.",
            remedy="Use a time above zero and of at most a hundred years, or none.",
        )
    return datetime.now(UTC) + ttl


def drop_expired(metastore: Metastore, limit: int, now: datetime | None) -> list[str]:
    """Drop up to `limit` expired catalogs; return their names."""
    if limit < 1:
        raise InvalidInput(
            f"{limit} catalogs cannot be dropped.", remedy="Use a limit of 1 or more."
        )
    moment = now or datetime.now(UTC)
    if moment.tzinfo is None:
        raise InvalidInput(f"The time {moment} has no time zone.", remedy="Add a time zone.")
    names: list[str] = []
    while len(names) < limit:
        batch = min(_BATCH, limit - len(names))
        dropped = provisioning.drop_expired(metastore.database, moment, batch)
        names += [row.catalog_name for row in dropped]
        if not dropped:
            break
    return names
