"""Time to live: until when catalogs are kept, and the dropping of those whose time is over.

A catalog whose time is over stays as it is until it is dropped: whoever works in it is not cut off
in the middle, and a lease that is prolonged before that is as good as any.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.store import provisioning

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

# Dropped in one transaction; more would make those wait who work in one of them.
_BATCH = 1000
_LONGEST = timedelta(days=36_500)


def expiry_of(ttl: timedelta | None) -> datetime | None:
    """The moment at which a time to live that begins now is over."""
    if ttl is None:
        return None
    if not timedelta(0) < ttl <= _LONGEST:
        raise InvalidInput(
            f"A catalog cannot live for {ttl}.",
            remedy="Give a time above zero and of at most a hundred years, or none.",
        )
    return datetime.now(UTC) + ttl


def drop_expired(metastore: Metastore, limit: int, now: datetime | None) -> list[str]:
    """Drop up to `limit` catalogs whose time is over; their names."""
    if limit < 1:
        raise InvalidInput(f"{limit} catalogs cannot be dropped.", remedy="Use 1 or more.")
    moment = now or datetime.now(UTC)
    if moment.tzinfo is None:
        raise InvalidInput(f"The moment {moment} has no time zone.", remedy="Add one.")
    names: list[str] = []
    while len(names) < limit:
        batch = min(_BATCH, limit - len(names))
        dropped = provisioning.drop_expired(metastore.database, moment, batch)
        names += [row.catalog_name for row in dropped]
        if not dropped:
            break
    return names
