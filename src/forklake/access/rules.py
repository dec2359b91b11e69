"""Derivation of rights from grants, as pure functions.

A fork never widens rights: grants on a fork count only while their holder may also read every live
ancestor of it.
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
    """Return the rights of a caller on a catalog.

    Args:
        chain: the catalog and its live ancestors, with the grants of the caller on each.
    """
    if caller.is_root:
        return narrowed(caller, catalog_id, EVERYTHING)
    rights = {link.catalog_id: granted_rights(link, prefixes) for link in chain}
    if not all(Right.READ in found for found in rights.values()):
        return NOTHING
    return narrowed(caller, catalog_id, rights.get(catalog_id, NOTHING))


def granted_rights(link: Link, prefixes: Iterable[PrefixGrant]) -> frozenset[Right]:
    """Return the rights granted on one catalog, directly or through a prefix of its name."""
    roles = [Role(grant.role) for grant in prefixes if link.name.startswith(grant.prefix)]
    if link.role is not None:
        roles.append(Role(link.role))
    return NOTHING.union(*(ROLES[role] for role in roles))


def narrowed(caller: Caller, catalog_id: CatalogId, rights: frozenset[Right]) -> frozenset[Right]:
    """Return the rights that remain after the restriction by the token of the caller, if any."""
    if caller.bound is None:
        return rights
    return rights & caller.bound.rights if caller.bound.catalog_id == catalog_id else NOTHING


def may_make(caller: Caller, name: str, prefixes: Iterable[PrefixGrant]) -> bool:
    """Return whether a caller may create a catalog with a name."""
    return caller.is_free or any(
        may_make_under(grant) and name.startswith(grant.prefix) for grant in prefixes
    )


def may_make_under(grant: PrefixGrant) -> bool:
    """Return whether a grant allows creating catalogs whose names begin with its prefix."""
    return Right.ADMINISTER in ROLES[Role(grant.role)]
