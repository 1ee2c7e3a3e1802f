"""Encrypted secrets of callers in a database."""

import time
from collections.abc import Callable, Collection, Sequence

from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.call_entry import to_datetime
from sidecall.kernel.ports.secrets import SealedSecret, SecretListing, TooManySecrets, UnknownSecret
from sidecall.storage.database import Database, Row

_Key = tuple[str, str, str]


class MemorySecrets:
    """Keep up to `most` secrets; they are lost when the process ends."""

    # No method awaits, so each is atomic on the event loop.

    def __init__(self, most: int = 10_000, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._secrets: dict[_Key, tuple[SealedSecret, float, float]] = {}

    async def put(self, secret: SealedSecret) -> None:
        """Store a secret, replacing the one of the same caller and name.

        Raises:
            TooManySecrets: There is no room for it.
        """
        key, now = _key_of(secret), self._clock()
        if key not in self._secrets and len(self._secrets) >= self._most:
            raise TooManySecrets
        created = self._secrets[key][1] if key in self._secrets else now
        self._secrets[key] = (secret, created, now)

    async def remove(self, caller: Caller, name: str) -> None:
        """Remove a secret.

        Raises:
            UnknownSecret: The caller has none of this name.
        """
        if self._secrets.pop((caller.tenant, caller.subject, name), None) is None:
            raise UnknownSecret

    async def list(self, caller: Caller) -> Sequence[SecretListing]:
        """List a caller's secrets by their names."""
        whose = (caller.tenant, caller.subject)
        return [
            SecretListing(name=key[2], created_at=to_datetime(created), updated_at=to_datetime(updated))
            for key, (_, created, updated) in sorted(self._secrets.items(), key=lambda item: item[0])
            if key[:2] == whose
        ]

    async def find(self, caller: Caller, names: Collection[str]) -> Sequence[SealedSecret]:
        """Find those of a caller that have one of these names."""
        keys = [(caller.tenant, caller.subject, name) for name in dict.fromkeys(names)]
        return [self._secrets[key][0] for key in keys if key in self._secrets]

    async def list_old(self, key_id: str, limit: int = 100) -> Sequence[SealedSecret]:
        """List some that were encrypted with other keys than this one."""
        return [secret for secret, _, _ in self._secrets.values() if secret.key_id != key_id][:limit]

    async def renew(self, old: SealedSecret, new: SealedSecret) -> None:
        """Replace a secret, unless it has been replaced meanwhile."""
        known = self._secrets.get(_key_of(old))
        if known is not None and known[0] == old:
            self._secrets[_key_of(old)] = (new, *known[1:])


def _key_of(secret: SealedSecret) -> _Key:
    return secret.tenant, secret.caller, secret.name


class SqlSecrets:
    """Keep up to `most` secrets."""

    def __init__(self, database: Database, most: int = 10_000, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._most = most
        self._clock = clock

    async def put(self, secret: SealedSecret) -> None:
        """Store a secret, replacing the one of the same caller and name.

        Raises:
            TooManySecrets: There is no room for it.
        """
        values = (secret.name, secret.tenant, secret.caller, secret.key_id, secret.sealed, self._clock(), self._most)
        if await self._database.write("put_secret", *values) is None:
            raise TooManySecrets

    async def remove(self, caller: Caller, name: str) -> None:
        """Remove a secret.

        Raises:
            UnknownSecret: The caller has none of this name.
        """
        if await self._database.write("remove_secret", name, caller.tenant, caller.subject) is None:
            raise UnknownSecret

    async def list(self, caller: Caller) -> Sequence[SecretListing]:
        """List a caller's secrets by their names."""
        rows = await self._database.read("list_secrets", caller.tenant, caller.subject)
        return [
            SecretListing(name=name, created_at=to_datetime(created), updated_at=to_datetime(updated))
            for name, created, updated in rows
        ]

    async def find(self, caller: Caller, names: Collection[str]) -> Sequence[SealedSecret]:
        """Find those of a caller that have one of these names."""
        chosen = list(dict.fromkeys(names))
        places = ", ".join(f"${number}" for number in range(3, 3 + len(chosen)))
        where = f"WHERE tenant = $1 AND caller = $2 AND name IN ({places})"
        rows = await self._database.read("find_secrets", caller.tenant, caller.subject, *chosen, where=where)
        return list(map(_to_secret, rows))

    async def list_old(self, key_id: str, limit: int = 100) -> Sequence[SealedSecret]:
        """List some that were encrypted with other keys than this one."""
        rows = await self._database.read("list_old_secrets", key_id, limit)
        return list(map(_to_secret, rows))

    async def renew(self, old: SealedSecret, new: SealedSecret) -> None:
        """Replace a secret, unless it has been replaced meanwhile."""
        whose = (old.name, old.tenant, old.caller)
        await self._database.write("renew_secret", *whose, new.key_id, new.sealed, old.sealed)


def _to_secret(row: Row) -> SealedSecret:
    tenant, caller, name, key_id, sealed = row
    return SealedSecret(tenant, caller, name, key_id, bytes(sealed))
