"""Directory of principals, their keys, and the keys that sign tokens. Managed by roots."""

from __future__ import annotations

from collections.abc import Sequence

from forklake.access.authorization import Checking
from forklake.access.callers import Caller
from forklake.access.credentials import new_key, new_signing_secret
from forklake.access.identities import as_caller
from forklake.access.roles import Role
from forklake.access.signing_keys import stored_secret
from forklake.errors import InvalidInput, NotFound, QuotaExceeded
from forklake.model.names import checked_name
from forklake.store import access as store
from forklake.store import access_keys
from forklake.store.access import Principal
from forklake.store.access_grants import PrefixGrant, write_prefix_grant
from forklake.store.access_keys import KeyRow
from forklake.store.audit import Deed, Outcome

_MOST_KEYS = 100  # active keys per principal


class Directory(Checking):
    """Management of principals, keys and signing keys."""

    def principals(self, caller: Caller) -> list[Principal]:
        """Return all principals, sorted by name."""
        self.require(caller, "principal.list")
        with self._home.required().reading() as connection:
            return store.list_principals(connection)

    def principal(self, name: str) -> Principal:
        """Return the principal with a name; raise NotFound if there is none."""
        database = self._home.required()
        found = None
        if name.isprintable():  # other names are never valid, and not every database accepts them
            with database.reading() as connection:
                found = store.find_principal(connection, name)
        if found is None:
            raise store.unknown_principal(name)
        return found

    def create_principal(
        self,
        caller: Caller,
        name: str,
        account: str = "default",
        *,
        is_root: bool = False,
        prefixes: Sequence[str] = (),
    ) -> Principal:
        """Create a principal. It may create catalogs under the prefixes, and owns those."""
        self.require(caller, "principal.create")
        checked = [checked_prefix(prefix) for prefix in prefixes]
        wanted = _checked_principal_name(name), checked_name(account, "account")
        with self.audited(caller, "principal.create", name):
            made = store.insert_principal(
                self._home.required(), *wanted, is_root=is_root, now=self._now()
            )
            for prefix in checked:
                grant = PrefixGrant(prefix, Role.OWNER)
                write_prefix_grant(self._here.required(), made.principal_id, grant, None)
        self._has_rules = True
        return made

    def disable(self, caller: Caller, name: str) -> None:
        """Disable a principal: its keys and tokens become invalid."""
        self.require(caller, "principal.disable")
        found = self.principal(name)
        with self.audited(caller, "principal.disable", name):
            store.disable_principal(self._home.required(), found.principal_id, self._now())
            self._memory.clear()

    def acting_as(self, caller: Caller, name: str) -> Caller:
        """Return a principal as a caller without its key, for roots that act on its behalf."""
        self.require(caller, "principal.act")
        found = self.principal(name)
        if found.is_disabled:
            raise _disabled(name)
        self._note(caller, Deed("principal.act", name), Outcome.DONE)
        return as_caller(found)

    def create_key(self, caller: Caller, name: str) -> tuple[str, str]:
        """Create a key of a principal; return its id and the key, which is not shown again."""
        self.require(caller, "key.create", principal=name)
        found = self.principal(name)
        if found.is_disabled:
            raise _disabled(name)
        with self._home.required().reading() as connection:
            known = access_keys.list_keys(connection, found.principal_id)
        if sum(not one.is_revoked for one in known) >= _MOST_KEYS:
            raise QuotaExceeded(
                f"The principal '{name}' has {_MOST_KEYS} active keys, which is the maximum.",
                remedy=f"Revoke keys that are not used: forklake access key revoke {name} ID.",
            )
        key = new_key()
        with self.audited(caller, "key.create", f"{name}/{key.key_id}"):
            access_keys.insert_key(
                self._home.required(), key.key_id, found.principal_id, key.secret_hash, self._now()
            )
        return key.key_id, key.text

    def keys(self, caller: Caller, name: str) -> list[KeyRow]:
        """Return the keys of a principal, oldest first."""
        self.require(caller, "key.list", principal=name)
        found = self.principal(name)
        with self._home.required().reading() as connection:
            return access_keys.list_keys(connection, found.principal_id)

    def revoke_key(self, caller: Caller, name: str, key_id: str) -> None:
        """Revoke a key of a principal."""
        self.require(caller, "key.revoke", principal=name)
        found = self.principal(name)
        with self.audited(caller, "key.revoke", f"{name}/{key_id}"):
            is_revoked = key_id.isprintable() and access_keys.revoke_key(
                self._home.required(), key_id, found.principal_id, self._now()
            )
            self._memory.clear()
            if not is_revoked:
                raise NotFound(
                    f"The principal '{name}' has no active key {key_id!r}.",
                    remedy=f"List its keys: forklake access key list {name}.",
                )

    def rotate_signing_key(self, caller: Caller) -> None:
        """Sign tokens with a new key. Tokens of the previous key stay valid, older ones do not."""
        self.require(caller, "signing.rotate")
        with self.audited(caller, "signing.rotate", "metastore"):
            stored = stored_secret(new_signing_secret())
            access_keys.add_signing_key(self._home.required(), stored, self._now())
            self._memory.clear()


def _disabled(name: str) -> InvalidInput:
    return InvalidInput(
        f"The principal '{name}' is disabled.", remedy="Use or create another principal."
    )


def _checked_principal_name(name: str) -> str:
    checked = checked_name(name, "principal")
    if "/" in checked:  # the name is part of URLs
        raise InvalidInput(
            f"The principal name {checked!r} contains a slash.", remedy="Choose another name."
        )
    return checked


def checked_prefix(prefix: str) -> str:
    """Return a valid prefix of catalog names; the empty prefix covers all catalogs."""
    return checked_name(prefix, "prefix") if prefix else ""
