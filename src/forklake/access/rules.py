"""The rules: which rights follow from which grants. Plain functions over values.

A fork never widens rights: on a catalog that was forked counts what was granted on it only while
its holder may also read every live catalog that it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forklake.access.callers import Caller
from forklake.access.roles import EVERYTHING, NOTHING, ROLES, Right, Role
from forklake.model.ids import CatalogId
from forklake.store.access_grants import Link, PrefixGrant


def effective_rights(
    caller: Caller,
    catalog_id: CatalogId,
    chain: Sequence[Link],
    prefixes: Sequence[PrefixGrant],
) -> frozenset[Right]:
    """The rights of a caller on the catalog at whose end the chain is."""
    if caller.is_root:
        return narrowed(caller, catalog_id, EVERYTHING)
    rights = {link.catalog_id: granted_rights(link, prefixes) for link in chain}
    if not all(Right.READ in found for found in rights.values()):
        return NOTHING
    return narrowed(caller, catalog_id, rights.get(catalog_id, NOTHING))


def granted_rights(link: Link, prefixes: Iterable[PrefixGrant]) -> frozenset[Right]:
    """The rights that were granted on one catalog, by itself or by its name."""
    roles = [Role(grant.role) for grant in prefixes if link.name.startswith(grant.prefix)]
    if link.role is not None:
        roles.append(Role(link.role))
    return NOTHING.union(*(ROLES[role] for role in roles))


def narrowed(caller: Caller, catalog_id: CatalogId, rights: frozenset[Right]) -> frozenset[Right]:
    """What is left of rights for a caller that came with a token."""
    if caller.bound is None:
        return rights
    return rights & caller.bound.rights if caller.bound.catalog_id == catalog_id else NOTHING


def may_make(caller: Caller, name: str, prefixes: Iterable[PrefixGrant]) -> bool:
    """Whether a caller may make a catalog of a name."""
    return caller.is_free or any(
        may_make_under(grant) and name.startswith(grant.prefix) for grant in prefixes
    )


def may_make_under(grant: PrefixGrant) -> bool:
    """Return whether the holder of a grant may make catalogs whose names begin with its prefix."""
    return Right.ADMINISTER in ROLES[Role(grant.role)]
